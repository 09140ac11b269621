//! What a request asks: its JSON body.

use serde_json::{Map, Value, json};

use super::concede::{Concessions, UsageAsk};
use crate::config::{Api, RunConfig, TokenLimit};

/// A prompt in one of the forms an API can take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prompt<'a> {
    /// Plain text; one user message for the chat API.
    Text(&'a str),
    /// Token ids, for the completions and the native API.
    TokenIds(&'a [u32]),
    /// Chat messages, for the chat API.
    Messages(&'a [Value]),
}

/// The API cannot take this form of prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptKindError {
    /// The API.
    pub api: Api,
    /// The form, in words.
    pub form: &'static str,
}

impl std::fmt::Display for PromptKindError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} takes no {} as a prompt", super::api_path(self.api), self.form)
    }
}

impl std::error::Error for PromptKindError {}

/// The body of one request.
///
/// As SGLang's own benchmark client builds it (temperature 0, `ignore_eos`, `max_completion_tokens` for chat and
/// `max_tokens` for completions, if the configuration does not choose), but with `stream_options`, without which nobody knows how many tokens came.
/// `extra_body`, and after it `item_extra` (the keys that a file brings for this one request), are merged last in the manner of a JSON merge patch (RFC 7396): `null` removes a key, objects are merged key by key.
pub fn request_body(
    config: &RunConfig,
    prompt: Prompt<'_>,
    output_tokens: u32,
    item_extra: &Map<String, Value>,
    conceded: Concessions,
) -> Result<Value, PromptKindError> {
    let refused = |form| PromptKindError { api: config.api, form };
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    if config.api != Api::Generate && !config.model.is_empty() {
        put("model", config.model.as_str().into());
    }
    match (config.api, prompt) {
        (Api::Chat, Prompt::Text(text)) => put("messages", json!([{"role": "user", "content": text}])),
        (Api::Chat, Prompt::Messages(messages)) => put("messages", messages.into()),
        (Api::Completions, Prompt::Text(text)) => put("prompt", text.into()),
        (Api::Completions, Prompt::TokenIds(ids)) => put("prompt", ids.into()),
        (Api::Generate, Prompt::Text(text)) => put("text", text.into()),
        (Api::Generate, Prompt::TokenIds(ids)) => put("input_ids", ids.into()),
        (_, Prompt::TokenIds(_)) => return Err(refused("token ids")),
        (_, Prompt::Messages(_)) => return Err(refused("messages")),
    };
    match config.api {
        Api::Chat | Api::Completions => put(limit_key(config, conceded), output_tokens.into()),
        Api::Generate => put(
            "sampling_params",
            json!({"temperature": 0, "max_new_tokens": output_tokens, "ignore_eos": config.ignore_eos}),
        ),
    };
    put("stream", config.stream.into());
    if config.api != Api::Generate {
        put("temperature", 0.into());
        // Servers that do not know the key refuse the request (transformers serve), so it is sent only where it says something.
        if config.ignore_eos {
            put("ignore_eos", true.into());
        }
        // OpenAI refuses `stream_options` beside `stream: false`.
        match conceded.usage {
            _ if !config.stream => None,
            UsageAsk::Continuous => put(
                "stream_options",
                json!({"include_usage": true, "continuous_usage_stats": true}),
            ),
            UsageAsk::Final => put("stream_options", json!({"include_usage": true})),
            UsageAsk::Nothing => None,
        };
    }
    merge(&mut body, &config.extra_body);
    merge(&mut body, item_extra);
    Ok(Value::Object(body))
}

/// The key of the limit on the OpenAI routes.
fn limit_key(config: &RunConfig, conceded: Concessions) -> &'static str {
    match (config.token_limit, config.api) {
        (TokenLimit::MaxTokens, _) => "max_tokens",
        (TokenLimit::MaxCompletionTokens, _) => "max_completion_tokens",
        (TokenLimit::Auto, Api::Chat) if !conceded.old_limit => "max_completion_tokens",
        (TokenLimit::Auto, _) => "max_tokens",
    }
}

