//! The state machine of one request, which rejects every error.
//!
//! | state | what comes | verdict or next state |
//! |---|---|---|
//! | sent | break | `network` |
//! | sent | headers, status not 2xx | `http_error`; the body is read for its message |
//! | sent | headers, 2xx | open |
//! | open | event with a non-empty `error`, `object: "error"`, or named `error` | `stream_error` |
//! | open | JSON line that is no field, with an `error` | `stream_error` |
//! | open | finish reason `abort` or `error`; NaN stop | `aborted` |
//! | open | data that is no JSON, or no UTF-8; an endless line | `malformed` |
//! | open | token, usage, finish reason | open; counted |
//! | open | `[DONE]` | `succeeded` if a token came, else `empty`; nothing after it is read |
//! | open | neat end, every choice finished | `succeeded` if a token came, else `empty` |
//! | open | neat end, events but a choice unfinished | `truncated` |
//! | open | neat end, no event | `stream_error` if the body is JSON with an error; `malformed` if it is any other text; `empty` if it is none |
//! | open | break | `truncated` |
//! | sent, open | limit reached | `timeout` |
//! | sent, open | the user's will | `cancelled` |
//!
//! The first failure latches: whatever comes after it is read as evidence and changes nothing.

use super::{
    Failure, FailurePhase, Marks, Outcome, ReadEvidence, Rule, TimeoutKind, Times, TokenCounts, WireCounts,
    evidence::Kept, native::Native, tally::Tally, transcript::Transcript,
};
use crate::{
    config::Api,
    protocol::{Choice, Chunk, ErrorIn, Finish, ServerError, Usage, error_in_body, error_in_json},
    sse::{Item, Parser},
};

/// Longest body of an answer that is not streamed.
const MAX_WHOLE_BYTES: usize = 64 * 1024 * 1024;
/// Head of a body in which an error is looked for where no event came.
const HEAD_BYTES: usize = 64 * 1024;

/// What a machine must know of its request.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The API asked.
    pub api: Api,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Tokens asked for per choice, where known: a bound for what the server may claim.
    pub requested_tokens: Option<u64>,
    /// Whether the text is kept.
    pub keep_text: bool,
    /// Bytes of the body kept as evidence.
    pub keep_bytes: usize,
}

/// Whether more of the body is of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Read on.
    Continue,
    /// `[DONE]` came: the verdict has fallen.
    Complete,
}

/// What one event meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// It brought answer text or a tool call.
    Answer,
    /// It brought reasoning.
    Reasoning,
    /// It opened the answer without a token.
    Role,
    /// It ended a choice, for this reason.
    Finish(String),
    /// It brought token counts alone.
    Usage,
    /// It said an error.
    Error,
    /// It could not be read.
    Malformed,
    /// The end mark.
    Done,
    /// It brought nothing that counts.
    Nothing,
}

/// All that was read of one request.
#[derive(Clone, Debug)]
pub struct Reading {
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not succeed.
    pub failure: Option<Failure>,
    /// When what happened; `scheduled_ms` is the dispatch, as the machine knows no schedule.
    pub times: Times,
    /// HTTP status.
    pub status: Option<u16>,
    /// The server's name for the request.
    pub response_id: Option<String>,
    /// Finish reason of the first choice.
    pub finish_reason: Option<String>,
    /// Frames with tokens.
    pub marks: Marks,
    /// Token counts.
    pub tokens: TokenCounts,
    /// Usage as sent.
    pub usage: Option<Usage>,
    /// What came over the wire.
    pub wire: WireCounts,
    /// The reads kept, if it failed.
    pub reads: Vec<ReadEvidence>,
    /// Bytes not kept.
    pub dropped_bytes: u64,
    /// Position among the events with data of the one that brought the first token.
    pub first_token_event: Option<u32>,
    /// Text, if it was asked to be kept.
    pub transcript: Option<Transcript>,
}

