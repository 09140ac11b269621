//! The run over time, in equal buckets.

use super::OutcomeCounts;
use crate::request::RequestRecord;

/// The run over time. Bucket `i` covers `[origin_ms + i·bucket_ms, origin_ms + (i+1)·bucket_ms)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Start of the first bucket, ms since the run began.
    pub origin_ms: f64,
    /// Width of a bucket, ms.
    pub bucket_ms: f64,
    /// Output tokens of successes that arrived in each bucket (a request's tokens spread over its frames).
    pub tokens: Vec<f64>,
    /// Token frames of requests that failed or were cancelled.
    pub discarded: Vec<f64>,
    /// Requests that ended in each bucket, by outcome.
    pub outcomes: Vec<OutcomeCounts>,
    /// Requests in flight, averaged over the bucket.
    pub in_flight: Vec<f64>,
}

/// Lays the measured requests (no warm-up) out over `[origin_ms, origin_ms + duration_ms]`.
pub fn timeline(_records: &[RequestRecord], _origin_ms: f64, _duration_ms: f64, _bucket_ms: f64) -> Timeline {
    todo!()
}