fn merge(body: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, value) in patch {
        match (body.get_mut(key), value) {
            (_, Value::Null) => {
                body.remove(key);
            }
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body with the configuration's own length and nothing from a file.
    fn body_of(config: &RunConfig, prompt: Prompt<'_>, conceded: Concessions) -> Result<Value, PromptKindError> {
        super::request_body(config, prompt, config.output_tokens, &Map::new(), conceded)
    }

    fn config(api: Api, extra: Value) -> RunConfig {
        let Value::Object(extra_body) = extra else {
            panic!("an object")
        };
        RunConfig {
            api,
            model: "m".to_owned(),
            output_tokens: 8,
            extra_body,
            ..RunConfig::default()
        }
    }

    #[test]
    fn a_chat_body_asks_for_counts_with_every_frame() {
        let body = body_of(
            &config(Api::Chat, json!({})),
            Prompt::Text("hi"),
            Concessions::default(),
        )
        .unwrap();
        assert_eq!(
            body,
            json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "max_completion_tokens": 8, "temperature": 0,
                "ignore_eos": true, "stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true}})
        );
    }

    #[test]
    fn stream_options_are_those_that_were_not_given_up() {
        let config = config(Api::Completions, json!({}));
        let options = |usage| {
            let conceded = Concessions {
                usage,
                ..Concessions::default()
            };
            body_of(&config, Prompt::Text("hi"), conceded)
                .unwrap()
                .get("stream_options")
                .cloned()
        };
        assert_eq!(options(UsageAsk::Final), Some(json!({"include_usage": true})));
        assert_eq!(options(UsageAsk::Nothing), None);
    }

    #[test]
    fn the_limit_goes_by_the_name_that_was_chosen_or_that_the_server_knows() {
        let keys = |api, token_limit, old_limit| {
            let config = RunConfig {
                token_limit,
                ..config(api, json!({}))
            };
            let conceded = Concessions {
                old_limit,
                ..Concessions::default()
            };
            let body = body_of(&config, Prompt::Text("hi"), conceded).unwrap();
            (body["max_tokens"].as_u64(), body["max_completion_tokens"].as_u64())
        };
        let (old, new) = ((Some(8), None), (None, Some(8)));
        assert_eq!(keys(Api::Chat, TokenLimit::Auto, false), new);
        assert_eq!(keys(Api::Chat, TokenLimit::Auto, true), old);
        assert_eq!(keys(Api::Chat, TokenLimit::MaxTokens, false), old);
        assert_eq!(keys(Api::Completions, TokenLimit::Auto, false), old);
        assert_eq!(keys(Api::Completions, TokenLimit::MaxCompletionTokens, true), new);
    }

    #[test]
    fn no_stream_means_no_stream_options() {
        let config = RunConfig {
            stream: false,
            ..config(Api::Chat, json!({}))
        };
        let body = body_of(&config, Prompt::Text("hi"), Concessions::default()).unwrap();
        assert_eq!(
            (body.get("stream"), body.get("stream_options")),
            (Some(&json!(false)), None)
        );
    }

    #[test]
    fn the_native_body_takes_text_or_token_ids() {
        let config = config(Api::Generate, json!({"sampling_params": {"temperature": 0.5}}));
        let body = body_of(&config, Prompt::TokenIds(&[1, 2]), Concessions::default()).unwrap();
        assert_eq!(
            body,
            json!({"input_ids": [1, 2], "stream": true, "sampling_params": {"temperature": 0.5, "max_new_tokens": 8, "ignore_eos": true}})
        );
    }

    #[test]
    fn extra_keys_win_and_null_removes() {
        let extra =
            json!({"max_completion_tokens": null, "max_tokens": 9, "stream_options": {"continuous_usage_stats": null}});
        let body = body_of(&config(Api::Chat, extra), Prompt::Text("hi"), Concessions::default()).unwrap();
        assert_eq!(body.get("max_completion_tokens"), None);
        assert_eq!(body["max_tokens"], 9);
        assert_eq!(body["stream_options"], json!({"include_usage": true}));
    }

    #[test]
    fn keys_of_a_file_win_over_those_of_the_run() {
        let config = config(Api::Chat, json!({"top_p": 0.1, "seed": 4}));
        let Value::Object(extra) = json!({"top_p": 0.9, "temperature": null}) else {
            panic!("an object")
        };
        let body = request_body(&config, Prompt::Text("hi"), 3, &extra, Concessions::default()).unwrap();
        assert_eq!((&body["top_p"], &body["seed"]), (&json!(0.9), &json!(4)));
        assert_eq!(
            (body.get("temperature"), &body["max_completion_tokens"]),
            (None, &json!(3))
        );
    }

    #[test]
    fn a_prompt_of_the_wrong_form_is_refused() {
        let chat = body_of(
            &config(Api::Chat, json!({})),
            Prompt::TokenIds(&[1]),
            Concessions::default(),
        );
        assert_eq!(
            chat.unwrap_err().to_string(),
            "/v1/chat/completions takes no token ids as a prompt"
        );
        assert!(
            body_of(
                &config(Api::Generate, json!({})),
                Prompt::Messages(&[]),
                Concessions::default()
            )
            .is_err()
        );
    }
}
