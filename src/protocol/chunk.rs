//! One event of a stream, or one whole answer: the keys that matter, borrowed from the text.

use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::{
    error::{ServerError, says_error},
    lenient::{Elements, Fields, Lenient, Raw, raw, raw_text, text_is_empty},
    usage::{Count, Usage},
};

/// The keys of a chunk of any of the APIs. A key that an API does not have is absent.
#[derive(Debug, Default)]
pub struct Chunk<'a> {
    id: Raw<'a>,
    object: Raw<'a>,
    error: Raw<'a>,
    message: Raw<'a>,
    code: Raw<'a>,
    kind: Raw<'a>,
    usage: Raw<'a>,
    choices: Elements<Choice<'a>>,
    /// Native `/generate`: text so far, or since the last event.
    pub text: Raw<'a>,
    output_ids: Raw<'a>,
    meta_info: Raw<'a>,
}

impl<'de: 'a, 'a> Fields<'de> for Chunk<'a> {
    const KEYS: &'static [&'static str] = &[
        "choices",
        "usage",
        "id",
        "object",
        "error",
        "message",
        "code",
        "type",
        "text",
        "output_ids",
        "meta_info",
    ];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        match key {
            0 => self.choices = map.next_value()?,
            1 => self.usage = raw(map)?,
            2 => self.id = raw(map)?,
            3 => self.object = raw(map)?,
            4 => self.error = raw(map)?,
            5 => self.message = raw(map)?,
            6 => self.code = raw(map)?,
            7 => self.kind = raw(map)?,
            8 => self.text = raw(map)?,
            9 => self.output_ids = raw(map)?,
            _ => self.meta_info = raw(map)?,
        }
        Ok(())
    }
}

/// What an event says of an error, and under which name.
#[derive(Debug, PartialEq)]
pub enum ErrorIn {
    /// A non-empty `error` at the top or in a choice.
    Key(ServerError),
    /// `object: "error"`.
    Object(ServerError),
}

impl<'a> Chunk<'a> {
    /// Reads one event's data.
    ///
    /// # Errors
    /// Only if it is no JSON.
    pub fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Lenient<Self>>(text).map(|Lenient(chunk)| chunk)
    }

    /// The error this says, if any. `error: null` and other empty values are none.
    pub fn error(&self) -> Option<ErrorIn> {
        if let Some(error) = self.error.filter(|error| says_error(error)) {
            return Some(ErrorIn::Key(ServerError::of(error).or(&self.flat_error())));
        }
        if self.object.is_some_and(|object| object.get() == "\"error\"") {
            return Some(ErrorIn::Object(self.flat_error()));
        }
        let in_choice = self
            .choices
            .iter()
            .find_map(|choice| choice.error.filter(|error| says_error(error)))?;
        Some(ErrorIn::Key(ServerError::of(in_choice)))
    }

    fn flat_error(&self) -> ServerError {
        ServerError::flat(self.message, self.code, self.kind)
    }

    /// The choices; usually one.
    pub fn choices(&self) -> impl Iterator<Item = &Choice<'a>> {
        self.choices.iter()
    }

    /// Token counts, if this carries any.
    pub fn usage(&self) -> Option<Usage> {
        self.usage.and_then(Usage::of)
    }

    /// The server's name for the request.
    pub fn id(&self) -> Option<String> {
        let id = raw_text(self.id)?;
        (!id.is_empty()).then(|| String::from_utf8_lossy(&id).into_owned())
    }

    /// Native `/generate`: what goes with the text.
    pub fn meta_info(&self) -> Option<MetaInfo<'a>> {
        let text = self.meta_info?.get();
        serde_json::from_str::<Lenient<MetaInfo<'a>>>(text)
            .ok()
            .map(|Lenient(meta)| meta)
    }

    /// Native `/generate`: number of token ids in this event.
    pub fn output_ids(&self) -> Option<u64> {
        let text = self.output_ids?.get();
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let commas = memchr::memchr_iter(b',', inner.as_bytes()).count() as u64;
        Some(if inner.trim().is_empty() { 0 } else { commas + 1 })
    }
}

/// One choice of a chunk or of a whole answer.
#[derive(Debug, Default)]
pub struct Choice<'a> {
    index: Raw<'a>,
    /// Chat: what is new; in a whole answer, all of it.
    pub delta: Delta<'a>,
    /// Completions: what is new.
    pub text: Raw<'a>,
    finish_reason: Raw<'a>,
    matched_stop: Raw<'a>,
    error: Raw<'a>,
}

