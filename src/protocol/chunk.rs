//! One frame of a stream, or one whole answer: the same reader serves both, and all three APIs.

use std::borrow::Cow;

use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::lenient::{Count, Fields, Maybe, Several, Text, number, plain_string, says_nothing, skip, string};
use super::parts::{self, Finish, ServerReport, ToolDelta, Usage};

/// SGLang's NaN detector ends a request as if it had stopped by itself, and names this as what it stopped at.
const NAN_STOP: &str = "NaN happened";

/// What says that a frame is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorSign {
    /// A key `error` that says something, of the frame or of a choice.
    Key,
    /// `"object": "error"`.
    Object,
}

/// One frame, borrowed from its data.
#[derive(Default)]
pub struct Chunk<'a> {
    /// Whether, and by what sign, it is an error.
    pub error: Option<ErrorSign>,
    /// Its choices; empty for SGLang's native API.
    pub choices: Choices<'a>,
    /// Its usage, if it tells any.
    pub usage: Option<Usage>,
    /// What it has of SGLang's native keys.
    pub native: NativeFrame<'a>,
    /// What the server tells of itself.
    pub server: ServerReport,
    /// The server's name for the request: `id`, or `meta_info.id`.
    pub id: Option<Cow<'a, str>>,
}

/// The choices of a frame: almost always one.
#[derive(Default)]
pub struct Choices<'a> {
    first: Option<Choice<'a>>,
    rest: Vec<Choice<'a>>,
}

impl<'a> Choices<'a> {
    /// All of them, in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = &Choice<'a>> {
        self.first.iter().chain(&self.rest)
    }
}

/// One choice of a frame.
#[derive(Default)]
pub struct Choice<'a> {
    /// Its number; 0 if not sent.
    pub index: u32,
    /// Text of the answer: `delta.content`, `text`, `message.content`, or a refusal.
    pub answer: Text<'a>,
    /// Text of the reasoning: `reasoning_content`, or else `reasoning`.
    pub reasoning: Text<'a>,
    /// Pieces of tool calls.
    pub tools: Vec<ToolDelta<'a>>,
    /// Its finish reason, if it is set.
    pub finish: Option<Finish<'a>>,
    /// Whether it names a role.
    pub has_role: bool,
    /// Whether its text stands under `message`, as in a whole answer, not under `delta` or `text`.
    pub is_message: bool,
    /// Whether it carries SGLang's NaN stop.
    pub nan_stop: bool,
}

impl Choice<'_> {
    /// Whether a tool call's name or arguments are among it.
    pub fn has_tool_output(&self) -> bool {
        self.tools.iter().any(ToolDelta::is_output)
    }

    /// Whether it brings output of any kind.
    pub fn has_output(&self) -> bool {
        !self.answer.is_empty() || !self.reasoning.is_empty() || self.has_tool_output()
    }
}

/// The keys of SGLang's native API.
#[derive(Default)]
pub struct NativeFrame<'a> {
    /// `text`: all of the answer so far, or the newest piece, depending on the server's mode.
    pub text: Option<Text<'a>>,
    /// Length of `output_ids`, cumulative or not like `text`.
    pub output_ids: Option<u64>,
    /// Number of the answer in a batch; 0 if not sent.
    pub index: u32,
    /// `meta_info.finish_reason`, if set.
    pub finish: Option<Finish<'a>>,
    /// Token counts of `meta_info`; always cumulative.
    pub usage: Option<Usage>,
}

impl NativeFrame<'_> {
    /// Whether the answer stopped at SGLang's NaN detector.
    pub fn nan_stop(&self) -> bool {
        self.finish.as_ref().and_then(|finish| finish.matched.as_deref()) == Some(NAN_STOP)
    }
}

impl<'a> Chunk<'a> {
    /// Whether it brings nothing that a chunk of any API has: no choice, no usage, no native output.
    pub fn is_shapeless(&self) -> bool {
        let native = &self.native;
        self.choices.first.is_none()
            && self.usage.is_none()
            && native.text.is_none()
            && native.output_ids.is_none()
            && native.usage.is_none()
    }

    /// Reads the data of one event. JSON that is no object is an empty chunk; what is no JSON is refused.
    pub fn parse(data: &'a str) -> Result<Self, serde_json::Error> {
        let top = serde_json::from_str::<Maybe<Top<'a>>>(data)?.0.unwrap_or_default();
        let choices = Choices {
            first: top.choices.first.map(RawChoice::read),
            rest: top.choices.rest.into_iter().map(RawChoice::read).collect(),
        };
        let error = if top.error {
            Some(ErrorSign::Key)
        } else if top.object_is_error {
            Some(ErrorSign::Object)
        } else if top.choice_error || (top.error_code && choices.first.is_none()) {
            Some(ErrorSign::Key)
        } else {
            None
        };
        Ok(Chunk {
            error,
            choices,
            usage: [top.usage, top.vendor_usage].into_iter().flatten().find(Usage::tells),
            native: top.native,
            server: top.server,
            id: top.id,
        })
    }
}

