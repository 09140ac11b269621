//! The moments at which an open loop sends its requests: absolute, drawn from a seed before the run.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{
    config::{
        RunConfig,
        form::MAX_REQUESTS,
        load::{Arrival, Rate, Stage},
    },
    request::RequestRecord,
};

/// The moments of the measured requests, s after the start, in order; empty for a closed loop. `trace`: the times of the
/// workload's file, which [`Arrival::Trace`] takes.
///
/// The gaps are drawn with mean 1 (constant: 1; Poisson: exponential; gamma: of the shape asked, scale 1 / shape) and
/// stretched by the rate: request `k` goes when the integral of the rate reaches the sum of the gaps before it. The first
/// goes at once. The same seed gives the same moments natively and in a browser.
pub fn schedule(config: &RunConfig, trace: Vec<f64>) -> Vec<f64> {
    let load = &config.load;
    let (most, end_s) = match load.duration_s {
        None => (config.requests, f64::INFINITY),
        Some(duration_s) => (MAX_REQUESTS, duration_s),
    };
    if load.arrival == Arrival::Trace {
        return trace
            .into_iter()
            .take(most as usize)
            .filter(|at_s| *at_s < end_s)
            .collect();
    }
    let Some(mut gaps) = Gaps::new(load.arrival, config.seed) else {
        return Vec::new();
    };
    let mut moments = Vec::new();
    let mut sum = 0.0;
    while moments.len() < most as usize {
        match moment(&load.rate, sum) {
            Some(at_s) if at_s < end_s => moments.push(at_s),
            _ => break,
        }
        sum += gaps.next();
    }
    moments
}

/// When the integral of the rate reaches `sum` requests, s; `None` if it never does.
fn moment(rate: &Rate, sum: f64) -> Option<f64> {
    match rate {
        Rate::Steady { per_s } => Some(sum / per_s),
        Rate::Ramp {
            from_per_s,
            to_per_s,
            over_s,
            exponential,
        } => Some(ramp_moment(*from_per_s, *to_per_s, *over_s, *exponential, sum)),
        Rate::Stages { stages } => stage_moment(stages, sum),
    }
}

fn ramp_moment(from: f64, to: f64, over_s: f64, exponential: bool, sum: f64) -> f64 {
    if from == to {
        return sum / from;
    }
    let (ramp_sum, inside): (f64, f64) = if exponential {
        let growth = libm::log(to / from) / over_s;
        ((to - from) / growth, libm::log1p(growth * sum / from) / growth)
    } else {
        let slope = (to - from) / over_s;
        // The root of slope/2 · t² + from · t = sum, in the form that loses no digits.
        let root = libm::sqrt((from * from + 2.0 * slope * sum).max(0.0));
        ((from + to) / 2.0 * over_s, 2.0 * sum / (from + root))
    };
    if sum <= ramp_sum {
        inside.min(over_s)
    } else {
        over_s + (sum - ramp_sum) / to
    }
}

fn stage_moment(stages: &[Stage], sum: f64) -> Option<f64> {
    let (mut rest, mut begun_s) = (sum, 0.0);
    for stage in stages {
        let requests = stage.per_s * stage.for_s;
        if rest < requests {
            return Some(begun_s + rest / stage.per_s);
        }
        rest -= requests;
        begun_s += stage.for_s;
    }
    None
}

/// Gaps with mean 1.
struct Gaps {
    arrival: Arrival,
    rng: Pcg64Mcg,
}

impl Gaps {
    fn new(arrival: Arrival, seed: u64) -> Option<Self> {
        (arrival != Arrival::Closed).then(|| Self {
            arrival,
            // Another stream than that of the prompts.
            rng: Pcg64Mcg::seed_from_u64(seed ^ 0x5bd1_e995_7f4a_7c15),
        })
    }

    fn next(&mut self) -> f64 {
        match self.arrival {
            Arrival::Closed | Arrival::Constant | Arrival::Trace => 1.0,
            Arrival::Poisson => self.exponential(),
            Arrival::Gamma { burstiness } => self.gamma(burstiness) / burstiness,
        }
    }

    /// In (0, 1].
    fn uniform(&mut self) -> f64 {
        1.0 - self.rng.random::<f64>()
    }

    fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Gamma with this shape and scale 1, by Marsaglia and Tsang (2000); below shape 1 by their boost.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = libm::pow(self.uniform(), 1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.normal();
            let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
            if v > 0.0 && libm::log(self.uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }
}

/// How many requests per second were to be sent, and were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// By the schedule that was drawn.
    pub scheduled_per_s: f64,
    /// As they went out.
    pub sent_per_s: f64,
}

/// The rate of the measured requests (no warm-up) of an open loop, from the first to the last: gaps per second. `None`
/// for fewer than two.
pub fn offered(records: &[RequestRecord]) -> Option<Offered> {
    let measured = || records.iter().filter(|r| !r.warmup);
    let per_s = |moment: fn(&RequestRecord) -> f64| {
        let (mut first, mut last, mut n) = (f64::INFINITY, f64::NEG_INFINITY, 0u32);
        for record in measured() {
            first = first.min(moment(record));
            last = last.max(moment(record));
            n += 1;
        }
        (n > 1 && last > first).then(|| f64::from(n - 1) / ((last - first) / 1000.0))
    };
    Some(Offered {
        scheduled_per_s: per_s(|r| r.times.scheduled_ms)?,
        sent_per_s: per_s(|r| r.times.dispatched_ms)?,
    })
}

/// The first moments that seed 1 gives at 10 requests per second with gamma gaps of shape 0.5, in ns: the same natively and
/// in a browser.
pub const FIRST_MOMENTS_OF_SEED_1_NS: [u64; 4] = [0, 211_691_327, 215_027_288, 849_754_455];

