//! What is sent: URLs and bodies, as SGLang's own client builds them where there is no better reason.

use serde_json::{Map, Value, json};

use crate::config::{Api, RunConfig};

/// How much is asked of a server's `stream_options`. A server that refuses it is asked for less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamOptions {
    /// Usage at the end and with every chunk: token counts per chunk.
    #[default]
    Continuous,
    /// Usage at the end.
    AtEnd,
    /// None sent: token counts are estimates unless the server gives them unasked.
    None,
}

impl StreamOptions {
    /// The next smaller demand, if there is one.
    pub fn less(self) -> Option<Self> {
        match self {
            Self::Continuous => Some(Self::AtEnd),
            Self::AtEnd => Some(Self::None),
            Self::None => None,
        }
    }

    /// What is asked, in words that end the sentence "they were …".
    pub fn words(self) -> &'static str {
        match self {
            Self::Continuous => "include_usage and continuous_usage_stats",
            Self::AtEnd => "include_usage alone",
            Self::None => "left out, so token counts are estimates where the server gives none",
        }
    }

    fn json(self) -> Option<Value> {
        match self {
            Self::Continuous => Some(json!({"include_usage": true, "continuous_usage_stats": true})),
            Self::AtEnd => Some(json!({"include_usage": true})),
            Self::None => None,
        }
    }
}

/// The URL of an API below a base URL, which may end with `/v1`, a slash, or the API's own path.
pub fn request_url(base_url: &str, api: Api) -> String {
    let root = root(base_url);
    match api {
        Api::Chat => format!("{root}/v1/chat/completions"),
        Api::Completions => format!("{root}/v1/completions"),
        Api::Generate => format!("{root}/generate"),
    }
}

/// The URL of the list of models.
pub fn models_url(base_url: &str) -> String {
    format!("{}/v1/models", root(base_url))
}

/// A base URL without what people paste along.
pub fn root(base_url: &str) -> &str {
    let mut root = base_url.trim().trim_end_matches('/');
    for path in ["/chat/completions", "/completions", "/models", "/generate"] {
        root = root.strip_suffix(path).unwrap_or(root);
    }
    root.strip_suffix("/v1").unwrap_or(root).trim_end_matches('/')
}

/// The body of one request. Keys of `extra_body` come last and win; a `null` there removes the key.
pub fn request_body(config: &RunConfig, prompt: &str, options: StreamOptions) -> String {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        body.insert(key.to_owned(), value);
    };
    if config.api == Api::Generate {
        put("text", prompt.into());
        put(
            "sampling_params",
            json!({"temperature": 0, "max_new_tokens": config.output_tokens, "ignore_eos": config.ignore_eos}),
        );
        put("stream", config.stream.into());
    } else {
        put("model", config.model.as_str().into());
        if config.api == Api::Chat {
            put("messages", json!([{"role": "user", "content": prompt}]));
            put("max_completion_tokens", config.output_tokens.into());
        } else {
            put("prompt", prompt.into());
            put("max_tokens", config.output_tokens.into());
        }
        put("temperature", 0.into());
        put("stream", config.stream.into());
        if let Some(options) = options.json().filter(|_| config.stream) {
            put("stream_options", options);
        }
        if config.ignore_eos {
            put("ignore_eos", true.into());
        }
    }
    for (key, value) in &config.extra_body {
        if value.is_null() {
            body.remove(key);
        } else {
            body.insert(key.clone(), value.clone());
        }
    }
    Value::Object(body).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_may_end_as_people_paste_it() {
        for base in [
            "http://h:1",
            "http://h:1/",
            "http://h:1/v1",
            "http://h:1/v1/",
            "http://h:1/v1/chat/completions",
            "http://h:1/v1/models",
        ] {
            assert_eq!(request_url(base, Api::Chat), "http://h:1/v1/chat/completions", "{base}");
            assert_eq!(request_url(base, Api::Generate), "http://h:1/generate", "{base}");
        }
        assert_eq!(
            request_url("https://h/proxy/v1", Api::Completions),
            "https://h/proxy/v1/completions"
        );
    }

    fn body(config: &RunConfig, options: StreamOptions) -> Value {
        serde_json::from_str(&request_body(config, "hello", options)).expect("JSON")
    }

    #[test]
    fn each_api_gets_its_own_body() {
        let config = |api| RunConfig {
            api,
            model: "m".into(),
            output_tokens: 9,
            ..RunConfig::default()
        };
        let chat = body(&config(Api::Chat), StreamOptions::Continuous);
        assert_eq!(chat["messages"][0]["content"], "hello");
        assert_eq!(
            (
                &chat["max_completion_tokens"],
                &chat["stream_options"]["continuous_usage_stats"]
            ),
            (&json!(9), &json!(true))
        );
        let completions = body(&config(Api::Completions), StreamOptions::AtEnd);
        assert_eq!(
            (&completions["prompt"], &completions["max_tokens"]),
            (&json!("hello"), &json!(9))
        );
        assert_eq!(completions["stream_options"], json!({"include_usage": true}));
        let native = body(&config(Api::Generate), StreamOptions::Continuous);
        assert_eq!(
            (&native["text"], &native["sampling_params"]["max_new_tokens"]),
            (&json!("hello"), &json!(9))
        );
        assert!(native.get("stream_options").is_none() && native.get("model").is_none());
    }

    #[test]
    fn extra_keys_win_and_null_removes() {
        let mut config = RunConfig::default();
        config.extra_body.insert("temperature".into(), json!(0.7));
        config.extra_body.insert("ignore_eos".into(), Value::Null);
        let body = body(&config, StreamOptions::None);
        assert_eq!(body["temperature"], json!(0.7));
        assert!(body.get("ignore_eos").is_none() && body.get("stream_options").is_none());
    }

    #[test]
    fn what_is_not_streamed_asks_for_no_stream_options() {
        let body = body(
            &RunConfig {
                stream: false,
                ..RunConfig::default()
            },
            StreamOptions::Continuous,
        );
        assert!(body.get("stream_options").is_none());
    }
}
