//! Events → what they mean for the request: tokens, finish, usage, errors.

use std::ops::ControlFlow;

use serde_json::Value;

use super::alike::{Alike, Brought};
use super::answer::Answer;
use super::foreign::Foreign;
use super::native::NativeText;
use super::reading::Spec;
use super::{Failure, FailurePhase, Marks, Outcome, Rule, Times, WireCounts};
use crate::config::Api;
use crate::protocol::{
    Choice, Chunk, Count, ErrorInfo, ErrorSign, Finish, ServerReport, Usage, error_by_shape, error_in_json, excerpt,
    message_in_text,
};
use crate::sse;

/// What an event meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meaning {
    /// It brought answer text.
    pub answer: bool,
    /// It brought reasoning text.
    pub reasoning: bool,
    /// It brought a tool call's name or arguments.
    pub tool: bool,
    /// It named a role.
    pub role: bool,
    /// It carried usage or native counts.
    pub usage: bool,
    /// It carried a finish reason.
    pub finish: bool,
    /// It was `[DONE]`.
    pub done: bool,
    /// It was an error, an abort, or not readable.
    pub failure: Option<Rule>,
    /// It was no event but a line of something else.
    pub foreign: bool,
    /// The end of the body cut it off.
    pub torn: bool,
}

impl Meaning {
    /// Whether it brought a token of any kind.
    pub fn is_token(self) -> bool {
        self.answer || self.reasoning || self.tool
    }
}

/// An event or a foreign line as the machine took it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Name of the event; empty for most, and for foreign lines.
    pub name: &'a [u8],
    /// Its data, or the line.
    pub data: &'a [u8],
    /// What it meant.
    pub meaning: Meaning,
    /// The verdict so far: the first failure, if there was one.
    pub latched: Option<(Outcome, Rule)>,
}

/// A failure that has latched.
#[derive(Clone, Debug)]
pub(super) struct Latched {
    pub outcome: Outcome,
    pub failure: Failure,
}

/// What is known of the answer so far.
#[derive(Debug)]
pub(super) struct Frames {
    pub spec: Spec,
    pub times: Times,
    pub wire: WireCounts,
    pub marks: Marks,
    pub latched: Option<Latched>,
    pub done: bool,
    /// The end cut an event off.
    pub torn: bool,
    pub foreign: Foreign,
    pub first_token_event: Option<u32>,
    pub token_frames: u32,
    /// Bytes of text and tool calls of all choices.
    pub text_bytes: u64,
    pub usage: Option<Usage>,
    pub native_usage: Option<Usage>,
    pub server: ServerReport,
    pub response_id: Option<String>,
    pub finish_reason: Option<String>,
    pub answer: Answer,
    pub native: NativeText,
    /// Events that said anything (not blank, not a wrapped comment).
    chunks: u32,
    /// Bit per choice that was seen, and that has its finish reason.
    choices_seen: u64,
    choices_finished: u64,
    /// Tokens told up to the last token frame; `None` once a frame came without a count.
    pub tokens_told: Option<u64>,
    last_token_read: u32,
    /// The rest of the body is being flushed, after it broke or was given up: what cannot be read was cut off.
    pub cut: bool,
    /// The last frame, to tell the next ones by.
    alike: Alike,
}

impl Frames {
    pub fn new(spec: Spec, dispatched_ms: f64) -> Self {
        Self {
            spec,
            times: Times {
                scheduled_ms: dispatched_ms,
                dispatched_ms,
                ended_ms: dispatched_ms,
                ..Times::default()
            },
            wire: WireCounts::default(),
            marks: Marks::default(),
            latched: None,
            done: false,
            torn: false,
            foreign: Foreign::default(),
            first_token_event: None,
            token_frames: 0,
            text_bytes: 0,
            usage: None,
            native_usage: None,
            server: ServerReport::default(),
            response_id: None,
            finish_reason: None,
            answer: Answer::default(),
            native: NativeText::default(),
            chunks: 0,
            choices_seen: 0,
            choices_finished: 0,
            tokens_told: Some(0),
            last_token_read: 0,
            cut: false,
            alike: Alike::default(),
        }
    }

    /// Whether anything that could be a frame came.
    pub fn any_chunk(&self) -> bool {
        self.chunks > 0
    }

    /// Whether every choice that was seen has its finish reason, and at least one was.
    pub fn is_finished(&self) -> bool {
        self.choices_finished != 0 && self.choices_seen & !self.choices_finished == 0
    }

    /// Number of choices seen, at least 1.
    pub fn choice_count(&self) -> u64 {
        u64::from(self.choices_seen.count_ones().max(1))
    }