/// The configuration that [`FIRST_MOMENTS_OF_SEED_1_NS`] belongs to.
pub fn reference_config() -> RunConfig {
    let mut config = RunConfig {
        requests: 4,
        seed: 1,
        ..RunConfig::default()
    };
    config.load.arrival = Arrival::Gamma { burstiness: 0.5 };
    config.load.rate = Rate::Steady { per_s: 10.0 };
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(arrival: Arrival, rate: &str, requests: u32, seed: u64) -> RunConfig {
        let mut config = RunConfig {
            requests,
            seed,
            ..RunConfig::default()
        };
        config.load.arrival = arrival;
        config.load.rate = rate.parse().unwrap();
        config
    }

    fn schedule(config: &RunConfig) -> Vec<f64> {
        super::schedule(config, Vec::new())
    }

    fn gaps(moments: &[f64]) -> Vec<f64> {
        moments.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    fn mean_and_variance(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n)
    }

    /// The largest distance between the sample's distribution and the one given (Kolmogorov and Smirnov).
    fn distance(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let at = |(i, v): (usize, &f64)| (cdf(*v) - i as f64 / n).abs().max(((i + 1) as f64 / n - cdf(*v)).abs());
        values.iter().enumerate().map(at).fold(0.0, f64::max)
    }

    /// Beyond this, at a level of 1 %, a sample of this size is not of the distribution.
    fn critical(n: usize) -> f64 {
        1.628 / (n as f64).sqrt()
    }

    const N: u32 = 20_000;

    #[test]
    fn constant_gaps_are_equal_without_drift() {
        let moments = schedule(&config(Arrival::Constant, "50", 3_001, 1));
        assert_eq!((moments[0], moments[3_000]), (0.0, 60.0));
        for (k, at_s) in moments.iter().enumerate() {
            assert!((at_s - k as f64 / 50.0).abs() < 1e-9);
        }
    }

    #[test]
    fn poisson_gaps_are_exponential() {
        for seed in [1, 2, 3] {
            let gaps = gaps(&schedule(&config(Arrival::Poisson, "4", N, seed)));
            let (mean, variance) = mean_and_variance(&gaps);
            assert!((mean * 4.0 - 1.0).abs() < 0.03, "{mean}");
            assert!((variance * 16.0 - 1.0).abs() < 0.1, "{variance}");
            let d = distance(gaps, |gap| 1.0 - (-4.0 * gap).exp());
            assert!(d < critical(N as usize), "{d}");
        }
    }

    #[test]
    fn gamma_gaps_have_the_shape_asked() {
        // With shape 2 the distribution is known in closed form: 1 − (1 + x) e^−x, x = 2 · rate · gap.
        let even = gaps(&schedule(&config(Arrival::Gamma { burstiness: 2.0 }, "10", N, 7)));
        let d = distance(even, |gap| 1.0 - (1.0 + 20.0 * gap) * (-20.0 * gap).exp());
        assert!(d < critical(N as usize), "{d}");
        // With shape 1/2 it is that of a squared normal: erf(√x), x = rate · gap / 2.
        let bursty = gaps(&schedule(&config(Arrival::Gamma { burstiness: 0.5 }, "10", N, 7)));
        let d = distance(bursty, |gap| libm::erf((5.0 * gap).sqrt()));
        assert!(d < critical(N as usize), "{d}");
        for burstiness in [0.25, 0.5, 1.0, 4.0] {
            let gaps = gaps(&schedule(&config(Arrival::Gamma { burstiness }, "10", N, 11)));
            let (mean, variance) = mean_and_variance(&gaps);
            assert!((mean * 10.0 - 1.0).abs() < 0.04, "{burstiness}: {mean}");
            assert!(
                (variance * 100.0 * burstiness - 1.0).abs() < 0.15,
                "{burstiness}: {variance}"
            );
        }
    }

    #[test]
    fn bursty_gaps_are_not_taken_for_poisson() {
        let bursty = gaps(&schedule(&config(Arrival::Gamma { burstiness: 0.5 }, "10", N, 7)));
        assert!(distance(bursty, |gap| 1.0 - (-10.0 * gap).exp()) > critical(N as usize));
    }

    #[test]
    fn a_ramp_sends_what_its_rate_adds_up_to() {
        // Linear from 2 to 20 over 60 s: 660 requests, half of the slope's excess in the first half.
        let moments = schedule(&config(Arrival::Constant, "ramp:2:20:60", 1_000, 1));
        let by = |s: f64| moments.iter().filter(|at| **at < s).count();
        assert_eq!((by(30.0), by(60.0), by(65.0)), (195, 660, 760));
        // Exponential: the rate at the middle is the geometric mean, √(2 · 32) = 8.
        let moments = schedule(&config(Arrival::Constant, "exponential:2:32:60", 2_000, 1));
        let by = |s: f64| moments.iter().filter(|at| **at < s).count() as f64;
        assert!((by(31.0) - by(29.0) - 16.0).abs() <= 1.0, "{}", by(31.0) - by(29.0));
        // Downwards as well, and without a jump where the ramp ends.
        for rate in ["ramp:20:2:60", "exponential:20:2:60", "ramp:5:5:10"] {
            let moments = schedule(&config(Arrival::Constant, rate, 900, 1));
            let gaps = gaps(&moments);
            assert_eq!(moments.len(), 900);
            assert!(gaps.iter().all(|gap| *gap > 0.0 && *gap <= 0.51), "{rate}");
        }
    }

    #[test]
    fn stages_follow_each_other_and_then_it_is_over() {
        let moments = schedule(&config(Arrival::Constant, "stages:5x10,0x5,10x3", 1_000, 1));
        assert_eq!(moments.len(), 80);
        let in_span = |from: f64, to: f64| moments.iter().filter(|at| (from..to).contains(*at)).count();
        assert_eq!(
            (in_span(0.0, 10.0), in_span(10.0, 15.0), in_span(15.0, 18.0)),
            (50, 0, 30)
        );
    }

    #[test]
    fn a_trace_is_replayed_as_far_as_is_asked() {
        let mut config = config(Arrival::Trace, "5", 3, 1);
        let trace = vec![0.0, 0.5, 2.0, 7.0];
        assert_eq!(super::schedule(&config, trace.clone()), [0.0, 0.5, 2.0]);
        config.load.duration_s = Some(1.0);
        assert_eq!(super::schedule(&config, trace), [0.0, 0.5]);
        assert!(super::schedule(&config, Vec::new()).is_empty());
    }

    #[test]
    fn a_duration_counts_instead_of_the_number() {
        let mut config = config(Arrival::Constant, "50", 7, 1);
        config.load.duration_s = Some(60.0);
        let moments = schedule(&config);
        assert_eq!(moments.len(), 3_000);
        assert!(moments.iter().all(|at| *at < 60.0));
    }

    #[test]
    fn the_seed_decides_the_moments() {
        let of = |seed| schedule(&config(Arrival::Poisson, "10", 100, seed));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert!(schedule(&config(Arrival::Closed, "10", 100, 1)).is_empty());
        let first: Vec<u64> = schedule(&reference_config()).iter().map(|s| (s * 1e9) as u64).collect();
        assert_eq!(first, FIRST_MOMENTS_OF_SEED_1_NS);
    }
}
