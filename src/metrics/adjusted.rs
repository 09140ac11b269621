//! Percentiles that neither failures nor the client's own queue can flatter.

use serde::Serialize;

use super::{
    Sample,
    latencies::{e2e_ms, ttft_ms},
};
use crate::request::{Outcome, RequestRecord};

/// One latency in three readings.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted {
    /// Over successes, from dispatch.
    pub raw: Sample,
    /// Failed requests that ended by themselves; each stands behind all values of an error-adjusted percentile.
    pub failed: u64,
    /// Over successes, from the moment the load wanted the request sent: with the time in the client's own queue, so that
    /// a server that slows the client down does not hide the waiting it causes (coordinated omission).
    pub from_schedule: Sample,
}

/// One percentile in three readings, ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AdjustedPercentile {
    /// Over successes, from dispatch.
    pub raw: Option<f64>,
    /// With each failed request as one that never answered; absent if the percentile falls on such a request.
    pub error_adjusted: Option<f64>,
    /// From the schedule instead of the dispatch.
    pub co_adjusted: Option<f64>,
}

impl Adjusted {
    /// The `p`-th percentile in three readings.
    pub fn percentile(&self, p: f64) -> AdjustedPercentile {
        AdjustedPercentile {
            raw: self.raw.percentile(p),
            error_adjusted: self.raw.percentile_before(p, self.failed),
            co_adjusted: self.from_schedule.percentile(p),
        }
    }
}

/// TTFT and E2E of the measured requests (no warm-up) in three readings.
pub fn adjusted(records: &[RequestRecord]) -> (Adjusted, Adjusted) {
    let measured = || records.iter().filter(|r| !r.warmup);
    let failed = measured().filter(|r| r.outcome.is_failure()).count() as u64;
    let of = |latency: fn(&RequestRecord) -> Option<f64>| {
        let successes = || measured().filter(|r| r.outcome == Outcome::Succeeded);
        let queued = |r: &RequestRecord| Some(latency(r)? + (r.times.dispatched_ms - r.times.scheduled_ms));
        Adjusted {
            raw: Sample::new(successes().filter_map(latency).collect()),
            failed,
            from_schedule: Sample::new(successes().filter_map(queued).collect()),
        }
    };
    (of(ttft_ms), of(e2e_ms))
}