/// The top of a frame, as keys come.
#[derive(Default)]
struct Top<'a> {
    error: bool,
    object_is_error: bool,
    error_code: bool,
    choice_error: bool,
    choices: Several<RawChoice<'a>>,
    usage: Option<Usage>,
    /// Usage from a place of a vendor's own: `choices[].usage` (Moonshot), `x_groq.usage` (Groq).
    vendor_usage: Option<Usage>,
    native: NativeFrame<'a>,
    server: ServerReport,
    id: Option<Cow<'a, str>>,
}

impl<'de> Fields<'de> for Top<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"choices" => {
                self.choices = map.next_value()?;
                for choice in self.choices.first.iter_mut().chain(&mut self.choices.rest) {
                    self.choice_error |= choice.error;
                    self.vendor_usage = choice.usage.take().or(self.vendor_usage.take());
                }
            }
            b"usage" => self.usage = map.next_value::<Maybe<Usage>>()?.0,
            b"id" => self.id = plain_string(map.next_value()?),
            b"error" => self.error |= !says_nothing(map.next_value()?),
            b"object" => self.object_is_error = map.next_value::<&RawValue>()?.get() == "\"error\"",
            // FastChat reports errors by a code beside the message, without choices.
            b"error_code" => self.error_code = number(map.next_value()?).is_some_and(|code| code != 0.0),
            b"text" => self.native.text = string(map.next_value()?),
            b"output_ids" => self.native.output_ids = array_length(map.next_value()?),
            b"index" => self.native.index = small_number(map.next_value()?),
            b"meta_info" => {
                if let Some(meta) = map.next_value::<Maybe<MetaInfo<'de>>>()?.0 {
                    self.native.finish = meta.finish;
                    self.native.usage = Some(meta.usage);
                    self.id = meta.id.or(self.id.take());
                    self.server.update(&meta.server);
                }
            }
            b"sglext" => {
                if let Some(extension) = map.next_value::<Maybe<Extension>>()?.0 {
                    self.server.update(&extension.server);
                }
            }
            b"x_groq" => {
                if let Some(vendor) = map.next_value::<Maybe<Vendor>>()?.0 {
                    self.error |= vendor.error;
                    self.vendor_usage = vendor.usage.or(self.vendor_usage.take());
                }
            }
            _ => skip(map)?,
        }
        Ok(())
    }
}

#[derive(Default)]
struct RawChoice<'a> {
    index: u32,
    text: Option<Text<'a>>,
    delta: Option<Delta<'a>>,
    message: Option<Delta<'a>>,
    finish: Option<Finish<'a>>,
    nan_stop: bool,
    error: bool,
    usage: Option<Usage>,
}

impl<'de> Fields<'de> for RawChoice<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"index" => self.index = small_number(map.next_value()?),
            b"text" => self.text = string(map.next_value()?),
            b"delta" => self.delta = map.next_value::<Maybe<_>>()?.0,
            b"message" => self.message = map.next_value::<Maybe<_>>()?.0,
            b"finish_reason" => self.finish = Finish::read(map.next_value()?),
            b"matched_stop" => self.nan_stop = plain_string(map.next_value()?).as_deref() == Some(NAN_STOP),
            b"error" => self.error |= !says_nothing(map.next_value()?),
            b"usage" => self.usage = map.next_value::<Maybe<Usage>>()?.0,
            _ => skip(map)?,
        }
        Ok(())
    }
}

impl<'a> RawChoice<'a> {
    fn read(self) -> Choice<'a> {
        let is_message = self.delta.is_none() && self.text.is_none() && self.message.is_some();
        let delta = self.delta.or(self.message).unwrap_or_default();
        let said = |text: &Text<'a>| !text.is_empty();
        Choice {
            index: self.index,
            answer: [delta.content.answer, self.text.unwrap_or_default(), delta.refusal]
                .into_iter()
                .find(said)
                .unwrap_or_default(),
            // Servers that send both fill them with the same text.
            reasoning: [delta.reasoning_content, delta.reasoning, delta.content.reasoning]
                .into_iter()
                .find(said)
                .unwrap_or_default(),
            tools: delta.tools,
            nan_stop: self.nan_stop || self.finish.as_ref().and_then(|f| f.matched.as_deref()) == Some(NAN_STOP),
            finish: self.finish,
            has_role: delta.has_role,
            is_message,
        }
    }
}

