//! The run over time, in steps that are easy to think of.

use super::Document;
use crate::metrics::{self, Timeline, Window};

/// Charts over time have about this many buckets.
const BUCKETS: f64 = 60.0;

/// Widths of a bucket, ms.
const WIDTHS: [f64; 13] = [
    10.0, 20.0, 50.0, 100.0, 200.0, 250.0, 500.0, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4,
];

/// The narrowest bucket of a whole run, ms.
const LEAST: f64 = 100.0;

impl Document {
    /// The whole run in about [`BUCKETS`] buckets of a round width.
    pub fn course(&self) -> Timeline {
        let bucket_ms = round_width((self.duration_ms / BUCKETS).max(LEAST));
        metrics::timeline(&self.requests, self.measured_from_ms, self.duration_ms, bucket_ms)
    }

    /// The same of a part of the run, its buckets as narrow as that allows.
    pub fn course_of(&self, part: &Window) -> Timeline {
        let bucket_ms = round_width(part.duration_ms() / BUCKETS);
        metrics::timeline_of_part(&self.requests, self.measured_from_ms, part, bucket_ms)
    }
}

/// The least of [`WIDTHS`] that is no narrower, ms.
fn round_width(least_ms: f64) -> f64 {
    WIDTHS.into_iter().find(|width| *width >= least_ms).unwrap_or(least_ms)
}
