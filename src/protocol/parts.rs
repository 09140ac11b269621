//! The smaller parts of a frame: usage, finish reasons, tool calls, what a server tells of itself.

use std::borrow::Cow;

use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::lenient::{Count, Fields, Maybe, Several, Text, number, plain_string, skip, string};

/// Token counts as a server reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// `prompt_tokens`, or `input_tokens`.
    pub prompt: Option<Count>,
    /// `completion_tokens`, or `output_tokens`; cumulative where it comes with every frame.
    pub completion: Option<Count>,
    /// `completion_tokens_details.reasoning_tokens`, or `reasoning_tokens`.
    pub reasoning: Option<Count>,
    /// `prompt_tokens_details.cached_tokens`, or `prompt_cache_hit_tokens`.
    pub cached: Option<Count>,
}

impl Usage {
    /// Whether it tells any count of tokens. `"usage": {}` does not.
    pub fn tells(&self) -> bool {
        self.prompt.is_some() || self.completion.is_some()
    }
}

#[derive(Default)]
struct Details {
    reasoning: Option<Count>,
    cached: Option<Count>,
}

impl<'de> Fields<'de> for Details {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"reasoning_tokens" => self.reasoning = Count::read(map.next_value()?),
            b"cached_tokens" => self.cached = Count::read(map.next_value()?),
            _ => skip(map)?,
        }
        Ok(())
    }
}

impl<'de> Fields<'de> for Usage {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"prompt_tokens" => self.prompt = Count::read(map.next_value()?),
            b"completion_tokens" => self.completion = Count::read(map.next_value()?),
            b"input_tokens" => self.prompt = self.prompt.take().or(Count::read(map.next_value()?)),
            b"output_tokens" => self.completion = self.completion.take().or(Count::read(map.next_value()?)),
            b"reasoning_tokens" => self.reasoning = self.reasoning.take().or(Count::read(map.next_value()?)),
            b"prompt_cache_hit_tokens" => self.cached = self.cached.take().or(Count::read(map.next_value()?)),
            b"completion_tokens_details" | b"output_tokens_details" => {
                if let Some(details) = map.next_value::<Maybe<Details>>()?.0 {
                    self.reasoning = details.reasoning.or(self.reasoning.take());
                }
            }
            b"prompt_tokens_details" | b"input_tokens_details" => {
                if let Some(details) = map.next_value::<Maybe<Details>>()?.0 {
                    self.cached = details.cached.or(self.cached.take());
                }
            }
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// A finish reason: a string (OpenAI) or an object (SGLang's native API).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish<'a> {
    /// The reason's name: `stop`, `length`, `abort` …
    pub reason: Cow<'a, str>,
    /// An abort's own message.
    pub message: Option<String>,
    /// An abort's HTTP status.
    pub code: Option<String>,
    /// An abort's error type.
    pub kind: Option<String>,
    /// What the answer stopped at, if the reason says so.
    pub matched: Option<String>,
}

impl<'a> Finish<'a> {
    /// Reads a value; `null`, `""` and anything without a name mean "not finished".
    pub(super) fn read(raw: &'a RawValue) -> Option<Self> {
        if raw.get().starts_with('{') {
            let object: FinishObject = serde_json::from_str::<Maybe<_>>(raw.get()).ok()?.0?;
            let named = object.reason.filter(|reason| !reason.is_empty())?;
            return Some(Finish {
                reason: Cow::Owned(named),
                message: object.message,
                code: object.code,
                kind: object.kind,
                matched: object.matched,
            });
        }
        let reason = plain_string(raw).filter(|reason| !reason.is_empty())?;
        Some(Finish {
            reason,
            message: None,
            code: None,
            kind: None,
            matched: None,
        })
    }

    /// Whether the server gave the request up.
    pub fn is_abort(&self) -> bool {
        // The first two are what servers document; the rest are gateways' words for the same.
        [
            "abort",
            "error",
            "aborted",
            "cancelled",
            "canceled",
            "failed",
            "timeout",
        ]
        .iter()
        .any(|word| self.reason.eq_ignore_ascii_case(word))
    }
}

#[derive(Default)]
struct FinishObject {
    reason: Option<String>,
    message: Option<String>,
    code: Option<String>,
    kind: Option<String>,
    matched: Option<String>,
}

