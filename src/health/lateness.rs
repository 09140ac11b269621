//! How late a timer fires, in bounded memory.

/// A histogram of latenesses with buckets that grow by 10 %, from 0.01 ms to about 10 minutes.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    n: u64,
    max_ms: f64,
}

const SMALLEST_MS: f64 = 0.01;
const GROWTH: f64 = 1.1;
const BUCKETS: usize = 190;

impl Default for Lateness {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            n: 0,
            max_ms: 0.0,
        }
    }
}

impl Lateness {
    /// Adds one; a negative lateness (a clock's rounding) counts as none.
    pub fn add(&mut self, late_ms: f64) {
        let late_ms = late_ms.max(0.0);
        let bucket = if late_ms <= SMALLEST_MS {
            0.0
        } else {
            (late_ms / SMALLEST_MS).ln() / GROWTH.ln()
        };
        // The cast saturates; what is later than the last bucket is counted in it.
        self.counts[(bucket.ceil() as usize).min(BUCKETS - 1)] += 1;
        self.n += 1;
        self.max_ms = self.max_ms.max(late_ms);
    }

    /// How many were added.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The `p`-th percentile, `p` in 0–100, to 10 %: never below the true value, never above the largest seen.
    pub fn percentile(&self, p: f64) -> Option<f64> {
        let rank = (p / 100.0 * self.n as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if *count > 0 && seen >= rank {
                return Some((SMALLEST_MS * GROWTH.powi(bucket as i32)).min(self.max_ms));
            }
        }
        None
    }

    /// The largest, if any was added.
    pub fn max(&self) -> Option<f64> {
        (self.n > 0).then_some(self.max_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_added_is_not_available() {
        let late = Lateness::default();
        assert_eq!((late.n(), late.percentile(50.0), late.max()), (0, None, None));
    }

    #[test]
    fn percentiles_are_within_ten_percent_above() {
        let mut late = Lateness::default();
        (1..=1000).for_each(|i| late.add(f64::from(i) / 10.0));
        for (p, exact) in [(50.0, 50.0), (90.0, 90.0), (99.0, 99.0)] {
            let got = late.percentile(p).expect("a value");
            assert!((exact..=exact * 1.1001).contains(&got), "p{p}: {got}");
        }
        assert_eq!(late.max(), Some(100.0));
        assert_eq!(late.percentile(100.0), Some(100.0));
    }

    #[test]
    fn extremes_do_not_panic() {
        let mut late = Lateness::default();
        for value in [-5.0, 0.0, f64::MAX, f64::INFINITY] {
            late.add(value);
        }
        assert_eq!(late.n(), 4);
    }
}
