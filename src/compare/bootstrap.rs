//! The noise of a change, by the bootstrap (Efron 1979): both samples are drawn anew many times, and the middle 95 % of the
//! differences are the interval.

use rand::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{
    import::{By, Subject},
    metrics::Sample,
};

/// Samples drawn anew; fewer where the samples are large, so that the work stays bounded.
const DRAWS: usize = 1000;
const MOST_VALUES: usize = 4_000_000;
/// Too few values say nothing of their noise.
const FEWEST: usize = 10;

/// Two samples of one figure.
pub struct Pair {
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Pair {
    /// Those of a figure, where both have records: values per request, or rates per step of the run. Token gaps within a
    /// request hang together, so ITL has none.
    pub fn of(a: &Subject, b: &Subject, id: &str, by: By) -> Option<Self> {
        if by != By::Streamgauge {
            return None;
        }
        let values = |subject: &Subject| -> Option<Vec<f64>> {
            let one_each =
                |sample: &Sample| (sample.len() == sample.values().len() as u64).then(|| sample.values().to_vec());
            let samples = subject.samples.as_ref();
            match id {
                "output_throughput" => Some(subject.rates.clone()),
                "ttft_ms" => one_each(&samples?.ttft_ms),
                "ttfo_ms" => one_each(&samples?.ttfo_ms),
                "tpot_ms" => one_each(&samples?.tpot_ms),
                "e2e_ms" => one_each(&samples?.e2e_ms),
                _ => None,
            }
        };
        let pair = Self {
            before: values(a)?,
            after: values(b)?,
        };
        (pair.before.len() >= FEWEST && pair.after.len() >= FEWEST).then_some(pair)
    }

    /// The 95 % interval of the change of a statistic, as a share of `base`.
    pub fn interval(&self, stat: &str, base: f64) -> Option<(f64, f64)> {
        let p = match stat {
            "" | "mean" => None,
            "median" => Some(0.5),
            "p90" => Some(0.9),
            "p95" => Some(0.95),
            "p99" => Some(0.99),
            _ => return None,
        };
        if base == 0.0 {
            return None;
        }
        let values = self.before.len() + self.after.len();
        let draws = (MOST_VALUES / values).clamp(100, DRAWS);
        // Always the same seed: the same files give the same verdict.
        let mut rng = Pcg64Mcg::seed_from_u64(20);
        let mut drawn = Vec::new();
        let mut once = |values: &[f64]| {
            drawn.clear();
            drawn.extend((0..values.len()).map(|_| values[pick(&mut rng, values.len())]));
            match p {
                None => drawn.iter().sum::<f64>() / drawn.len() as f64,
                Some(p) => {
                    let rank = ((drawn.len() - 1) as f64 * p).round() as usize;
                    *drawn.select_nth_unstable_by(rank, f64::total_cmp).1
                }
            }
        };
        let differences: Vec<f64> = (0..draws).map(|_| once(&self.after) - once(&self.before)).collect();
        let differences = Sample::new(differences);
        Some((
            differences.percentile(2.5)? / base,
            differences.percentile(97.5)? / base,
        ))
    }
}

/// A position, by multiplication of the upper bits (Lemire 2019); its bias is beyond notice.
fn pick(rng: &mut Pcg64Mcg, n: usize) -> usize {
    ((u64::from(rng.next_u32()) * n as u64) >> 32) as usize
}