/// The machine.
#[derive(Clone, Debug)]
pub struct Machine {
    spec: Spec,
    times: Times,
    parser: Parser,
    verdict: Option<(Outcome, Option<Failure>)>,
    status: Option<u16>,
    wire: WireCounts,
    tally: Tally,
    kept: Kept,
    /// Where no event has come: the beginning of the body. An answer that is not streamed: all of it.
    head: Vec<u8>,
    foreign: bool,
    response_id: Option<String>,
    finish_reason: Option<String>,
    /// Choices seen and finished, as bit sets of their indexes (beyond 63 they share a bit).
    choices_seen: u64,
    choices_finished: u64,
    native: Native,
    first_token_event: Option<u32>,
    transcript: Option<Transcript>,
}

impl Machine {
    /// A request that was just dispatched.
    pub fn new(spec: Spec, dispatched_ms: f64) -> Self {
        Self {
            spec,
            times: Times {
                scheduled_ms: dispatched_ms,
                dispatched_ms,
                ..Times::default()
            },
            parser: Parser::default(),
            verdict: None,
            status: None,
            wire: WireCounts::default(),
            tally: Tally::new(),
            kept: Kept::new(spec.keep_bytes),
            head: Vec::new(),
            foreign: false,
            response_id: None,
            finish_reason: None,
            choices_seen: 0,
            choices_finished: 0,
            native: Native::default(),
            first_token_event: None,
            transcript: spec.keep_text.then(Transcript::default),
        }
    }

    /// Tokens so far: by the server's running count where it tells one, else frames.
    pub fn tokens_so_far(&self) -> u64 {
        self.tally.so_far()
    }

    /// The verdict, if it has fallen.
    pub fn outcome(&self) -> Option<Outcome> {
        self.verdict.as_ref().map(|(outcome, _)| *outcome)
    }

    /// The response headers came.
    pub fn headers(&mut self, status: u16, t_ms: f64) {
        self.status = Some(status);
        self.times.headers_ms = Some(t_ms);
        if !(200..300).contains(&status) {
            // The message follows with the body.
            self.fail(Outcome::HttpError, Rule::StatusNot2xx, ServerError::default(), t_ms);
        }
    }

    /// A read of the body returned bytes.
    pub fn read(&mut self, bytes: &[u8], t_ms: f64) -> Flow {
        self.read_and_tell(bytes, t_ms, &mut |_, _, _| {})
    }

    /// As [`Machine::read`], and tells what each event meant: its name, its data, its meaning.
    pub fn read_and_tell(&mut self, bytes: &[u8], t_ms: f64, tell: &mut dyn FnMut(&[u8], &[u8], Meaning)) -> Flow {
        if bytes.is_empty() || self.times.done_ms.is_some() {
            return if self.times.done_ms.is_some() {
                Flow::Complete
            } else {
                Flow::Continue
            };
        }
        self.times.first_byte_ms.get_or_insert(t_ms);
        self.wire.reads += 1;
        self.wire.bytes += bytes.len() as u64;
        self.kept.add(bytes, t_ms);
        if self.is_whole() {
            let room = MAX_WHOLE_BYTES - self.head.len();
            self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
            return Flow::Continue;
        }
        if self.wire.events == 0 && self.head.len() < HEAD_BYTES {
            let room = HEAD_BYTES - self.head.len();
            self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
        }
        let mut parser = std::mem::take(&mut self.parser);
        parser.push(bytes, |item| self.item(item, t_ms, false, tell));
        self.parser = parser;
        if self.wire.events > 0 && !self.head.is_empty() {
            self.head = Vec::new();
        }
        if self.times.done_ms.is_some() {
            Flow::Complete
        } else {
            Flow::Continue
        }
    }

    /// The body ended neatly.
    pub fn eof(&mut self, t_ms: f64) {
        self.eof_and_tell(t_ms, &mut |_, _, _| {});
    }

