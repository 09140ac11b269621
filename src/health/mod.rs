//! The client's verdict on itself: did the measuring side distort the figures?

pub mod calibration;
mod judge;
mod lateness;
mod monitor;

pub use lateness::Lateness;
pub use monitor::Monitor;

use serde::{Deserialize, Serialize};

/// How the measuring side did during a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Health {
    /// The verdict.
    pub verdict: Verdict,
    /// Why, if it is not *trustworthy*: each a sentence that says what was seen and what to do.
    pub reasons: Vec<String>,
    /// Whether the page is cross-origin isolated (finer clock).
    pub cross_origin_isolated: bool,
    /// Smallest step seen of the engine's clock, ms.
    pub clock_step_ms: Option<f64>,
    /// How late the engine's own timer fired, ms: median.
    pub timer_late_p50_ms: Option<f64>,
    /// 99th percentile of the same.
    pub timer_late_p99_ms: Option<f64>,
    /// Largest of the same.
    pub timer_late_max_ms: Option<f64>,
    /// How often the engine's event loop stood still for more than 50 ms.
    pub engine_stalls: u32,
    /// How long in all, ms.
    pub engine_stalled_ms: f64,
    /// Largest step of the wall clock against the monotonic one, ms: the computer slept, or its clock was set. 0 if none.
    pub clock_jump_max_ms: f64,
    /// How long requests waited in the client's own queue, from when they were due to their dispatch, ms: median.
    pub queue_p50_ms: Option<f64>,
    /// 99th percentile of the same.
    pub queue_p99_ms: Option<f64>,
    /// Largest of the same.
    pub queue_max_ms: Option<f64>,
    /// Longest stall of the page's event loop, ms. Drawing is the page's; the engine does not wait for it.
    pub page_stall_max_ms: Option<f64>,
    /// How long the page's event loop stood still in all, in stalls of more than 50 ms; ms.
    pub page_stalled_ms: f64,
    /// How long the tab was hidden, ms.
    pub hidden_ms: f64,
    /// Requests on the wire that were asked for.
    pub slots_asked: u32,
    /// Requests that could be on the wire.
    pub slots_had: u32,
    /// Requests that this browser was seen to have on the wire to one name, in a burst before the run. Absent where the
    /// server does not say that a burst costs it nothing: then the rule counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams_seen: Option<u32>,
    /// How long an OPTIONS request to the server took, ms: what a preflight may add to a request.
    pub options_ms: Option<f64>,
    /// Reads of response bodies.
    pub reads: u64,
    /// Reads per second in the busiest quarter of a second.
    pub reads_per_s_max: f64,
    /// Token frames that shared their read with an earlier one.
    pub coalesced_frames: u64,
    /// Token frames in all.
    pub token_frames: u64,
    /// Time spent on parsing, ms.
    pub parse_ms: f64,
    /// Length of the run so far, ms.
    pub elapsed_ms: f64,
}

impl Health {
    /// Reads per second over the run so far.
    pub fn reads_per_s(&self) -> Option<f64> {
        (self.elapsed_ms > 0.0 && self.reads > 0).then(|| self.reads as f64 * 1000.0 / self.elapsed_ms)
    }

    /// Token frames of ended requests per read; below 1 where many reads bring none.
    pub fn frames_per_read(&self) -> Option<f64> {
        (self.reads > 0 && self.token_frames > 0).then(|| self.token_frames as f64 / self.reads as f64)
    }

    /// Share of the run that the engine spent on reading streams.
    pub fn parse_share(&self) -> Option<f64> {
        (self.elapsed_ms > 0.0).then(|| self.parse_ms / self.elapsed_ms)
    }
}

/// Whether the figures of a run describe the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing was seen that would distort the figures.
    #[default]
    Trustworthy,
    /// Something may have distorted them.
    Suspect,
    /// The client, not the server, set the limit.
    ClientLimited,
}

impl Verdict {
    /// In words, as shown.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Trustworthy => "trustworthy",
            Verdict::Suspect => "suspect",
            Verdict::ClientLimited => "client-limited",
        }
    }
}
