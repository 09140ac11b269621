//! The state machine of one request. It rejects: a success must be proved, a failure needs only to be seen.
//!
//! Time is a parameter: every input says when it happened, in ms since the run began.
//!
//! # States
//!
//! - **waiting**: dispatched, no headers yet
//! - **refused**: the status is not 2xx; the body is read for its message
//! - **open**: 2xx, no choice finished, or one of several is not
//! - **finished**: every choice that was seen has its finish reason
//! - **failed**: a failure has latched; bytes are still read and kept, for what came after it
//! - **over**: the verdict stands; every further input is ignored
//!
//! # Transitions
//!
//! | state | input | next | verdict (rule) |
//! |---|---|---|---|
//! | waiting | headers, 2xx | open | |
//! | waiting | headers, other status | refused | `http_error` latches (`status_not2xx`) |
//! | waiting | broken | over | `network` (`fetch_rejected`) |
//! | open, finished | token, role, usage, comment, blank data | same | |
//! | open | finish reason of the last open choice | finished | |
//! | open, finished | `error` that says something | failed | `stream_error` (`error_key`) |
//! | open, finished | `object: "error"` | failed | `stream_error` (`error_object`) |
//! | open, finished | `event: error` | failed | `stream_error` (`error_event`) |
//! | open, finished | a bare JSON document with an error | failed | `stream_error` (`error_body`) |
//! | open, finished | finish reason `abort` or `error` | failed | `aborted` (`abort_finish`) |
//! | open, finished | `matched_stop: "NaN happened"` | failed | `aborted` (`nan_stop`) |
//! | open, finished | data that is no JSON | failed | `malformed` (`not_json`) |
//! | open, finished | data that is no UTF-8 | failed | `malformed` (`not_utf8`) |
//! | open, finished | a line beyond 16 MiB | failed | `malformed` (`line_too_long`) |
//! | open, finished | `[DONE]` | over | `succeeded` if a token came, else `empty` (`no_token`) |
//! | finished | neat end | over | `succeeded` if a token came, else `empty` (`no_token`) |
//! | open | neat end, nothing at all came | over | `empty` (`no_token`) |
//! | open | neat end, only foreign lines came | over | `malformed` (`not_event_stream`) |
//! | open | neat end after events | over | `truncated` (`end_without_finish`) |
//! | open, finished | neat end inside an event's JSON | over | `truncated` (`end_without_finish`) |
//! | open, finished | broken | over | `truncated` (`connection_broke`) |
//! | waiting, open, finished | time-out | over | `timeout` (by its kind) |
//! | waiting, open, finished | cancel | over | `cancelled` (`cancelled`) |
//! | refused, failed | `[DONE]`, end, broken, time-out, cancel | over | the latched one |
//!
//! Before an end of any kind is judged, the parser is flushed: an error or `[DONE]` that had come, but for its line end,
//! has come. So a connection that breaks right after `[DONE]` is no failure.
//!
//! Where no stream was asked, the body is read whole at its end: no finish reason is `truncated`, no JSON is
//! `malformed`, and no time of a first token exists.

use std::ops::ControlFlow;

use super::frames::{Frames, Latched, Seen, said};
use super::kept::Kept;
use super::reading::{Reading, Spec};
use super::{Outcome, Rule, TimeoutKind, usage};
use crate::config::Api;
use crate::protocol::{ErrorInfo, describe_http_error, excerpt};
use crate::sse;

/// Most bytes of an error body that are read for its message.
const ERROR_BODY_LIMIT: usize = 64 << 10;
/// Most bytes of a whole (not streamed) answer.
const WHOLE_BODY_LIMIT: usize = 64 << 20;

/// Whether more of the body is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// Read on.
    Continue,
    /// Nothing that comes can matter any more: stop reading, do not wait for the end.
    Complete,
}

#[derive(Debug)]
enum Stage {
    Waiting,
    Refused {
        status: u16,
        body: Vec<u8>,
    },
    Stream,
    /// A whole answer is awaited.
    Whole {
        body: Vec<u8>,
    },
    Over,
}

/// How the reading ended.
enum End {
    Done,
    Eof,
    Broken(String),
    Timeout(TimeoutKind),
    Cancelled,
}

/// Reads one request; see the module's table.
#[derive(Debug)]
pub struct Machine {
    stage: Stage,
    status: Option<u16>,
    content_type: Option<String>,
    parser: sse::Parser,
    frames: Frames,
    kept: Kept,
    last_read_ms: f64,
    /// Output came in a whole answer.
    whole_output: bool,
    verdict: Option<Latched>,
}