    /// As [`Machine::eof`], and tells what an event without its blank line meant.
    pub fn eof_and_tell(&mut self, t_ms: f64, tell: &mut dyn FnMut(&[u8], &[u8], Meaning)) {
        if self.is_whole() {
            self.end_of_whole(t_ms);
            return;
        }
        self.flush(t_ms, tell);
        if self.verdict.is_some() {
            self.times.ended_ms = self.times.done_ms.unwrap_or(t_ms);
        } else if self.wire.events == 0 {
            self.end_without_events(t_ms);
        } else if self.choices_seen != 0 && self.choices_finished == self.choices_seen {
            self.complete(t_ms);
        } else {
            let message = "the stream ended without finish_reason and [DONE]";
            self.fail(
                Outcome::Truncated,
                Rule::EndWithoutFinish,
                ServerError::plain(message),
                t_ms,
            );
        }
    }

    /// The fetch was rejected, or the connection broke; the browser's words.
    pub fn broken(&mut self, words: &str, t_ms: f64) {
        if self.times.headers_ms.is_none() {
            self.fail(Outcome::Network, Rule::FetchRejected, ServerError::plain(words), t_ms);
            return;
        }
        if self.is_whole() {
            self.message_of_status();
        } else {
            self.flush(t_ms, &mut |_, _, _| {});
        }
        let message = format!("the connection broke: the stream ended without finish_reason and [DONE] ({words})");
        self.fail(
            Outcome::Truncated,
            Rule::ConnectionBroke,
            ServerError::plain(&message),
            t_ms,
        );
    }

    /// One of the client's limits was reached.
    pub fn timeout(&mut self, kind: TimeoutKind, t_ms: f64) {
        self.message_of_status();
        let waited_s = (t_ms - self.times.dispatched_ms) / 1000.0;
        let (rule, message) = match kind {
            TimeoutKind::FirstByte => (
                Rule::FirstByteTimeout,
                format!("no end: no byte of the answer after {waited_s:.1} s"),
            ),
            TimeoutKind::Stall => (
                Rule::StallTimeout,
                format!("no end: the stream stood still, {waited_s:.1} s after dispatch"),
            ),
            TimeoutKind::Total => (Rule::TotalTimeout, format!("no end after {waited_s:.1} s")),
        };
        self.fail(Outcome::Timeout, rule, ServerError::plain(&message), t_ms);
    }

    /// Ended by the user or by the end of the run.
    pub fn cancel(&mut self, t_ms: f64) {
        self.message_of_status();
        self.fail(Outcome::Cancelled, Rule::Cancelled, ServerError::default(), t_ms);
    }

    /// What was read. Call once the verdict has fallen; a request without one is cancelled.
    pub fn finish(mut self) -> Reading {
        if self.verdict.is_none() {
            self.cancel(self.times.dispatched_ms);
        }
        let (outcome, failure) = self.verdict.unwrap_or((Outcome::Cancelled, None));
        let choices = u64::from(self.choices_seen.count_ones().max(1));
        let requested = self.spec.requested_tokens.map(|tokens| tokens.saturating_mul(choices));
        self.wire.coalesced_frames = self.tally.coalesced();
        let usage = self.tally.usage();
        let (marks, tokens) = self.tally.finish(self.spec.api, requested, self.wire.bytes);
        let (reads, dropped_bytes) = if outcome == Outcome::Succeeded {
            (Vec::new(), 0)
        } else {
            self.kept.into_reads()
        };
        Reading {
            outcome,
            failure,
            times: self.times,
            status: self.status,
            response_id: self.response_id,
            finish_reason: self.finish_reason,
            marks,
            tokens,
            usage,
            wire: self.wire,
            reads,
            dropped_bytes,
            first_token_event: self.first_token_event,
            transcript: self.transcript,
        }
    }

    /// Whether the body is one document and no stream: an error's, or an answer that was not to be streamed.
    fn is_whole(&self) -> bool {
        !self.spec.stream || self.status.is_some_and(|status| !(200..300).contains(&status))
    }

