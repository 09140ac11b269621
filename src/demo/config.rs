//! How the scripted endpoint behaves.

use serde::{Deserialize, Serialize};

/// How the scripted endpoint behaves. Times in ms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DemoConfig {
    /// Time to the first token of a short prompt on an idle server.
    pub ttft_ms: f64,
    /// Added to it per 1,000 prompt tokens.
    pub prefill_ms_per_1k: f64,
    /// Mean time between tokens on an idle server.
    pub itl_ms: f64,
    /// Relative spread (standard deviation over mean) of that time and of the TTFT.
    pub jitter: f64,
    /// How much slower a token gets with a full batch, as a factor added (0.5: 50 % slower).
    pub load_slowdown: f64,
    /// Requests that run at a time; the rest wait in a queue.
    pub batch_limit: u32,
    /// Share of the output that is reasoning, 0 to 1.
    pub reasoning_share: f64,
    /// Which requests fail, and how.
    pub faults: Vec<FaultShare>,
}

impl Default for DemoConfig {
    fn default() -> Self {
        Self {
            ttft_ms: 60.0,
            prefill_ms_per_1k: 40.0,
            itl_ms: 12.0,
            jitter: 0.15,
            load_slowdown: 0.5,
            batch_limit: 16,
            reasoning_share: 0.0,
            faults: Vec::new(),
        }
    }
}

/// One kind of fault and the share of requests that meet it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultShare {
    /// The fault.
    pub kind: FaultKind,
    /// Share of requests, 0 to 1.
    pub share: f64,
}

/// A way to fail. The serialised names are those of the command line and of the request body's `demo_fault`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// HTTP 429 in a gateway's body shape.
    #[serde(rename = "http_429")]
    Http429,
    /// HTTP 500 in SGLang's body shape.
    #[serde(rename = "http_500")]
    Http500,
    /// HTTP 503 in SGLang's body shape.
    #[serde(rename = "http_503")]
    Http503,
    /// An error event before the first token, inside a 200 stream.
    ErrorFirst,
    /// An error event after some tokens, then usage and `[DONE]`.
    ErrorMid,
    /// Some tokens, then `finish_reason: "abort"`, usage and `[DONE]`.
    Abort,
    /// Some tokens, then the connection breaks.
    Cut,
    /// Some tokens, then a neat end without finish reason and `[DONE]`.
    NoFinish,
    /// A data line that is no JSON, after some tokens.
    MalformedJson,
    /// Finish, usage and `[DONE]` without one token.
    NoTokens,
    /// Some tokens, then silence on an open connection.
    Stall,
}