    /// The first failure latches; later ones change nothing.
    pub fn latch(&mut self, outcome: Outcome, rule: Rule, info: ErrorInfo, at_ms: f64) {
        if self.latched.is_some() {
            return;
        }
        let phase = match (self.times.headers_ms, self.token_frames) {
            (None, _) => FailurePhase::BeforeHeaders,
            (Some(_), 0) => FailurePhase::BeforeFirstToken,
            (Some(_), _) => FailurePhase::AfterTokens,
        };
        let ErrorInfo { message, code, kind } = info;
        let failure = Failure {
            rule,
            phase,
            token_frames_before: self.token_frames,
            message,
            code,
            kind,
            at_ms,
        };
        self.latched = Some(Latched { outcome, failure });
    }

    /// Takes what the parser hands out. Breaks at `[DONE]`: nothing after it is read.
    pub fn item<F: FnMut(Seen<'_>)>(&mut self, item: sse::Item<'_>, at_ms: f64, observe: &mut F) -> ControlFlow<()> {
        let (name, data, meaning) = match item {
            sse::Item::Event(event) => (event.name, event.data, self.event(event, at_ms)),
            sse::Item::Foreign(line) => (&[][..], line, self.foreign_line(line, at_ms)),
        };
        let latched = self
            .latched
            .as_ref()
            .map(|latched| (latched.outcome, latched.failure.rule));
        observe(Seen {
            name,
            data,
            meaning,
            latched,
        });
        if self.done {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn foreign_line(&mut self, line: &[u8], at_ms: f64) -> Meaning {
        let failure = self
            .foreign
            .line(line)
            .map(|info| self.fail(Outcome::StreamError, Rule::ErrorBody, info, at_ms));
        Meaning {
            foreign: true,
            failure,
            ..Meaning::default()
        }
    }

    fn fail(&mut self, outcome: Outcome, rule: Rule, info: ErrorInfo, at_ms: f64) -> Rule {
        self.latch(outcome, rule, info, at_ms);
        rule
    }

    fn event(&mut self, event: sse::Event<'_>, at_ms: f64) -> Meaning {
        self.wire.events += 1;
        self.foreign.forget();
        let mut meaning = Meaning::default();
        let data = event.data.trim_ascii();
        if data == b"[DONE]" {
            self.done = true;
            self.times.done_ms = Some(at_ms);
            return Meaning { done: true, ..meaning };
        }
        let text = std::str::from_utf8(data);
        if event.name == b"error" {
            let told = String::from_utf8_lossy(data);
            let mut info = message_in_text(&told);
            if info.message.is_empty() {
                info.message = "an event named \"error\" without a message".to_owned();
            }
            meaning.failure = Some(self.fail(Outcome::StreamError, Rule::ErrorEvent, info, at_ms));
            return meaning;
        }
        // Nothing, or a keep-alive comment that a proxy wrapped into a data line.
        if data.is_empty() || data[0] == b':' {
            return meaning;
        }
        self.chunks += 1;
        // Not before the first token, whose frame also tells the role and the server's name for the request.
        if self.token_frames > 0
            && self.latched.is_none()
            && text.is_ok()
            && let Some(brought) = self.alike.read(data)
        {
            self.token_like_the_last(brought, at_ms);
            return brought.meaning;
        }
        self.alike.forget();
        let text = match text {
            Ok(text) => text,
            Err(error) if event.flushed && (self.cut || error.error_len().is_none()) => return self.tear(meaning),
            Err(error) => {
                let message = format!(
                    "a data line is not UTF-8 (byte {}): {}",
                    error.valid_up_to(),
                    shown(data)
                );
                meaning.failure = Some(self.fail(Outcome::Malformed, Rule::NotUtf8, said(message), at_ms));
                return meaning;
            }
        };
        match Chunk::parse(text) {
            Ok(chunk) => {
                self.chunk(&chunk, text, at_ms, &mut meaning);
                self.learn(&chunk, text, meaning);
            }
            Err(error) => {
                if event.flushed && (self.cut || error.is_eof() || b"[DONE]".starts_with(data)) {
                    return self.tear(meaning);
                }
                // Events that only a line feed parts, each of them whole: every data line is JSON, as it should be.
                if text.contains('\n')
                    && text
                        .lines()
                        .all(|line| line.trim().is_empty() || Chunk::parse(line).is_ok())
                {
                    for line in text.lines() {
                        if let Ok(chunk) = Chunk::parse(line) {
                            self.chunk(&chunk, line, at_ms, &mut meaning);
                        }
                    }
                    return meaning;
                }
                let message = format!("a data line is not JSON ({error}): {}", shown(data));
                meaning.failure = Some(self.fail(Outcome::Malformed, Rule::NotJson, said(message), at_ms));
            }
        }
        meaning
    }

    fn tear(&mut self, meaning: Meaning) -> Meaning {
        self.torn = true;
        Meaning { torn: true, ..meaning }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, text: &str, at_ms: f64, meaning: &mut Meaning) {
        if self.response_id.is_none() {
            self.response_id = chunk
                .id
                .as_ref()
                .filter(|id| !id.is_empty())
                .map(|id| id.clone().into_owned());
        }
        // Google wraps errors in an array, which is no chunk.
        let wrapped = text
            .starts_with('[')
            .then(|| serde_json::from_str::<Value>(text).ok())
            .flatten();
        let wrapped = wrapped.as_ref().and_then(error_in_json);
        if chunk.error.is_some() || wrapped.is_some() {
            let rule = if chunk.error == Some(ErrorSign::Object) {
                Rule::ErrorObject
            } else {
                Rule::ErrorKey
            };
            let told = || {
                serde_json::from_str::<Value>(text)
                    .ok()
                    .as_ref()
                    .and_then(error_in_json)
            };
            let info = wrapped.or_else(told).unwrap_or_else(|| said(excerpt(text)));
            meaning.failure = meaning
                .failure
                .or(Some(self.fail(Outcome::StreamError, rule, info, at_ms)));
            return;
        }
        if chunk.is_shapeless()
            && let Some(info) = serde_json::from_str(text).ok().as_ref().and_then(error_by_shape)
        {
            meaning.failure = meaning
                .failure
                .or(Some(self.fail(Outcome::StreamError, Rule::ErrorShape, info, at_ms)));
            return;
        }
        // After a failure nothing counts any more; only usage is still noted, as part of what the server claimed.
        let counts = self.latched.is_none();
        self.server.update(&chunk.server);
        if let Some(usage) = &chunk.usage {
            meaning.usage = true;
            self.usage = Some(usage.clone());
        }
        let mut told = chunk.usage.as_ref();
        for choice in chunk.choices.iter() {
            self.choice(choice, counts, meaning);
        }
        if self.spec.api == Api::Generate {
            if let Some(usage) = chunk.native.usage.as_ref().filter(|usage| usage.tells()) {
                meaning.usage = true;
                self.native_usage = Some(usage.clone());
                told = told.or(Some(usage));
            }
            self.native_frame(chunk, counts, meaning);
        }
        if counts {
            if meaning.role && self.token_frames == 0 && self.times.role_ms.is_none() {
                self.times.role_ms = Some(at_ms);
            }
            if meaning.is_token() {
                let told = told.and_then(|usage| usage.completion.as_ref()?.whole());
                self.token_frame(*meaning, told, at_ms);
            }
        }
        let finishes = chunk
            .choices
            .iter()
            .map(|choice| (choice.finish.as_ref(), choice.nan_stop));
        for (finish, nan) in finishes.chain([(chunk.native.finish.as_ref(), chunk.native.nan_stop())]) {
            if let Some(rule) = self.abort(finish, nan, at_ms) {
                meaning.failure = meaning.failure.or(Some(rule));
            }
        }
    }

    /// Makes a template of a frame that brought text and nothing that happens once.
    fn learn(&mut self, chunk: &Chunk<'_>, text: &str, meaning: Meaning) {
        let mut choices = chunk.choices.iter();
        if let (Some(choice), None) = (choices.next(), choices.next())
            && meaning.is_token()
            && !meaning.finish
            && meaning.failure.is_none()
            && !choice.is_message
            && !choice.nan_stop
            && !self.spec.keep_text
            && self.spec.api != Api::Generate
        {
            self.alike.learn(text, choice, chunk.usage.as_ref(), meaning);
        }
    }

    /// A frame that differs from the last in its text and its counts alone.
    fn token_like_the_last(&mut self, brought: Brought, at_ms: f64) {
        self.text_bytes += brought.text_bytes as u64;
        let mut told = None;
        if let Some(usage) = self.usage.as_mut().filter(|_| brought.meaning.usage) {
            let renew = |count: &mut Option<Count>, now: Option<u64>| *count = now.map(Count::Whole).or(count.take());
            renew(&mut usage.completion, brought.completion);
            renew(&mut usage.reasoning, brought.reasoning);
            told = usage.completion.as_ref().and_then(Count::whole);
        }
        self.token_frame(brought.meaning, told, at_ms);
    }

    fn choice(&mut self, choice: &Choice<'_>, counts: bool, meaning: &mut Meaning) {
        let bit = 1 << choice.index.min(63);
        self.choices_seen |= bit;
        meaning.role |= choice.has_role;
        self.finish(choice.finish.as_ref(), bit, choice.index == 0, meaning);
        // A frame in the shape of a whole answer, after the answer itself was streamed, repeats it.
        if !counts || choice.is_message && self.token_frames > 0 {
            return;
        }
        meaning.answer |= !choice.answer.is_empty();
        meaning.reasoning |= !choice.reasoning.is_empty();
        meaning.tool |= choice.has_tool_output();
        let pieces = choice
            .tools
            .iter()
            .flat_map(|piece| [&piece.name, &piece.arguments])
            .flatten();
        let tool_bytes: usize = pieces.map(|piece| piece.len()).sum();
        self.text_bytes += (choice.answer.len() + choice.reasoning.len() + tool_bytes) as u64;
        if self.spec.keep_text && choice.index == 0 {
            self.answer.push(choice);
        }
    }

    fn native_frame(&mut self, chunk: &Chunk<'_>, counts: bool, meaning: &mut Meaning) {
        let frame = &chunk.native;
        if frame.text.is_none() && frame.output_ids.is_none() && frame.usage.is_none() {
            return;
        }
        let bit = 1 << frame.index.min(63);
        self.choices_seen |= bit;
        self.finish(frame.finish.as_ref(), bit, frame.index == 0, meaning);
        if !counts {
            return;
        }
        // The text of other answers of a batch is not followed; their frames count by their ids alone.
        if frame.index == 0 {
            let added = self.native.push(frame);
            meaning.answer |= added.token;
            self.text_bytes += added.text_bytes as u64;
        } else {
            meaning.answer |= frame.text.as_ref().is_some_and(|text| !text.is_empty());
        }
    }

    fn finish(&mut self, finish: Option<&Finish<'_>>, bit: u64, is_first: bool, meaning: &mut Meaning) {
        let Some(finish) = finish else { return };
        meaning.finish = true;
        self.choices_finished |= bit;
        if is_first && self.latched.is_none() && self.finish_reason.as_deref() != Some(&*finish.reason) {
            self.finish_reason = Some(finish.reason.clone().into_owned());
        }
    }

    fn abort(&mut self, finish: Option<&Finish<'_>>, nan: bool, at_ms: f64) -> Option<Rule> {
        if let Some(finish) = finish.filter(|finish| finish.is_abort()) {
            let message = match &finish.message {
                Some(message) => format!("finish_reason {}: {message}", finish.reason),
                None => format!("finish_reason {}", finish.reason),
            };
            let info = ErrorInfo {
                message,
                code: finish.code.clone(),
                kind: finish.kind.clone(),
            };
            return Some(self.fail(Outcome::Aborted, Rule::AbortFinish, info, at_ms));
        }
        let message = || said("the server stopped because of NaN values (matched_stop: NaN happened)".to_owned());
        nan.then(|| self.fail(Outcome::Aborted, Rule::NanStop, message(), at_ms))
    }

    fn token_frame(&mut self, meaning: Meaning, told: Option<u64>, at_ms: f64) {
        if self.token_frames == 0 {
            self.times.first_token_ms = Some(at_ms);
            self.first_token_event = Some(self.wire.events - 1);
        } else if self.last_token_read == self.wire.reads {
            self.wire.coalesced_frames += 1;
        }
        if (meaning.answer || meaning.tool) && self.times.first_answer_ms.is_none() {
            self.times.first_answer_ms = Some(at_ms);
        }
        self.times.last_token_ms = Some(at_ms);
        self.last_token_read = self.wire.reads;
        self.token_frames += 1;
        let after_us = (at_ms - self.times.dispatched_ms) * 1000.0;
        self.marks.at_us.push(after_us.round() as u32);
        match (self.tokens_told, told) {
            // With several choices nobody says whose tokens a frame counts.
            (Some(before), Some(now))
                if now >= before && now - before <= u64::from(u32::MAX) && self.choice_count() == 1 =>
            {
                self.marks.tokens.push((now - before) as u32);
                self.tokens_told = Some(now);
            }
            _ => {
                self.tokens_told = None;
                self.marks.tokens = Vec::new();
            }
        }
    }
}

/// A message without code and type.
pub(super) fn said(message: String) -> ErrorInfo {
    ErrorInfo {
        message,
        ..ErrorInfo::default()
    }
}

fn shown(data: &[u8]) -> String {
    let head = &data[..data.len().min(400)];
    String::from_utf8_lossy(head).into_owned()
}
