//! What the engine tells the page while it works: batches, a few times a second, never single tokens.

use serde::{Deserialize, Serialize};

use crate::{
    health::Health,
    protocol::ServerLoad,
    report::{Ending, LoadSample, ServerFacts, Slots},
    request::RequestRecord,
};

/// One message from the engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineEvent {
    /// The run began.
    Started {
        /// ms since the Unix epoch.
        started_unix_ms: f64,
        /// Connections it will use.
        slots: Slots,
        /// What the server told of itself.
        server: ServerFacts,
    },
    /// The run goes on; 4 times a second, and once more before the end.
    Progress(Progress),
    /// Nothing is on the wire any more; the end is waited for until the server is idle too.
    Settling(ServerLoad),
    /// What the server's `/tokenize` made of the answers of measured requests: `(index, tokens)`.
    Recounted(Vec<(u32, u64)>),
    /// The run is over; nothing comes after this.
    Finished(RunEnd),
    /// The engine could not run at all; nothing comes after this.
    Failed {
        /// What happened and what to do.
        message: String,
    },
}

/// How far the run is, and what happened since the last message.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Progress {
    /// ms since the run began.
    pub elapsed_ms: f64,
    /// Whether the warm-up is still going on.
    pub warming_up: bool,
    /// Measured requests dispatched so far.
    pub dispatched: u32,
    /// Requests on the wire now.
    pub in_flight: u32,
    /// Requests that ended since the last message, warm-up included.
    pub records: Vec<RequestRecord>,
    /// Token frames that arrived since the last message, whatever becomes of their requests.
    pub tokens: Vec<TokenBucket>,
    /// What the server told of its load since the last message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_load: Vec<LoadSample>,
    /// The client's state so far.
    pub health: Health,
}

/// Token frames that arrived in one bucket of [`TokenBucket::WIDTH_MS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenBucket {
    /// The bucket covers `[index · WIDTH_MS, (index + 1) · WIDTH_MS)` since the run began.
    pub index: u32,
    /// Frames (or tokens, where the server tells) in it; buckets sent twice add up.
    pub tokens: u32,
}

impl TokenBucket {
    /// Width of a bucket, ms.
    pub const WIDTH_MS: f64 = 250.0;
}

/// How the run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunEnd {
    /// Completed or stopped.
    pub ending: Ending,
    /// End of the warm-up = start of the measured window, ms since the run began.
    pub measured_from_ms: f64,
    /// Length of the measured window, ms.
    pub duration_ms: f64,
    /// The client's verdict on itself.
    pub health: Health,
    /// What a reader of the result should know besides: fields the server refused, lanes that failed …
    pub notes: Vec<String>,
}
