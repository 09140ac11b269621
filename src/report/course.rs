//! The run over time, in steps that are easy to think of.

use super::Document;
use crate::metrics::{self, Timeline};

/// Charts over time have about this many buckets.
const BUCKETS: f64 = 60.0;

/// Widths of a bucket, ms.
const WIDTHS: [f64; 10] = [100.0, 200.0, 250.0, 500.0, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4];

impl Document {
    /// The whole run in about [`BUCKETS`] buckets of a round width.
    pub fn course(&self) -> Timeline {
        let bucket_ms = (self.duration_ms / BUCKETS).max(WIDTHS[0]);
        let bucket_ms = WIDTHS
            .into_iter()
            .find(|width| *width >= bucket_ms)
            .unwrap_or(bucket_ms);
        metrics::timeline(&self.requests, self.measured_from_ms, self.duration_ms, bucket_ms)
    }
}
