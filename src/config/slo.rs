//! The service level objectives of a run: what a request must keep to be a good one.

use serde::{Deserialize, Serialize};

/// Limits for one request, ms. A request is good if it succeeded and keeps all that are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Slo {
    /// Longest time to first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_ms: Option<f64>,
    /// Longest time per output token after the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpot_ms: Option<f64>,
    /// Longest end-to-end latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e2e_ms: Option<f64>,
}

impl Slo {
    /// Whether no limit is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
