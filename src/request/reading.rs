//! What the machine is told before a request, and what it tells after.

use super::{Failure, Marks, Outcome, ReadEvidence, Times, TokenCounts, ToolCall, WireCounts};
use crate::config::Api;
use crate::protocol::{ServerReport, Usage};

/// What the machine must know of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The API it goes to.
    pub api: Api,
    /// Whether a stream was asked.
    pub stream: bool,
    /// Most tokens asked per choice, if known; only to doubt a server's counts, never to credit tokens.
    pub requested_tokens: Option<u64>,
    /// Whether the answer's text is kept.
    pub keep_text: bool,
    /// Most bytes of the body that are kept as evidence.
    pub keep_bytes: usize,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            api: Api::Chat,
            stream: true,
            requested_tokens: None,
            keep_text: false,
            keep_bytes: 64 << 10,
        }
    }
}

/// How one request was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not succeed.
    pub failure: Option<Failure>,
    /// When things happened. `scheduled_ms` equals `dispatched_ms`: the machine knows nothing of schedules.
    pub times: Times,
    /// HTTP status, if headers came.
    pub status: Option<u16>,
    /// The server's name for the request.
    pub response_id: Option<String>,
    /// Finish reason of the first choice as sent; the last one if there were several.
    pub finish_reason: Option<String>,
    /// The frames with tokens.
    pub marks: Marks,
    /// How many tokens.
    pub tokens: TokenCounts,
    /// What came over the wire.
    pub wire: WireCounts,
    /// The reads of a request that did not succeed, within the bound.
    pub reads: Vec<ReadEvidence>,
    /// Bytes that came but are not in `reads`, because of the bound.
    pub dropped_bytes: u64,
    /// Number, from 0, of the event with data that brought the first token.
    pub first_token_event: Option<u32>,
    /// The last usage as sent, believed or not.
    pub usage: Option<Usage>,
    /// What the server told of itself.
    pub server: ServerReport,
    /// Answer of choice 0, if kept.
    pub text: String,
    /// Reasoning of choice 0, if kept.
    pub reasoning: String,
    /// Tool calls of choice 0, if kept.
    pub tool_calls: Vec<ToolCall>,
}