impl<'de> Fields<'de> for FinishObject {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        let slot = match key {
            b"type" => &mut self.reason,
            b"message" => &mut self.message,
            b"status_code" => &mut self.code,
            b"err_type" => &mut self.kind,
            b"matched" => &mut self.matched,
            _ => return skip(map),
        };
        let raw: &RawValue = map.next_value()?;
        *slot = match plain_string(raw) {
            Some(text) => Some(text.into_owned()),
            None if raw.get() == "null" => None,
            None => Some(raw.get().to_owned()),
        };
        Ok(())
    }
}

/// A piece of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDelta<'a> {
    /// Which call of the answer.
    pub index: Option<u32>,
    /// Its id.
    pub id: Option<Text<'a>>,
    /// The function's name, or a piece of it.
    pub name: Option<Text<'a>>,
    /// A piece of its arguments.
    pub arguments: Option<Text<'a>>,
}

impl ToolDelta<'_> {
    /// Whether the piece holds output: a name or arguments.
    pub fn is_output(&self) -> bool {
        [&self.name, &self.arguments]
            .into_iter()
            .flatten()
            .any(|text| !text.is_empty())
    }
}

impl<'de> Fields<'de> for ToolDelta<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"index" => self.index = map.next_value::<&RawValue>()?.get().parse().ok(),
            b"id" => self.id = string(map.next_value()?),
            b"name" => self.name = string(map.next_value()?),
            b"arguments" => {
                let raw: &RawValue = map.next_value()?;
                // Some servers send the arguments as an object where a string is due.
                self.arguments = string(raw).or_else(|| {
                    raw.get()
                        .starts_with('{')
                        .then_some(Cow::Borrowed(raw.get().as_bytes()))
                });
            }
            b"function" => {
                if let Some(function) = map.next_value::<Maybe<ToolDelta<'de>>>()?.0 {
                    self.name = function.name;
                    self.arguments = function.arguments;
                }
            }
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// The pieces of `tool_calls`.
pub(super) fn tool_calls(raw: &RawValue) -> Vec<ToolDelta<'_>> {
    let Ok(Several { first, rest }) = serde_json::from_str(raw.get()) else {
        return Vec::new();
    };
    first.into_iter().chain(rest).collect()
}

/// The piece of the legacy `function_call`.
pub(super) fn function_call(raw: &RawValue) -> Option<ToolDelta<'_>> {
    serde_json::from_str::<Maybe<_>>(raw.get()).ok()?.0
}

/// What a server tells of itself in the body (SGLang's `meta_info` and `sglext`). Seconds; absent if not told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerReport {
    /// Server-side end-to-end time.
    pub e2e_latency_s: Option<f64>,
    /// Time in the server's queue.
    pub queue_time_s: Option<f64>,
    /// Server-side time to the first token.
    pub first_token_latency_s: Option<f64>,
    /// Speculative decoding: share of drafted tokens that were accepted.
    pub spec_accept_rate: Option<f64>,
    /// Speculative decoding: tokens per step.
    pub spec_accept_length: Option<f64>,
}

impl ServerReport {
    /// Takes over what a later frame tells.
    pub fn update(&mut self, later: &ServerReport) {
        let pairs = [
            (&mut self.e2e_latency_s, later.e2e_latency_s),
            (&mut self.queue_time_s, later.queue_time_s),
            (&mut self.first_token_latency_s, later.first_token_latency_s),
            (&mut self.spec_accept_rate, later.spec_accept_rate),
            (&mut self.spec_accept_length, later.spec_accept_length),
        ];
        for (slot, told) in pairs {
            *slot = told.or(*slot);
        }
    }
}

impl<'de> Fields<'de> for ServerReport {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        let slot = match key {
            b"e2e_latency" => &mut self.e2e_latency_s,
            b"queue_time" => &mut self.queue_time_s,
            b"first_token_latency" => &mut self.first_token_latency_s,
            b"spec_accept_rate" => &mut self.spec_accept_rate,
            b"spec_accept_length" => &mut self.spec_accept_length,
            _ => return skip(map),
        };
        *slot = number(map.next_value()?);
        Ok(())
    }
}
