//! How a request can end.

use serde::{Deserialize, Serialize};

/// How a request ended. The serialised names are those of the result document and the exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Intact stream, finish reason or `[DONE]`, no error, at least one token.
    Succeeded,
    /// The fetch was rejected before any header came.
    Network,
    /// A status outside 200–299.
    HttpError,
    /// An error event inside a 2xx response.
    StreamError,
    /// Finish reason `abort` or `error`, or the NaN stop.
    Aborted,
    /// The end came without finish reason and without `[DONE]`, or the connection broke.
    Truncated,
    /// A data line that is no JSON, invalid UTF-8, or no event stream at all.
    Malformed,
    /// A neat end without one token.
    Empty,
    /// The client's patience ended; [`TimeoutKind`] says which limit.
    Timeout,
    /// Ended by the user or by the end of the run; counts in no rate.
    Cancelled,
}

impl Outcome {
    /// All outcomes, in the order in which they are listed and stacked.
    pub const ALL: [Outcome; 10] = [
        Outcome::Succeeded,
        Outcome::HttpError,
        Outcome::StreamError,
        Outcome::Aborted,
        Outcome::Truncated,
        Outcome::Malformed,
        Outcome::Empty,
        Outcome::Timeout,
        Outcome::Network,
        Outcome::Cancelled,
    ];

    /// The name in the result document.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Succeeded => "succeeded",
            Outcome::Network => "network",
            Outcome::HttpError => "http_error",
            Outcome::StreamError => "stream_error",
            Outcome::Aborted => "aborted",
            Outcome::Truncated => "truncated",
            Outcome::Malformed => "malformed",
            Outcome::Empty => "empty",
            Outcome::Timeout => "timeout",
            Outcome::Cancelled => "cancelled",
        }
    }

    /// Whether this counts as a failure: everything but success and cancellation.
    pub fn is_failure(self) -> bool {
        !matches!(self, Outcome::Succeeded | Outcome::Cancelled)
    }
}

/// Which of the client's limits ended the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutKind {
    /// No byte of the body in time.
    FirstByte,
    /// Too long a pause between two reads.
    Stall,
    /// The whole took too long.
    Total,
}

/// How far the request had come when its failure was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailurePhase {
    /// No response header had come.
    BeforeHeaders,
    /// Headers had come, but no token.
    BeforeFirstToken,
    /// Tokens had come.
    AfterTokens,
}

/// The rule that decided. One variant per rule, so that every verdict can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The fetch was rejected before headers.
    FetchRejected,
    /// The status is outside 200–299.
    StatusNot2xx,
    /// The event's JSON has a non-empty `error`.
    ErrorKey,
    /// The event's JSON says `object: "error"`.
    ErrorObject,
    /// The event is named `error`.
    ErrorEvent,
    /// The event is no chunk and has the shape of an error: `detail`, `errors`, a message with a code.
    ErrorShape,
    /// The body is one JSON document with an error, not an event stream.
    ErrorBody,
    /// The finish reason is `abort` or `error`.
    AbortFinish,
    /// SGLang's NaN detector stopped the request (`matched_stop: "NaN happened"`).
    NanStop,
    /// The body ended without finish reason and without `[DONE]`.
    EndWithoutFinish,
    /// The connection broke before `[DONE]`.
    ConnectionBroke,
    /// A data line is no JSON.
    NotJson,
    /// A data line is not UTF-8.
    NotUtf8,
    /// The body is no event stream.
    NotEventStream,
    /// One line is longer than any server has reason to send.
    LineTooLong,
    /// A neat end without one token.
    NoToken,
    /// No byte of the body within the limit.
    FirstByteTimeout,
    /// A pause longer than the limit.
    StallTimeout,
    /// The total limit was reached.
    TotalTimeout,
    /// Stopped by the user or by the end of the run.
    Cancelled,
}

/// Why a request did not succeed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The rule that decided.
    pub rule: Rule,
    /// How far the request had come.
    pub phase: FailurePhase,
    /// Frames with tokens that had come before the failure.
    pub token_frames_before: u32,
    /// The server's or the browser's message, whole; empty if there was none.
    pub message: String,
    /// The server's error code, as text (`"503"`, `"model_not_found"`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// The server's error type (`"SERVICE_UNAVAILABLE"`).
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
    /// When it was seen, ms since the run began.
    pub at_ms: f64,
}
