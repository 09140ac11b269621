//! Statistics of one sample.

use serde::{Deserialize, Serialize};

/// A sorted sample without NaN.
#[derive(Clone, Debug, Default)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// Sorts the values.
    pub fn new(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// The sorted values.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The `p`-th percentile, `p` in 0–100, by linear interpolation between closest ranks
    /// (NumPy's default method). `None` if the sample is empty.
    pub fn percentile(&self, _p: f64) -> Option<f64> {
        todo!()
    }

    /// All the statistics that tables show.
    pub fn distribution(&self) -> Distribution {
        todo!()
    }
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
    /// Largest value.
    pub max: Option<f64>,
}
