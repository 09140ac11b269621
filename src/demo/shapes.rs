//! Bytes in the shapes of SGLang's server.

use serde_json::{Value, json};

use super::{Ask, FaultKind};
use crate::config::Api;

/// When every response says it was made: the demo has no use for it.
const CREATED: u32 = 1_700_000_000;

/// One response's constant parts.
pub struct Shape<'a> {
    /// The server's name for the request.
    pub id: &'a str,
    /// The model's name.
    pub model: &'a str,
    /// What was asked.
    pub ask: &'a Ask,
}

fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

impl Shape<'_> {
    fn base(&self) -> Value {
        let object = if self.ask.api == Api::Chat {
            "chat.completion.chunk"
        } else {
            "text_completion"
        };
        json!({"id": self.id, "object": object, "created": CREATED, "model": self.model})
    }

    fn with_choice(&self, choice: Value) -> Value {
        let mut chunk = self.base();
        chunk["choices"] = json!([choice]);
        chunk
    }

    /// The role chunk of a chat stream; the other APIs have none.
    pub fn role(&self) -> Option<Vec<u8>> {
        (self.ask.api == Api::Chat).then(|| {
            event(&self.with_choice(json!({
                "index": 0, "delta": {"role": "assistant", "content": "", "reasoning_content": null},
                "logprobs": null, "finish_reason": null, "matched_stop": null,
            })))
        })
    }

    /// One token. `so_far`: tokens including this one; `text_so_far`: what a cumulative stream repeats.
    ///
    /// Written by hand, in SGLang's order of keys: a long answer has thousands of these, and all are made at once.
    pub fn token(&self, text: &str, reasoning: bool, so_far: u32, text_so_far: &str) -> Vec<u8> {
        if self.ask.api == Api::Generate {
            return event(&self.native(text_so_far, so_far, None));
        }
        let quoted = |text: &str| Value::from(text).to_string();
        let (id, model, text) = (quoted(self.id), quoted(self.model), quoted(text));
        let (object, what) = match (self.ask.api, reasoning) {
            (Api::Chat, true) => (
                "chat.completion.chunk",
                format!("\"delta\":{{\"reasoning_content\":{text}}}"),
            ),
            (Api::Chat, false) => (
                "chat.completion.chunk",
                format!("\"delta\":{{\"reasoning_content\":null,\"content\":{text}}}"),
            ),
            _ => ("text_completion", format!("\"text\":{text}")),
        };
        let usage = if self.ask.continuous_usage {
            format!(",\"usage\":{}", self.usage_value(so_far, 0))
        } else if self.ask.api == Api::Completions {
            ",\"usage\":null".to_owned()
        } else {
            String::new()
        };
        format!(
            "data: {{\"id\":{id},\"object\":\"{object}\",\"created\":{CREATED},\"model\":{model},\"choices\":[{{\"index\":0,{what},\
             \"logprobs\":null,\"finish_reason\":null,\"matched_stop\":null}}]{usage}}}\n\n"
        )
        .into_bytes()
    }

    fn native(&self, text_so_far: &str, so_far: u32, finish: Option<Value>) -> Value {
        json!({
            "text": text_so_far,
            "output_ids": (1..=so_far).collect::<Vec<u32>>(),
            "meta_info": {
                "id": self.id, "finish_reason": finish, "prompt_tokens": self.ask.prompt_tokens, "weight_version": "default",
                "completion_tokens": so_far, "cached_tokens": 0, "reasoning_tokens": 0,
            },
        })
    }

    /// The end of the answer for this reason.
    pub fn finish(&self, reason: &str, so_far: u32, text_so_far: &str) -> Vec<u8> {
        match self.ask.api {
            Api::Chat => event(&self.with_choice(json!({
                "index": 0, "delta": {"reasoning_content": null}, "logprobs": null, "finish_reason": reason, "matched_stop": null,
            }))),
            Api::Completions => event(&self.with_choice(json!({
                "index": 0, "text": "", "logprobs": null, "finish_reason": reason, "matched_stop": null,
            }))),
            Api::Generate => {
                let finish = match reason {
                    "abort" => json!({"type": "abort", "message": "Aborted", "status_code": null, "err_type": null}),
                    "length" => json!({"type": "length", "length": so_far}),
                    other => json!({"type": other, "matched": 2}),
                };
                event(&self.native(text_so_far, so_far, Some(finish)))
            }
        }
    }

    /// The usage chunk, where it was asked for.
    pub fn usage(&self, tokens: u32, reasoning: u32) -> Option<Vec<u8>> {
        (self.ask.include_usage && self.ask.api != Api::Generate).then(|| {
            let mut chunk = self.base();
            chunk["choices"] = json!([]);
            chunk["usage"] = self.usage_value(tokens, reasoning);
            event(&chunk)
        })
    }

    fn usage_value(&self, tokens: u32, reasoning: u32) -> Value {
        json!({
            "prompt_tokens": self.ask.prompt_tokens, "completion_tokens": tokens,
            "total_tokens": self.ask.prompt_tokens + tokens, "prompt_tokens_details": null, "reasoning_tokens": reasoning,
        })
    }

    /// An error event, as the scheduler's abort with a status gives it.
    pub fn error(&self) -> Vec<u8> {
        event(&json!({"error": {
            "object": "error", "message": "The request queue is full.", "type": "SERVICE_UNAVAILABLE", "param": null, "code": 503,
        }}))
    }

    /// A chunk that stops in the middle of its JSON, closed by a blank line all the same.
    pub fn malformed(&self) -> Vec<u8> {
        let mut cut = self.token("broken", false, 0, "");
        cut.truncate(cut.len() - 14);
        cut.extend_from_slice(b"\n\n");
        cut
    }

    /// The end mark.
    pub fn done(&self) -> Vec<u8> {
        b"data: [DONE]\n\n".to_vec()
    }

    /// A whole answer.
    pub fn whole(&self, text: &str, reasoning_text: &str, tokens: u32, reasoning: u32, finish: &str) -> Vec<u8> {
        let value = match self.ask.api {
            Api::Generate => self.native(text, tokens, Some(json!({"type": finish, "length": tokens}))),
            Api::Chat => {
                let mut value = self.base();
                value["object"] = "chat.completion".into();
                let reasoning_text = (!reasoning_text.is_empty()).then_some(reasoning_text);
                value["choices"] = json!([{
                    "index": 0,
                    "message": {"role": "assistant", "content": text, "reasoning_content": reasoning_text, "tool_calls": null},
                    "logprobs": null, "finish_reason": finish, "matched_stop": null,
                }]);
                value["usage"] = self.usage_value(tokens, reasoning);
                value
            }
            Api::Completions => {
                let mut value = self.base();
                value["choices"] = json!([{"index": 0, "text": text, "logprobs": null, "finish_reason": finish, "matched_stop": null}]);
                value["usage"] = self.usage_value(tokens, reasoning);
                value
            }
        };
        value.to_string().into_bytes()
    }
}

/// Status and body of a fault that comes as an HTTP error; `None` for the others.
pub fn http_error(fault: FaultKind) -> Option<(u16, Value)> {
    Some(match fault {
        FaultKind::Http429 => (
            429,
            json!({"error": {"message": "Rate limit reached for requests", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}),
        ),
        FaultKind::Http500 => (
            500,
            json!({"object": "error", "message": "Internal server error: CUDA error: an illegal memory access was encountered",
                "type": "InternalServerError", "param": null, "code": 500}),
        ),
        FaultKind::Http503 => (
            503,
            json!({"object": "error", "message": "The request queue is full.", "type": "503", "param": null, "code": 503}),
        ),
        _ => return None,
    })
}
