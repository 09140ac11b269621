//! A distribution in few numbers: counts of buckets whose edges grow by a constant factor (as DDSketch, Masson et al.
//! 2019), so that each value is known to the same relative error.

use serde::{Deserialize, Serialize};

use crate::metrics::Sample;

/// Smallest value told from 0, ms.
const LEAST_MS: f64 = 1e-3;
/// More buckets than this are in no link of ours.
const MOST_BUCKETS: usize = 4000;

/// Bucket `i` holds the values in `(factor^(i−1), factor^i]`, ms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sketch(f64, i32, Vec<u32>);

impl Sketch {
    /// The sample to a relative error of `(factor − 1) / (factor + 1)`.
    pub fn of(sample: &Sample, factor: f64) -> Self {
        let index = |value: f64| (value.max(LEAST_MS).ln() / factor.ln()).ceil() as i32;
        let values = sample.values();
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return Self(factor, 0, Vec::new());
        };
        if !last.is_finite() {
            return Self(factor, 0, Vec::new());
        }
        let low = index(*first);
        let mut counts = vec![0_u32; (index(*last) - low + 1) as usize];
        let mut before = 0;
        for value in values {
            let up_to = sample.count_up_to(*value);
            let count = &mut counts[(index(*value) - low) as usize];
            *count = count.saturating_add(u32::try_from(up_to - before).unwrap_or(u32::MAX));
            before = up_to;
        }
        Self(factor, low, counts)
    }

    /// The sample again, each value in the middle of its bucket; `None` if this is no sketch.
    pub fn sample(&self) -> Option<Sample> {
        let Self(factor, low, counts) = self;
        let sound = (1.001..=4.0).contains(factor) && counts.len() <= MOST_BUCKETS && low.abs() <= 40_000;
        if !sound {
            return None;
        }
        let values = counts.iter().enumerate().map(|(i, n)| {
            let top = factor.powi(low + i as i32);
            (2.0 * top / (factor + 1.0), *n)
        });
        let sample = Sample::weighted(values.collect());
        let bounded = sample.values().iter().all(|value| *value <= super::MOST);
        bounded.then_some(sample)
    }
}
