//! What the scripted endpoint truly did, for tests to compare a client's figures with.

use serde::{Deserialize, Serialize};

use super::{FaultKind, FrameKind};

/// One request. All times are ms since the Unix epoch, with fractions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestTruth {
    /// The server's name for it, as sent in every chunk.
    pub id: String,
    /// When its body had been read.
    pub arrival_unix_ms: f64,
    /// The fault it met.
    pub fault: Option<FaultKind>,
    /// HTTP status.
    pub status: u16,
    /// The model asked for.
    pub model: String,
    /// Prompt tokens as counted.
    pub prompt_tokens: u32,
    /// Tokens planned.
    pub tokens_planned: u32,
    /// Tokens handed to the socket.
    pub tokens_handed: u32,
    /// Frames handed to the socket.
    pub frames: Vec<FrameTruth>,
    /// How it ended.
    pub ended: Ended,
}

/// One frame that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameTruth {
    /// When the connection took it.
    pub handed_unix_ms: f64,
    /// Tokens in it.
    pub tokens: u32,
    /// What it was.
    pub kind: FrameKind,
    /// Its length.
    pub bytes: usize,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It is still going on.
    Running,
    /// To the end of its plan.
    Completed,
    /// Broken on purpose.
    Cut,
    /// The client went away first.
    ClientGone,
}