impl Machine {
    /// A request that is dispatched now.
    pub fn new(spec: Spec, dispatched_ms: f64) -> Self {
        Self {
            stage: Stage::Waiting,
            status: None,
            content_type: None,
            parser: sse::Parser::new(),
            frames: Frames::new(spec, dispatched_ms),
            kept: Kept::new(spec.keep_bytes),
            last_read_ms: dispatched_ms,
            whole_output: false,
            verdict: None,
        }
    }

    /// The response headers came.
    pub fn headers(&mut self, status: u16, content_type: Option<&str>, at_ms: f64) {
        if !matches!(self.stage, Stage::Waiting) {
            return;
        }
        self.frames.times.headers_ms = Some(at_ms);
        self.last_read_ms = at_ms;
        self.status = Some(status);
        self.content_type = content_type.map(str::to_owned);
        self.stage = if !(200..300).contains(&status) {
            // The message is put in when the body has been read.
            self.frames
                .latch(Outcome::HttpError, Rule::StatusNot2xx, ErrorInfo::default(), at_ms);
            Stage::Refused {
                status,
                body: Vec::new(),
            }
        } else if self.frames.spec.stream {
            Stage::Stream
        } else {
            Stage::Whole { body: Vec::new() }
        };
    }

    /// Bytes of the body came.
    pub fn read(&mut self, bytes: &[u8], at_ms: f64) -> Flow {
        self.read_observed(bytes, at_ms, &mut |_| {})
    }

    /// As [`Machine::read`], and shows each event to `observe`.
    pub fn read_observed<F: FnMut(Seen<'_>)>(&mut self, bytes: &[u8], at_ms: f64, observe: &mut F) -> Flow {
        if matches!(self.stage, Stage::Over) {
            return Flow::Complete;
        }
        if bytes.is_empty() {
            return Flow::Continue;
        }
        self.kept.read(bytes, at_ms);
        self.last_read_ms = at_ms;
        let frames = &mut self.frames;
        frames.times.first_byte_ms.get_or_insert(at_ms);
        frames.wire.reads += 1;
        frames.wire.bytes += bytes.len() as u64;
        match &mut self.stage {
            Stage::Waiting | Stage::Over => Flow::Continue,
            Stage::Refused { body, .. } => {
                let room = ERROR_BODY_LIMIT - body.len();
                body.extend_from_slice(&bytes[..bytes.len().min(room)]);
                Flow::Continue
            }
            Stage::Whole { body } => {
                if body.len() + bytes.len() > WHOLE_BODY_LIMIT {
                    let message = said(format!("the answer is longer than {} MiB", WHOLE_BODY_LIMIT >> 20));
                    frames.latch(Outcome::Malformed, Rule::LineTooLong, message, at_ms);
                    self.end(End::Eof, at_ms, observe);
                    return Flow::Complete;
                }
                body.extend_from_slice(bytes);
                Flow::Continue
            }
            Stage::Stream => match self.parser.push(bytes, &mut |item| frames.item(item, at_ms, observe)) {
                Ok(ControlFlow::Continue(())) => Flow::Continue,
                Ok(ControlFlow::Break(())) => {
                    self.end(End::Done, at_ms, observe);
                    Flow::Complete
                }
                Err(error) => {
                    frames.latch(Outcome::Malformed, Rule::LineTooLong, said(error.to_string()), at_ms);
                    self.end(End::Eof, at_ms, observe);
                    Flow::Complete
                }
            },
        }
    }

    /// The body ended neatly.
    pub fn eof(&mut self, at_ms: f64) {
        self.end(End::Eof, at_ms, &mut |_| {});
    }

    /// As [`Machine::eof`], and shows what the end flushes.
    pub fn eof_observed<F: FnMut(Seen<'_>)>(&mut self, at_ms: f64, observe: &mut F) {
        self.end(End::Eof, at_ms, observe);
    }

    /// The fetch was rejected, or the body's stream broke; `message` is the browser's.
    pub fn broken(&mut self, message: &str, at_ms: f64) {
        self.end(End::Broken(message.to_owned()), at_ms, &mut |_| {});
    }

    /// One of the client's limits was reached.
    pub fn timeout(&mut self, kind: TimeoutKind, at_ms: f64) {
        self.end(End::Timeout(kind), at_ms, &mut |_| {});
    }

    /// The user or the end of the run stopped it.
    pub fn cancel(&mut self, at_ms: f64) {
        self.end(End::Cancelled, at_ms, &mut |_| {});
    }

    /// Whether the verdict stands.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Frames with tokens so far.
    pub fn token_frames(&self) -> u32 {
        self.frames.token_frames
    }

