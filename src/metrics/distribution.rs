//! Statistics of one sample.

use serde::{Deserialize, Serialize};

/// A sorted sample without NaN. A value may stand for several: 1.3 million token gaps take no more room than reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    values: Vec<f64>,
    /// How many values there are up to and including each; empty if each stands for itself alone.
    up_to: Vec<u64>,
}

impl Sample {
    /// Sorts the values; NaN is dropped.
    pub fn new(mut values: Vec<f64>) -> Self {
        values.retain(|v| !v.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        Self {
            values,
            up_to: Vec::new(),
        }
    }

    /// A sample of values that each occur so many times.
    pub fn weighted(mut values: Vec<(f64, u32)>) -> Self {
        values.retain(|(v, times)| !v.is_nan() && *times > 0);
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let up_to = if values.iter().all(|(_, times)| *times == 1) {
            Vec::new()
        } else {
            let mut sum = 0;
            values
                .iter()
                .map(|(_, times)| {
                    sum += u64::from(*times);
                    sum
                })
                .collect()
        };
        Self {
            values: values.into_iter().map(|(v, _)| v).collect(),
            up_to,
        }
    }

    /// The sorted values; one that stands for several is there once.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Size of the sample: a value that stands for several counts as several.
    pub fn len(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(self.values.len() as u64)
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How many values are at most `limit`.
    pub fn count_up_to(&self, limit: f64) -> u64 {
        match self.values.partition_point(|v| *v <= limit) {
            0 => 0,
            n if self.up_to.is_empty() => n as u64,
            n => self.up_to[n - 1],
        }
    }

    /// The `p`-th percentile, `p` in 0–100, by linear interpolation between closest ranks
    /// (NumPy's default method): rank `p/100 · (n − 1)`. `None` if the sample is empty.
    pub fn percentile(&self, p: f64) -> Option<f64> {
        self.percentile_before(p, 0)
    }

    /// The `p`-th percentile of the sample with `beyond` more values that are larger than any. `None` if it falls on, or
    /// between, those.
    pub fn percentile_before(&self, p: f64, beyond: u64) -> Option<f64> {
        if self.is_empty() || p.is_nan() {
            return None;
        }
        let last = self.len() + beyond - 1;
        let rank = p.clamp(0.0, 100.0) / 100.0 * last as f64;
        let below = (rank.floor() as u64).min(last);
        let t = rank - below as f64;
        let above = if t > 0.0 { (below + 1).min(last) } else { below };
        if above >= self.len() {
            return None;
        }
        let (a, b) = (self.at(below), self.at(above));
        // Written as NumPy does, so that the last bits agree as well.
        Some(if t >= 0.5 {
            b - (b - a) * (1.0 - t)
        } else {
            a + (b - a) * t
        })
    }

    /// All the statistics that tables show.
    pub fn distribution(&self) -> Distribution {
        let n = self.len();
        let mean = self.mean();
        Distribution {
            n: n as usize,
            mean,
            std: mean.and_then(|mean| {
                let squares: f64 = self.weights().map(|(v, w)| (v - mean) * (v - mean) * w).sum();
                finite((squares / n as f64).sqrt())
            }),
            min: self.values.first().copied(),
            p50: self.percentile(50.0),
            p90: self.percentile(90.0),
            p95: self.percentile(95.0),
            p99: self.percentile(99.0),
            p999: self.percentile(99.9),
            max: self.values.last().copied(),
        }
    }

    fn mean(&self) -> Option<f64> {
        finite(self.weights().map(|(v, w)| v * w).sum::<f64>() / self.len() as f64)
    }

    /// The value at a position of the sorted sample, each counted as often as it occurs.
    fn at(&self, position: u64) -> f64 {
        let index = if self.up_to.is_empty() {
            position as usize
        } else {
            self.up_to.partition_point(|n| *n <= position)
        };
        self.values[index]
    }

    fn weights(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let mut before = 0;
        self.values.iter().enumerate().map(move |(i, v)| {
            let up_to = self.up_to.get(i).copied().unwrap_or(before + 1);
            let weight = up_to - before;
            before = up_to;
            (*v, weight as f64)
        })
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The statistics that tables show. Absent where the sample is empty: never 0, never NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Size of the sample.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation, ddof 0.
    pub std: Option<f64>,
    /// Smallest value.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p999: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_sample_has_no_statistics() {
        let nothing = Distribution::default();
        assert_eq!(Sample::new(Vec::new()).distribution(), nothing);
        assert_eq!(Sample::new(vec![f64::NAN]).distribution(), nothing);
        assert_eq!(Sample::weighted(vec![(1.0, 0)]).distribution(), nothing);
        assert_eq!(Sample::default().percentile(50.0), None);
    }

    #[test]
    fn one_value_is_every_percentile_and_spreads_by_nothing() {
        let one = Sample::new(vec![7.5]).distribution();
        assert_eq!(one.n, 1);
        for value in [one.mean, one.min, one.p50, one.p90, one.p95, one.p99, one.p999, one.max] {
            assert_eq!(value, Some(7.5));
        }
        assert_eq!(one.std, Some(0.0));
    }

    #[test]
    fn a_weighted_value_counts_as_often_as_it_occurs() {
        let weighted = Sample::weighted(vec![(4.0, 3), (1.0, 2), (9.0, 1)]);
        let written_out = Sample::new(vec![1.0, 1.0, 4.0, 4.0, 4.0, 9.0]);
        assert_eq!(weighted.distribution(), written_out.distribution());
        for p in 0..=100 {
            assert_eq!(weighted.percentile(f64::from(p)), written_out.percentile(f64::from(p)));
        }
        for limit in [0.0, 1.0, 3.9, 4.0, 9.0, 10.0] {
            assert_eq!(weighted.count_up_to(limit), written_out.count_up_to(limit));
        }
    }

    #[test]
    fn values_beyond_all_others_move_the_percentiles_up_and_have_none_themselves() {
        let sample = Sample::new(vec![1.0, 2.0, 3.0, 4.0]);
        assert_eq!(sample.percentile_before(50.0, 1), Some(3.0));
        assert_eq!(sample.percentile_before(75.0, 1), Some(4.0));
        assert_eq!(sample.percentile_before(76.0, 1), None);
        assert_eq!(sample.percentile_before(100.0, 0), Some(4.0));
        assert_eq!(sample.percentile_before(50.0, 5), None);
        assert_eq!(Sample::default().percentile_before(0.0, 5), None);
    }

    #[test]
    fn figures_too_large_to_add_up_have_no_mean() {
        let huge = Sample::new(vec![f64::MAX, f64::MAX]).distribution();
        assert_eq!((huge.mean, huge.std), (None, None));
        assert_eq!(huge.max, Some(f64::MAX));
    }
}
