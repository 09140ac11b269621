//! What a server tells of its settings, without the secrets among them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    format::{count, number},
    secrets,
};

/// SGLang's `/model_info` and `/server_info`, whole but for secrets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerDetails {
    /// Of the model.
    pub model_info: Map<String, Value>,
    /// Of the server.
    pub server_info: Map<String, Value>,
}

/// What decides how fast a server is, and where it says so; the first place that tells something counts.
const TELLING: [(&str, &[&str]); 17] = [
    ("Version", &["/version"]),
    ("Model", &["/model_path"]),
    ("Weights", &["/weight_version"]),
    ("Quantization", &["/quantization"]),
    ("KV cache type", &["/kv_cache_dtype"]),
    ("Tensor parallel", &["/tp_size"]),
    ("Data parallel", &["/dp_size"]),
    (
        "Requests at a time",
        &[
            "/internal_states/0/effective_max_running_requests_per_dp",
            "/max_running_requests",
        ],
    ),
    (
        "Room for tokens",
        &[
            "/internal_states/0/memory_usage/token_capacity",
            "/max_total_num_tokens",
        ],
    ),
    ("Prefill chunk", &["/chunked_prefill_size"]),
    ("Scheduling", &["/schedule_policy"]),
    ("Prefix cache off", &["/disable_radix_cache"]),
    ("Attention", &["/attention_backend"]),
    ("Speculative decoding", &["/speculative_algorithm"]),
    ("Tokens per event", &["/stream_interval"]),
    ("Reasoning parser", &["/reasoning_parser"]),
    ("Prefill and decode apart", &["/disaggregation_mode"]),
];

impl ServerDetails {
    /// Of what the server answered; `None` if it answered nothing of the kind.
    pub fn new(model_info: Option<Value>, server_info: Option<Value>) -> Option<Self> {
        let map = |told| match told {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let mut details = Self {
            model_info: map(model_info),
            server_info: map(server_info),
        };
        for map in [&mut details.model_info, &mut details.server_info] {
            // SGLang's own notes to itself, not settings.
            map.retain(|name, _| !name.starts_with('_'));
        }
        details.hide_secrets();
        (!details.model_info.is_empty() || !details.server_info.is_empty()).then_some(details)
    }

    /// Hides what looks secret: values of keys that say so, keys of a well-known shape, flags of a command line.
    pub(super) fn hide_secrets(&mut self) {
        for map in [&mut self.model_info, &mut self.server_info] {
            secrets::mask_map(map);
            map.values_mut().for_each(hide_in_texts);
        }
    }

    /// What decides how fast the server is: `(what, how)`.
    pub fn telling(&self) -> Vec<(&'static str, String)> {
        let [model, server] = [&self.model_info, &self.server_info].map(|map| Value::Object(map.clone()));
        TELLING
            .iter()
            .filter_map(|(what, places)| {
                let mut told = places
                    .iter()
                    .flat_map(|place| [server.pointer(place), model.pointer(place)])
                    .flatten();
                Some((*what, told.find_map(words)?))
            })
            .collect()
    }

    /// Every setting that is a single value: `(key, value)`, by key.
    pub fn all(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = self
            .model_info
            .iter()
            .chain(&self.server_info)
            .filter(|(_, value)| !value.is_object() && !value.is_array() && !value.is_null())
            .map(|(key, value)| match value {
                Value::String(text) => (key.clone(), text.clone()),
                other => (key.clone(), other.to_string()),
            })
            .collect();
        all.sort();
        all.dedup();
        all
    }
}

/// A value that says something: `null`, `false`, `none` and nothing say nothing.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Number(n) => Some(n.as_u64().map_or_else(|| number(n.as_f64()), count)),
        Value::String(text) if !matches!(text.as_str(), "" | "null" | "none" | "None") => Some(text.clone()),
        _ => None,
    }
}

fn hide_in_texts(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Ok(Value::Object(mut map)) = serde_json::from_str(text) {
                if secrets::mask_map(&mut map) {
                    *text = Value::Object(map).to_string();
                }
            } else if let Some(clean) = secrets::text_without_secrets(text) {
                *text = clean;
            }
        }
        Value::Array(items) => {
            // An argument list: the value of a flag is the item after it.
            for i in 1..items.len() {
                let (before, rest) = items.split_at_mut(i);
                if let (Some(Value::String(flag)), Value::String(text)) = (before.last(), &mut rest[0])
                    && secrets::is_secret_flag(flag)
                {
                    *text = secrets::HIDDEN.to_owned();
                }
            }
            items.iter_mut().for_each(hide_in_texts);
        }
        Value::Object(map) => map.values_mut().for_each(hide_in_texts),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(server_info: Value) -> ServerDetails {
        ServerDetails::new(None, Some(server_info)).expect("details")
    }

    #[test]
    fn secrets_are_nowhere_in_them() {
        let details = of(json!({
            "api_key": "hunter2", "admin_api_key": "hunter2", "ssl_keyfile_password": "hunter2",
            "launch_command": "HF_TOKEN=hunter2 python -m sglang.launch_server --api-key hunter2 --port 30000 --admin-api-key='hunter2' --tokenizer-path t",
            "argv": ["--api-key", "hunter2", "--model", "m"],
            "model_loader_extra_config": "{\"token\":\"hf_hunter2hunter2hunter2hunter2\"}",
            "mirror": "https://me:hunter2@mirror.example/x",
            "internal_states": [{"secret": "hunter2", "note": "Bearer hunter2"}],
            "max_total_num_tokens": 1000, "tokenizer_path": "t",
        }));
        let text = serde_json::to_string(&details).expect("JSON");
        assert!(!text.contains("hunter2"), "{text}");
        for kept in [
            "--port 30000",
            "--tokenizer-path t",
            "--model",
            "mirror.example",
            "1000",
        ] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
    }

    #[test]
    fn what_tells_nothing_is_left_out() {
        let details = ServerDetails::new(
            Some(json!({"model_path": "org/m", "weight_version": "default", "reasoning_parser": null})),
            Some(json!({
                "version": "0.5.23", "model_path": "org/m", "tp_size": 2, "disable_radix_cache": false, "speculative_algorithm": null,
                "disaggregation_mode": "null", "max_running_requests": 48, "max_total_num_tokens": 400_000,
                "internal_states": [{"effective_max_running_requests_per_dp": 24, "memory_usage": {"token_capacity": 123_456}}],
            })),
        )
        .expect("details");
        let told: Vec<String> = details
            .telling()
            .into_iter()
            .map(|(what, how)| format!("{what}: {how}"))
            .collect();
        assert_eq!(
            told,
            [
                "Version: 0.5.23",
                "Model: org/m",
                "Weights: default",
                "Tensor parallel: 2",
                "Requests at a time: 24",
                "Room for tokens: 123,456"
            ]
        );
        let all = details.all();
        assert!(all.contains(&("tp_size".to_owned(), "2".to_owned())));
        assert_eq!(all.iter().filter(|(key, _)| key == "model_path").count(), 1);
    }

    #[test]
    fn no_answer_is_no_details() {
        assert_eq!(ServerDetails::new(None, None), None);
        assert_eq!(ServerDetails::new(Some(json!([1])), Some(json!("text"))), None);
    }
}