    /// Tokens so far, for a live view: as the server told with its frames, else one per frame.
    pub fn tokens_so_far(&self) -> u64 {
        self.frames.tokens_told.unwrap_or(self.frames.token_frames.into())
    }

    /// The moments so far.
    pub fn times(&self) -> &super::Times {
        &self.frames.times
    }

    /// When the last bytes came, or the headers, or the dispatch: what a stall limit counts from.
    pub fn last_read_ms(&self) -> f64 {
        self.last_read_ms
    }

    fn end<F: FnMut(Seen<'_>)>(&mut self, end: End, at_ms: f64, observe: &mut F) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Over => return,
            Stage::Waiting => {}
            Stage::Refused { status, body } => {
                if let Some(latched) = &mut self.frames.latched {
                    let ErrorInfo { message, code, kind } = describe_http_error(status, &body);
                    let failure = &mut latched.failure;
                    (failure.message, failure.code, failure.kind) = (message, code, kind);
                }
            }
            Stage::Stream => self.flush(&end, observe),
            Stage::Whole { body } => self.read_whole(&body, &end, at_ms, observe),
        }
        self.frames.times.ended_ms = if self.frames.done {
            self.frames.times.done_ms.unwrap_or(at_ms)
        } else {
            at_ms
        };
        self.judge(end, at_ms);
        self.verdict = self.frames.latched.take();
    }

    /// Hands the frames what the parser still holds, at the time at which it came.
    fn flush<F: FnMut(Seen<'_>)>(&mut self, end: &End, observe: &mut F) {
        let (frames, at_ms) = (&mut self.frames, self.last_read_ms);
        if frames.done {
            return;
        }
        frames.cut = !matches!(end, End::Eof);
        // A line too long would have failed in `read`.
        let _ = self.parser.finish(&mut |item| frames.item(item, at_ms, observe));
        if let Some(info) = frames.foreign.close() {
            frames.latch(Outcome::StreamError, Rule::ErrorBody, info, at_ms);
        }
    }

    /// Reads a whole answer. One that is an event stream after all is read as such, but has no times.
    fn read_whole<F: FnMut(Seen<'_>)>(&mut self, body: &[u8], end: &End, at_ms: f64, observe: &mut F) {
        let text = body.trim_ascii();
        let frames = &mut self.frames;
        let is_stream = [&b"data:"[..], b"event:", b":"]
            .iter()
            .any(|start| text.starts_with(start));
        if is_stream {
            if self
                .parser
                .push(body, &mut |item| frames.item(item, at_ms, observe))
                .is_ok_and(|flow| flow.is_continue())
            {
                self.flush(end, observe);
            }
        } else if !text.is_empty() {
            frames.cut = !matches!(end, End::Eof);
            let event = sse::Event {
                name: b"",
                data: text,
                flushed: true,
            };
            let _ = frames.item(sse::Item::Event(event), at_ms, observe);
            if let Some(latched) = &mut frames.latched {
                match latched.failure.rule {
                    Rule::ErrorKey | Rule::ErrorObject => latched.failure.rule = Rule::ErrorBody,
                    Rule::NotJson => {
                        latched.failure.message =
                            format!("the answer is not JSON: {}", excerpt(&String::from_utf8_lossy(text)))
                    }
                    _ => {}
                }
            }
        }
        let frames = &mut self.frames;
        self.whole_output = frames.token_frames > 0;
        frames.token_frames = 0;
        frames.marks = Default::default();
        frames.wire.coalesced_frames = 0;
        frames.first_token_event = None;
        let times = &mut frames.times;
        // All came at once: there is an end (E2E), but no first token.
        (times.role_ms, times.first_token_ms, times.first_answer_ms) = (None, None, None);
    }

    /// The verdict of an end that nothing earlier has decided.
    fn judge(&mut self, end: End, at_ms: f64) {
        let frames = &mut self.frames;
        let has_output = frames.token_frames > 0 || self.whole_output;
        let (outcome, rule, message) = match end {
            _ if frames.latched.is_some() => return,
            End::Eof if frames.torn => {
                let why = "the stream ended without finish_reason and [DONE], inside an event";
                let why = if frames.is_finished() {
                    "the stream ended inside an event, without [DONE]"
                } else {
                    why
                };
                (Outcome::Truncated, Rule::EndWithoutFinish, why.to_owned())
            }
            End::Done | End::Eof if frames.done || frames.is_finished() => {
                if has_output {
                    return;
                }
                (
                    Outcome::Empty,
                    Rule::NoToken,
                    "the stream ended neatly without one token".to_owned(),
                )
            }
            End::Done | End::Eof if frames.wire.events == 0 => match frames.foreign.describe() {
                Some(what) => {
                    let kind = self.content_type.as_deref().unwrap_or("no content type");
                    (
                        Outcome::Malformed,
                        Rule::NotEventStream,
                        format!("the body is not an event stream ({kind}): {what}"),
                    )
                }
                None => (
                    Outcome::Empty,
                    Rule::NoToken,
                    "the body ended without one token".to_owned(),
                ),
            },
            End::Done | End::Eof if !frames.any_chunk() => (
                Outcome::Empty,
                Rule::NoToken,
                "the stream ended without one token".to_owned(),
            ),
            End::Done | End::Eof => {
                let message = "the stream ended without finish_reason and [DONE]";
                let instead = frames
                    .foreign
                    .describe()
                    .map(|what| format!("{message}; this came instead: {what}"));
                (
                    Outcome::Truncated,
                    Rule::EndWithoutFinish,
                    instead.unwrap_or_else(|| message.to_owned()),
                )
            }
            _ if frames.done => {
                if has_output {
                    return;
                }
                (
                    Outcome::Empty,
                    Rule::NoToken,
                    "the stream ended neatly without one token".to_owned(),
                )
            }
            End::Broken(message) if frames.times.headers_ms.is_none() => {
                (Outcome::Network, Rule::FetchRejected, message)
            }
            End::Broken(message) => {
                let lead = match frames.is_finished() {
                    true => "the connection broke before [DONE]",
                    false => "the connection broke: the stream ended without finish_reason and [DONE]",
                };
                let message = if message.is_empty() {
                    lead.to_owned()
                } else {
                    format!("{lead} ({message})")
                };
                (Outcome::Truncated, Rule::ConnectionBroke, message)
            }
            End::Timeout(kind) => {
                let (rule, message) = match kind {
                    TimeoutKind::FirstByte => (
                        Rule::FirstByteTimeout,
                        "no end within the time limit: no byte of the body came",
                    ),
                    TimeoutKind::Stall => (
                        Rule::StallTimeout,
                        "no end within the time limit: the stream paused for too long",
                    ),
                    TimeoutKind::Total => (Rule::TotalTimeout, "no end within the time limit of the whole request"),
                };
                (Outcome::Timeout, rule, message.to_owned())
            }
            End::Cancelled => (Outcome::Cancelled, Rule::Cancelled, "cancelled".to_owned()),
        };
        frames.latch(outcome, rule, said(message), at_ms);
    }

    /// The reading. A request that has no end yet is read as one that broke now.
    pub fn finish(mut self) -> Reading {
        if !self.is_over() {
            self.broken("", self.last_read_ms);
        }
        let frames = self.frames;
        let requested = frames
            .spec
            .requested_tokens
            .map(|tokens| tokens.saturating_mul(frames.choice_count()));
        let native_ids_only = frames.spec.api == Api::Generate && frames.text_bytes == 0;
        let mut tokens = usage::judge(
            frames.usage.as_ref(),
            frames.native_usage.as_ref(),
            usage::Seen {
                frames: frames.token_frames,
                output: frames.token_frames > 0 || self.whole_output,
                text_bytes: (!native_ids_only).then_some(frames.text_bytes),
                requested,
            },
        );
        tokens.spec_accept_length = frames.server.spec_accept_length;
        tokens.spec_accept_rate = frames.server.spec_accept_rate;
        let mut marks = frames.marks;
        if tokens.suspect.is_some() {
            // Counts per frame come from the same figures: what is not believed at the end was wrong all along.
            marks.tokens = Vec::new();
        }
        let (outcome, failure) = match self.verdict {
            Some(latched) => (latched.outcome, Some(latched.failure)),
            None => (Outcome::Succeeded, None),
        };
        let kept = if failure.is_some() { self.kept } else { Kept::new(0) };
        let (reads, dropped_bytes) = kept.into_evidence();
        let text = match (frames.spec.keep_text, frames.spec.api) {
            (false, _) => String::new(),
            (true, Api::Generate) if frames.answer.text.as_bytes().is_empty() => {
                frames.native.into_text().into_string()
            }
            (true, _) => frames.answer.text.clone().into_string(),
        };
        Reading {
            outcome,
            failure,
            times: frames.times,
            status: self.status,
            response_id: frames.response_id,
            finish_reason: frames.finish_reason,
            marks,
            tokens,
            wire: frames.wire,
            reads,
            dropped_bytes,
            first_token_event: frames.first_token_event,
            usage: frames.usage.or(frames.native_usage),
            server: frames.server,
            text,
            reasoning: frames.answer.reasoning.clone().into_string(),
            tool_calls: frames.answer.into_tool_calls(),
        }
    }
}

#[cfg(test)]
mod tests;