impl<'de: 'a, 'a> Fields<'de> for Choice<'a> {
    const KEYS: &'static [&'static str] = &[
        "index",
        "delta",
        "message",
        "text",
        "finish_reason",
        "matched_stop",
        "error",
    ];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        match key {
            0 => self.index = raw(map)?,
            1 | 2 => {
                let Lenient(delta) = map.next_value()?;
                self.delta = delta;
            }
            3 => self.text = raw(map)?,
            4 => self.finish_reason = raw(map)?,
            5 => self.matched_stop = raw(map)?,
            _ => self.error = raw(map)?,
        }
        Ok(())
    }
}

impl<'a> Choice<'a> {
    /// Its number; 0 where it is not told.
    pub fn index(&self) -> u64 {
        Count::of(self.index).and_then(Count::tokens).unwrap_or(0)
    }

    /// Why it ended, if it did. An empty reason is none.
    pub fn finish(&self) -> Option<Finish> {
        Finish::of(self.finish_reason, self.matched_stop)
    }

    /// Whether it brings answer text (or a refusal, or a tool call).
    pub fn has_answer(&self) -> bool {
        !text_is_empty(self.text)
            || !text_is_empty(self.delta.content)
            || !text_is_empty(self.delta.refusal)
            || self.delta.has_tool_call()
    }

    /// Whether it brings reasoning.
    pub fn has_reasoning(&self) -> bool {
        !text_is_empty(self.delta.reasoning())
    }
}

/// What a chat chunk adds.
#[derive(Debug, Default)]
pub struct Delta<'a> {
    /// Answer text.
    pub content: Raw<'a>,
    reasoning_content: Raw<'a>,
    reasoning: Raw<'a>,
    refusal: Raw<'a>,
    tool_calls: Elements<ToolCall<'a>>,
    function_call: Function<'a>,
    /// Whether this names a role, as the first chunk of a chat stream does.
    pub has_role: bool,
}

impl<'de: 'a, 'a> Fields<'de> for Delta<'a> {
    const KEYS: &'static [&'static str] = &[
        "content",
        "reasoning_content",
        "reasoning",
        "role",
        "tool_calls",
        "function_call",
        "refusal",
    ];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        match key {
            0 => self.content = raw(map)?,
            1 => self.reasoning_content = raw(map)?,
            2 => self.reasoning = raw(map)?,
            3 => self.has_role = raw(map)?.is_some(),
            4 => self.tool_calls = map.next_value()?,
            5 => {
                let Lenient(function) = map.next_value()?;
                self.function_call = function;
            }
            _ => self.refusal = raw(map)?,
        }
        Ok(())
    }
}

impl<'a> Delta<'a> {
    /// Reasoning text under either of its names; servers that send both send the same text twice.
    pub fn reasoning(&self) -> Raw<'a> {
        if text_is_empty(self.reasoning_content) {
            self.reasoning
        } else {
            self.reasoning_content
        }
    }

    /// Tool calls, the old single `function_call` included.
    pub fn tool_calls(&self) -> impl Iterator<Item = (u64, &Function<'a>)> {
        let listed = self.tool_calls.iter().enumerate().map(|(position, call)| {
            (
                Count::of(call.index).and_then(Count::tokens).unwrap_or(position as u64),
                &call.function,
            )
        });
        let old = (!self.function_call.is_empty()).then_some((0, &self.function_call));
        listed.chain(old)
    }

    fn has_tool_call(&self) -> bool {
        self.tool_calls().any(|(_, function)| !function.is_empty())
    }
}

/// A part of a tool call.
#[derive(Debug, Default)]
pub struct ToolCall<'a> {
    index: Raw<'a>,
    function: Function<'a>,
}

impl<'de: 'a, 'a> Fields<'de> for ToolCall<'a> {
    const KEYS: &'static [&'static str] = &["index", "function"];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        if key == 0 {
            self.index = raw(map)?;
        } else {
            let Lenient(function) = map.next_value()?;
            self.function = function;
        }
        Ok(())
    }
}

/// Name and arguments of a call, as far as this chunk brings them.
#[derive(Debug, Default)]
pub struct Function<'a> {
    /// Part of the name.
    pub name: Raw<'a>,
    /// Part of the arguments.
    pub arguments: Raw<'a>,
}