    fn fail(&mut self, outcome: Outcome, rule: Rule, error: ServerError, t_ms: f64) {
        self.times.ended_ms = t_ms;
        if self.verdict.is_some() {
            return;
        }
        let phase = if self.times.headers_ms.is_none() {
            FailurePhase::BeforeHeaders
        } else if self.tally.frames() == 0 {
            FailurePhase::BeforeFirstToken
        } else {
            FailurePhase::AfterTokens
        };
        let failure = Failure {
            rule,
            phase,
            token_frames_before: self.tally.frames(),
            message: error.message,
            code: error.code,
            kind: error.kind,
            at_ms: t_ms,
        };
        self.verdict = Some((outcome, Some(failure)));
    }

    /// A stream that is complete by its own word.
    fn complete(&mut self, t_ms: f64) {
        self.times.ended_ms = t_ms;
        if self.verdict.is_some() {
            return;
        }
        if self.tally.frames() > 0 {
            self.verdict = Some((Outcome::Succeeded, None));
        } else {
            let message = "the answer ended without one token";
            self.fail(Outcome::Empty, Rule::NoToken, ServerError::plain(message), t_ms);
        }
    }

    fn flush(&mut self, t_ms: f64, tell: &mut dyn FnMut(&[u8], &[u8], Meaning)) {
        let mut parser = std::mem::take(&mut self.parser);
        parser.finish(|item| self.item(item, t_ms, true, tell));
    }

    fn item(&mut self, item: Item<'_>, t_ms: f64, at_end: bool, tell: &mut dyn FnMut(&[u8], &[u8], Meaning)) {
        if self.times.done_ms.is_some() {
            return;
        }
        match item {
            Item::Event { name, data } => {
                let meaning = self.event(name, data, t_ms, at_end);
                self.wire.events += 1;
                tell(name, data, meaning);
            }
            Item::Foreign(line) => {
                self.foreign |= !line.trim_ascii().is_empty();
                if line.trim_ascii_start().starts_with(b"{")
                    && let Some(error) = error_in_json(line)
                {
                    self.fail(Outcome::StreamError, Rule::ErrorBody, error, t_ms);
                }
            }
            Item::TooLong => {
                let message = "a line of more than 16 MiB";
                self.fail(Outcome::Malformed, Rule::LineTooLong, ServerError::plain(message), t_ms);
            }
        }
    }

    /// One event. `at_end`: the body ended in it, so that what is no JSON is cut and not wrong.
    fn event(&mut self, name: &[u8], data: &[u8], t_ms: f64, at_end: bool) -> Meaning {
        let trimmed = data.trim_ascii();
        if trimmed == b"[DONE]" {
            self.times.done_ms = Some(t_ms);
            self.complete(t_ms);
            return Meaning::Done;
        }
        if trimmed.is_empty() && name != b"error" {
            return Meaning::Nothing;
        }
        let Ok(text) = std::str::from_utf8(trimmed) else {
            if !at_end {
                let message = format!("a data line is no UTF-8: {}", start_of(trimmed));
                self.fail(Outcome::Malformed, Rule::NotUtf8, ServerError::plain(&message), t_ms);
            }
            return Meaning::Malformed;
        };
        let chunk = match Chunk::parse(text) {
            Ok(chunk) => chunk,
            Err(_) if name == b"error" => {
                self.fail(Outcome::StreamError, Rule::ErrorEvent, ServerError::plain(text), t_ms);
                return Meaning::Error;
            }
            Err(_) if at_end => return Meaning::Malformed,
            Err(error) => {
                let message = format!("a data line is no JSON ({error}): {}", start_of(trimmed));
                self.fail(Outcome::Malformed, Rule::NotJson, ServerError::plain(&message), t_ms);
                return Meaning::Malformed;
            }
        };
        let said = chunk.error();
        if said.is_some() || name == b"error" {
            let (rule, error) = match said {
                Some(ErrorIn::Key(error)) => (Rule::ErrorKey, error),
                Some(ErrorIn::Object(error)) => (Rule::ErrorObject, error),
                None => (Rule::ErrorEvent, error_in_body(trimmed).unwrap_or_default()),
            };
            self.fail(Outcome::StreamError, rule, error, t_ms);
            return Meaning::Error;
        }
        if self.spec.api == Api::Generate {
            self.native_chunk(&chunk, t_ms)
        } else {
            self.openai_chunk(&chunk, t_ms)
        }
    }

