//! The run over time, in equal buckets.

use super::{OutcomeCounts, Window, tokens::frame_tokens};
use crate::request::{Outcome, RequestRecord};

/// Most buckets a timeline has: a longer run gets wider ones.
const MOST_BUCKETS: f64 = 20_000.0;

/// The run over time. Bucket `i` covers `[origin_ms + i·bucket_ms, origin_ms + (i+1)·bucket_ms)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Start of the first bucket, ms since the run began.
    pub origin_ms: f64,
    /// The same, ms since the measured window began: 0 unless the timeline is of a part of the run.
    pub from_ms: f64,
    /// Width of a bucket, ms.
    pub bucket_ms: f64,
    /// Length of what is covered, ms. The last bucket ends there, so it may be shorter than the others.
    pub duration_ms: f64,
    /// Output tokens of successes that arrived in each bucket (a request's tokens spread over its frames).
    pub tokens: Vec<f64>,
    /// Token frames of requests that failed or were cancelled.
    pub discarded: Vec<f64>,
    /// Requests that ended in each bucket, by outcome.
    pub outcomes: Vec<OutcomeCounts>,
    /// Requests in flight, averaged over the bucket.
    pub in_flight: Vec<f64>,
}

impl Timeline {
    /// Length of a bucket, ms: that of all, but for a last one that the end cuts short.
    pub fn bucket_length_ms(&self, index: usize) -> f64 {
        let rest = self.duration_ms - index as f64 * self.bucket_ms;
        if rest > 0.0 && rest < self.bucket_ms {
            rest
        } else {
            self.bucket_ms
        }
    }
}

/// Lays the measured requests (no warm-up) out over `[origin_ms, origin_ms + duration_ms]`. What lies outside goes into
/// the first or last bucket, so that nothing is lost. Buckets are widened where there would be more than 20,000.
pub fn timeline(records: &[RequestRecord], origin_ms: f64, duration_ms: f64, bucket_ms: f64) -> Timeline {
    lay_out(records, origin_ms, duration_ms, bucket_ms, true)
}

/// The same for a part of the run, without what lies outside it; `measured_from_ms` is when the measured window began.
pub fn timeline_of_part(records: &[RequestRecord], measured_from_ms: f64, part: &Window, bucket_ms: f64) -> Timeline {
    Timeline {
        from_ms: part.from_ms - measured_from_ms,
        ..lay_out(records, part.from_ms, part.duration_ms(), bucket_ms, false)
    }
}

fn lay_out(records: &[RequestRecord], origin_ms: f64, duration_ms: f64, bucket_ms: f64, outside: bool) -> Timeline {
    let mut timeline = Timeline {
        origin_ms,
        bucket_ms,
        duration_ms,
        ..Timeline::default()
    };
    let usable = duration_ms.is_finite() && origin_ms.is_finite() && bucket_ms.is_finite();
    if !usable || duration_ms <= 0.0 || bucket_ms <= 0.0 {
        return timeline;
    }
    let widen = (duration_ms / bucket_ms / MOST_BUCKETS).ceil().max(1.0);
    timeline.bucket_ms *= widen;
    let buckets = (duration_ms / timeline.bucket_ms).ceil().clamp(1.0, MOST_BUCKETS) as usize;
    timeline.tokens = vec![0.0; buckets];
    timeline.discarded = vec![0.0; buckets];
    timeline.outcomes = vec![OutcomeCounts::default(); buckets];
    let width = timeline.bucket_ms;
    let covered = Window {
        from_ms: origin_ms,
        to_ms: origin_ms + duration_ms,
    };
    let bucket = |at_ms: f64| {
        let counts = outside || covered.contains(at_ms);
        // A cast from f64 saturates at 0 for what lies before the first bucket.
        counts.then(|| (((at_ms - origin_ms) / width) as usize).min(buckets - 1))
    };

    let mut flight = Flight::new(buckets);
    for record in records.iter().filter(|r| !r.warmup) {
        let times = &record.times;
        if let Some(bucket) = bucket(times.ended_ms) {
            timeline.outcomes[bucket].add(record.outcome);
        }
        let place = |at_ms: f64| (at_ms.clamp(origin_ms, origin_ms + duration_ms) - origin_ms) / width;
        flight.add(place(times.dispatched_ms), place(times.ended_ms));
        if record.outcome == Outcome::Succeeded {
            for (at_ms, tokens) in frame_tokens(record) {
                if let Some(bucket) = bucket(at_ms) {
                    timeline.tokens[bucket] += tokens;
                }
            }
        } else {
            for at_us in &record.marks.at_us {
                if let Some(bucket) = bucket(times.dispatched_ms + f64::from(*at_us) / 1000.0) {
                    timeline.discarded[bucket] += 1.0;
                }
            }
        }
    }
    timeline.in_flight = flight.finish();
    for (i, level) in timeline.in_flight.clone().into_iter().enumerate() {
        // The last bucket is averaged over the part of it that was.
        timeline.in_flight[i] = level * width / timeline.bucket_length_ms(i);
    }
    timeline
}

/// Sums intervals over buckets in time linear in both: whole buckets by differences, the two ends by their share.
struct Flight {
    share: Vec<f64>,
    change: Vec<i64>,
}

impl Flight {
    fn new(buckets: usize) -> Self {
        Self {
            share: vec![0.0; buckets],
            change: vec![0; buckets + 1],
        }
    }

    /// From and to in buckets.
    fn add(&mut self, from: f64, to: f64) {
        let last = self.share.len() - 1;
        if to.is_nan() || from.is_nan() || to <= from {
            return;
        }
        let (first_bucket, last_bucket) = ((from as usize).min(last), (to as usize).min(last));
        if first_bucket == last_bucket {
            self.share[first_bucket] += to - from;
            return;
        }
        self.share[first_bucket] += (first_bucket + 1) as f64 - from;
        self.share[last_bucket] += to - last_bucket as f64;
        self.change[first_bucket + 1] += 1;
        self.change[last_bucket] -= 1;
    }

    fn finish(self) -> Vec<f64> {
        let mut whole = 0;
        self.share
            .into_iter()
            .zip(self.change)
            .map(|(share, change)| {
                whole += change;
                share + whole as f64
            })
            .collect()
    }
}