impl Function<'_> {
    fn is_empty(&self) -> bool {
        // Some servers send the arguments as an object instead of as text.
        let object = self.arguments.is_some_and(|arguments| arguments.get().starts_with('{'));
        text_is_empty(self.name) && text_is_empty(self.arguments) && !object
    }
}

impl<'de: 'a, 'a> Fields<'de> for Function<'a> {
    const KEYS: &'static [&'static str] = &["name", "arguments"];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        if key == 0 {
            self.name = raw(map)?;
        } else {
            self.arguments = raw(map)?;
        }
        Ok(())
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    /// `stop`, `length`, `abort` …
    pub reason: String,
    /// Whether SGLang's NaN detector ended it.
    pub nan: bool,
    /// What an abort says of its cause.
    pub error: Option<ServerError>,
}

impl Finish {
    /// A string (OpenAI) or an object with a `type` (native); `None` if empty.
    fn of(value: Raw<'_>, matched_stop: Raw<'_>) -> Option<Self> {
        let is_nan = |matched: Raw<'_>| matched.is_some_and(|matched| matched.get() == "\"NaN happened\"");
        let nan = is_nan(matched_stop);
        let text = value?.get();
        if text.starts_with('"') {
            let reason = raw_text(value)?;
            let reason = String::from_utf8_lossy(&reason).into_owned();
            return (!reason.trim().is_empty()).then_some(Self {
                reason,
                nan,
                error: None,
            });
        }
        let Lenient(object) = serde_json::from_str::<Lenient<FinishObject<'_>>>(text).ok()?;
        let reason = String::from_utf8_lossy(&raw_text(object.kind)?).into_owned();
        let error = ServerError::flat(object.message, object.status_code, object.err_type);
        let error = (error != ServerError::default()).then_some(error);
        (!reason.trim().is_empty()).then_some(Self {
            reason,
            nan: nan || is_nan(object.matched),
            error,
        })
    }

    /// Whether this ends the request as a failure.
    pub fn is_abort(&self) -> bool {
        matches!(self.reason.as_str(), "abort" | "error")
    }
}

#[derive(Default)]
struct FinishObject<'a> {
    kind: Raw<'a>,
    matched: Raw<'a>,
    message: Raw<'a>,
    status_code: Raw<'a>,
    err_type: Raw<'a>,
}

impl<'de: 'a, 'a> Fields<'de> for FinishObject<'a> {
    const KEYS: &'static [&'static str] = &["type", "matched", "message", "status_code", "err_type"];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        let value = raw(map)?;
        match key {
            0 => self.kind = value,
            1 => self.matched = value,
            2 => self.message = value,
            3 => self.status_code = value,
            _ => self.err_type = value,
        }
        Ok(())
    }
}

/// Native `meta_info`.
#[derive(Debug, Default)]
pub struct MetaInfo<'a> {
    id: Raw<'a>,
    finish_reason: Raw<'a>,
    prompt_tokens: Raw<'a>,
    completion_tokens: Raw<'a>,
    reasoning_tokens: Raw<'a>,
    cached_tokens: Raw<'a>,
}

impl<'de: 'a, 'a> Fields<'de> for MetaInfo<'a> {
    const KEYS: &'static [&'static str] = &[
        "id",
        "finish_reason",
        "prompt_tokens",
        "completion_tokens",
        "reasoning_tokens",
        "cached_tokens",
    ];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        let value = raw(map)?;
        match key {
            0 => self.id = value,
            1 => self.finish_reason = value,
            2 => self.prompt_tokens = value,
            3 => self.completion_tokens = value,
            4 => self.reasoning_tokens = value,
            _ => self.cached_tokens = value,
        }
        Ok(())
    }
}

impl MetaInfo<'_> {
    /// The server's name for the request.
    pub fn id(&self) -> Option<String> {
        raw_text(self.id).map(|id| String::from_utf8_lossy(&id).into_owned())
    }

    /// Why it ended, if it did.
    pub fn finish(&self) -> Option<Finish> {
        Finish::of(self.finish_reason, None)
    }

    /// Its token counts; `completion` is cumulative in every event.
    pub fn usage(&self) -> Usage {
        Usage {
            prompt: Count::of(self.prompt_tokens),
            completion: Count::of(self.completion_tokens),
            reasoning: Count::of(self.reasoning_tokens),
            cached: Count::of(self.cached_tokens),
        }
    }
}

/// Whether a raw value is kept by reference: what a chunk costs.
const _: () = assert!(size_of::<Option<&RawValue>>() == 2 * size_of::<usize>());