    fn openai_chunk(&mut self, chunk: &Chunk<'_>, t_ms: f64) -> Meaning {
        if self.response_id.is_none() {
            self.response_id = chunk.id();
        }
        let usage = chunk.usage();
        if let Some(usage) = usage {
            self.tally.told(usage);
        }
        let running = usage
            .and_then(|usage| usage.completion)
            .and_then(|count| count.tokens());
        let (mut answer, mut reasoning, mut role) = (false, false, false);
        let mut finish = None;
        for choice in chunk.choices() {
            answer |= choice.has_answer();
            reasoning |= choice.has_reasoning();
            role |= choice.delta.has_role;
            if let Some(transcript) = &mut self.transcript {
                transcript.add(choice);
            }
            finish = self.choice_state(choice, t_ms).or(finish);
        }
        if answer || reasoning {
            self.token(answer, running, t_ms);
        } else if role && self.tally.frames() == 0 {
            self.times.role_ms.get_or_insert(t_ms);
        }
        match (answer, reasoning, finish) {
            (true, ..) => Meaning::Answer,
            (_, true, _) => Meaning::Reasoning,
            (.., Some(reason)) => Meaning::Finish(reason),
            _ if role => Meaning::Role,
            _ if usage.is_some() => Meaning::Usage,
            _ => Meaning::Nothing,
        }
    }

    /// Notes that a choice exists and whether it ended; returns its finish reason.
    fn choice_state(&mut self, choice: &Choice<'_>, t_ms: f64) -> Option<String> {
        let bit = 1 << choice.index().min(63);
        self.choices_seen |= bit;
        let finish = choice.finish()?;
        self.choices_finished |= bit;
        Some(self.finished(finish, choice.index() == 0, t_ms))
    }

    fn finished(&mut self, finish: Finish, first_choice: bool, t_ms: f64) -> String {
        if first_choice || self.finish_reason.is_none() {
            self.finish_reason = Some(finish.reason.clone());
        }
        if finish.nan {
            let message = "the scheduler stopped the request: NaN happened";
            self.fail(Outcome::Aborted, Rule::NanStop, ServerError::plain(message), t_ms);
        } else if finish.is_abort() {
            let mut error = finish.error.unwrap_or_default();
            let separator = if error.message.is_empty() { "" } else { ": " };
            error.message = format!("finish_reason {}{separator}{}", finish.reason, error.message);
            self.fail(Outcome::Aborted, Rule::AbortFinish, error, t_ms);
        }
        finish.reason
    }

    fn native_chunk(&mut self, chunk: &Chunk<'_>, t_ms: f64) -> Meaning {
        let meta = chunk.meta_info().unwrap_or_default();
        if self.response_id.is_none() {
            self.response_id = meta.id();
        }
        self.choices_seen |= 1;
        let usage = meta.usage();
        self.tally.told(usage);
        let finish = meta.finish().map(|finish| {
            self.choices_finished |= 1;
            self.finished(finish, true, t_ms)
        });
        // An abort's event repeats text or brings none: it is no token.
        let brought = self.native.take(chunk, &meta);
        if let Some(transcript) = &mut self.transcript {
            transcript.set_text(self.native.text());
        }
        if brought.token {
            self.token(true, brought.running, t_ms);
            return Meaning::Answer;
        }
        finish.map_or(
            if usage == Usage::default() {
                Meaning::Nothing
            } else {
                Meaning::Usage
            },
            Meaning::Finish,
        )
    }