/// A `delta`, or a `message` of a whole answer.
#[derive(Default)]
struct Delta<'a> {
    content: Content<'a>,
    reasoning_content: Text<'a>,
    reasoning: Text<'a>,
    refusal: Text<'a>,
    tools: Vec<ToolDelta<'a>>,
    has_role: bool,
}

impl<'de> Fields<'de> for Delta<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"content" => self.content = Content::read(map.next_value()?),
            b"reasoning_content" => self.reasoning_content = string(map.next_value()?).unwrap_or_default(),
            b"reasoning" => self.reasoning = string(map.next_value()?).unwrap_or_default(),
            b"refusal" => self.refusal = string(map.next_value()?).unwrap_or_default(),
            b"role" => self.has_role = string(map.next_value()?).is_some_and(|role| !role.is_empty()),
            b"tool_calls" => {
                let raw: &RawValue = map.next_value()?;
                if raw.get().starts_with('[') {
                    self.tools = parts::tool_calls(raw);
                }
            }
            b"function_call" => {
                let raw: &RawValue = map.next_value()?;
                if raw.get().starts_with('{') {
                    self.tools.extend(parts::function_call(raw));
                }
            }
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// `content`: a string, or an array of parts.
#[derive(Default)]
struct Content<'a> {
    answer: Text<'a>,
    reasoning: Text<'a>,
}

impl<'a> Content<'a> {
    fn read(raw: &'a RawValue) -> Self {
        if let Some(answer) = string(raw) {
            return Content {
                answer,
                reasoning: Text::default(),
            };
        }
        if !raw.get().starts_with('[') {
            return Content::default();
        }
        let Ok(Several { first, rest }) = serde_json::from_str::<Several<Part<'a>>>(raw.get()) else {
            return Content::default();
        };
        let mut content = Content::default();
        for part in first.into_iter().chain(rest) {
            append(&mut content.answer, part.text);
            append(&mut content.reasoning, part.thinking);
        }
        content
    }
}

/// A part of an array content: `{"type": "text", "text": …}`, or `{"type": "thinking", "thinking": …}` (Mistral).
#[derive(Default)]
struct Part<'a> {
    text: Text<'a>,
    thinking: Text<'a>,
}

impl<'de> Fields<'de> for Part<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"text" => self.text = string(map.next_value()?).unwrap_or_default(),
            b"refusal" => append(&mut self.text, string(map.next_value()?).unwrap_or_default()),
            b"thinking" => self.thinking = Content::read(map.next_value()?).answer,
            _ => skip(map)?,
        }
        Ok(())
    }
}

fn append<'a>(text: &mut Text<'a>, piece: Text<'a>) {
    if text.is_empty() {
        *text = piece;
    } else if !piece.is_empty() {
        text.to_mut().extend_from_slice(&piece);
    }
}

#[derive(Default)]
struct MetaInfo<'a> {
    finish: Option<Finish<'a>>,
    usage: Usage,
    server: ServerReport,
    id: Option<Cow<'a, str>>,
}

impl<'de> Fields<'de> for MetaInfo<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"id" => self.id = plain_string(map.next_value()?),
            b"finish_reason" => self.finish = Finish::read(map.next_value()?),
            b"completion_tokens" => self.usage.completion = Count::read(map.next_value()?),
            b"prompt_tokens" => self.usage.prompt = Count::read(map.next_value()?),
            b"cached_tokens" => self.usage.cached = Count::read(map.next_value()?),
            b"reasoning_tokens" => self.usage.reasoning = Count::read(map.next_value()?),
            _ => self.server.field(key, map)?,
        }
        Ok(())
    }
}

/// SGLang's extension of the OpenAI frames.
#[derive(Default)]
struct Extension {
    server: ServerReport,
}

impl<'de> Fields<'de> for Extension {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"spec_tokens_details" => self.server = map.next_value::<Maybe<_>>()?.0.unwrap_or_default(),
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// Groq's extension.
#[derive(Default)]
struct Vendor {
    usage: Option<Usage>,
    error: bool,
}

impl<'de> Fields<'de> for Vendor {
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error> {
        match key {
            b"usage" => self.usage = map.next_value::<Maybe<Usage>>()?.0,
            b"error" => self.error |= !says_nothing(map.next_value()?),
            _ => skip(map)?,
        }
        Ok(())
    }
}

fn small_number(raw: &RawValue) -> u32 {
    raw.get().parse().unwrap_or(0)
}

/// Number of elements of a flat array.
fn array_length(raw: &RawValue) -> Option<u64> {
    let inner = raw.get().strip_prefix('[')?.strip_suffix(']')?;
    Some(if inner.trim().is_empty() {
        0
    } else {
        memchr::memchr_iter(b',', inner.as_bytes()).count() as u64 + 1
    })
}

impl std::fmt::Debug for Chunk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chunk")
            .field("error", &self.error)
            .field("usage", &self.usage)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
