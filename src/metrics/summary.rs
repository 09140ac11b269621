//! What a run comes to.

use serde::{Deserialize, Serialize};

use super::Distribution;
use crate::request::{Outcome, RequestRecord};

/// How many requests ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts([u32; Outcome::ALL.len()]);

impl OutcomeCounts {
    /// Counts one more.
    pub fn add(&mut self, _outcome: Outcome) {
        todo!()
    }

    /// How many ended so.
    pub fn get(&self, _outcome: Outcome) -> u32 {
        todo!()
    }

    /// All of them: the requests sent.
    pub fn total(&self) -> u32 {
        todo!()
    }

    /// Those that failed: all but successes and cancellations.
    pub fn failed(&self) -> u32 {
        todo!()
    }

    /// Share of failures in all that ended by themselves (cancelled requests are in no rate), or `None`.
    pub fn failure_share(&self) -> Option<f64> {
        todo!()
    }
}

/// What a run comes to. Latencies and token figures are over successes alone, failures have figures of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Requests sent; the outcomes sum to it.
    pub sent: u32,
    /// Requests that succeeded.
    pub succeeded: u32,
    /// Requests that failed.
    pub failed: u32,
    /// Requests cancelled, in no rate.
    pub cancelled: u32,
    /// Outcome name → count, those that occurred.
    pub outcomes: std::collections::BTreeMap<String, u32>,
    /// Length of the measured window, ms.
    pub duration_ms: f64,
    /// Time to first token: dispatch → first token of any kind.
    pub ttft_ms: Distribution,
    /// Time to first answer token: dispatch → first token that is not reasoning.
    pub ttfo_ms: Distribution,
    /// Time per output token after the first: (last token − first token) / (output tokens − 1), per request.
    pub tpot_ms: Distribution,
    /// Inter-token latency: gaps between frames, divided by the tokens the later frame brought where known; over all requests.
    pub itl_ms: Distribution,
    /// End to end: dispatch → last token.
    pub e2e_ms: Distribution,
    /// Time in the client's own queue: scheduled → dispatched.
    pub queue_ms: Distribution,
    /// Successes per second.
    pub request_throughput: Option<f64>,
    /// Output tokens of successes per second.
    pub output_throughput: Option<f64>,
    /// Prompt tokens of successes per second, where the server counted them.
    pub input_throughput: Option<f64>,
    /// Output tokens of successes.
    pub output_tokens: u64,
    /// Prompt tokens of successes, where the server counted them.
    pub prompt_tokens: u64,
    /// Token frames that came in requests that then failed or were cancelled: counted nowhere else.
    pub discarded_frames: u64,
    /// Successes whose output tokens are an estimate (one per frame).
    pub estimated_token_counts: u32,
    /// Successes whose usage was not believed.
    pub suspect_token_counts: u32,
    /// Requests in flight on average: Σ (ended − dispatched) / duration.
    pub mean_concurrency: Option<f64>,
    /// Most requests in flight at any moment, by exact sweep.
    pub peak_concurrency: u32,
}

/// Computes the summary of measured requests (no warm-up) over a window of `duration_ms`.
pub fn summarize(_records: &[RequestRecord], _duration_ms: f64) -> Summary {
    todo!()
}