    fn token(&mut self, answer: bool, running: Option<u64>, t_ms: f64) {
        // What comes after a failure is evidence, and no token of the request.
        if self.verdict.is_some() {
            return;
        }
        if self.times.first_token_ms.is_none() {
            self.times.first_token_ms = Some(t_ms);
            self.first_token_event = Some(self.wire.events);
        }
        if answer {
            self.times.first_answer_ms.get_or_insert(t_ms);
        }
        self.times.last_token_ms = Some(t_ms);
        self.tally
            .frame(self.wire.reads, t_ms - self.times.dispatched_ms, running);
    }

    /// The end of a body in which no event came.
    fn end_without_events(&mut self, t_ms: f64) {
        let head = std::mem::take(&mut self.head);
        if let Some(error) = error_in_json(&head) {
            self.fail(Outcome::StreamError, Rule::ErrorBody, error, t_ms);
        } else if self.foreign {
            let message = format!("the body is no event stream: {}", start_of(&head));
            self.fail(
                Outcome::Malformed,
                Rule::NotEventStream,
                ServerError::plain(&message),
                t_ms,
            );
        } else {
            self.complete(t_ms);
        }
    }

    /// The end of a body that is one document.
    fn end_of_whole(&mut self, t_ms: f64) {
        self.times.ended_ms = t_ms;
        self.message_of_status();
        if self.verdict.is_some() {
            return;
        }
        let body = std::mem::take(&mut self.head);
        if body.trim_ascii().is_empty() {
            self.complete(t_ms);
            return;
        }
        if let Some(error) = error_in_json(&body) {
            self.fail(Outcome::StreamError, Rule::ErrorBody, error, t_ms);
            return;
        }
        match std::str::from_utf8(&body).ok().and_then(|text| Chunk::parse(text).ok()) {
            Some(chunk) if self.spec.api == Api::Generate => _ = self.native_chunk(&chunk, t_ms),
            Some(chunk) => _ = self.openai_chunk(&chunk, t_ms),
            None => {
                let message = format!("the answer is no JSON: {}", start_of(&body));
                self.fail(Outcome::Malformed, Rule::NotJson, ServerError::plain(&message), t_ms);
                return;
            }
        }
        // All tokens came at once: there is no first-token time to report.
        (
            self.times.first_token_ms,
            self.times.first_answer_ms,
            self.first_token_event,
        ) = (None, None, None);
        if self.choices_seen != 0 && self.choices_finished == self.choices_seen || self.verdict.is_some() {
            self.complete(t_ms);
        } else {
            let message = "the answer has no finish_reason";
            self.fail(
                Outcome::Truncated,
                Rule::EndWithoutFinish,
                ServerError::plain(message),
                t_ms,
            );
        }
    }

    /// Puts what the body says into the failure of a status that is not 2xx.
    fn message_of_status(&mut self) {
        let Some((Outcome::HttpError, Some(failure))) = &mut self.verdict else {
            return;
        };
        let status = self.status.unwrap_or_default();
        let error = error_in_body(&self.head).unwrap_or_default();
        failure.message = match (error.message.as_str(), reason(status)) {
            ("", "") => format!("HTTP {status}"),
            ("", reason) => format!("HTTP {status} {reason}"),
            (message, _) => format!("HTTP {status}: {message}"),
        };
        failure.code = error.code.or_else(|| Some(status.to_string()));
        failure.kind = error.kind;
        self.head = Vec::new();
    }
}

fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("")
}

/// The beginning of something unreadable, for a message.
fn start_of(bytes: &[u8]) -> String {
    const SHOWN: usize = 120;
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]);
    let more = if bytes.len() > SHOWN { "…" } else { "" };
    format!("{}{more}", text.trim())
}
