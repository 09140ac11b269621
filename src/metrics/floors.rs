//! How large a sample must be for a percentile of it to say something.

/// The percentiles that tables show, with the smallest sample that supports each.
///
/// The floor of the `p`-th percentile is the smallest `n` for which at least two of `n` independent values lie beyond the
/// true percentile with 99 % confidence: `P(Binomial(n, 1 − p/100) ≤ 1) ≤ 0.01`. MLCommons' endpoints benchmark refuses
/// percentiles below the same sizes.
pub const FLOORS: [(f64, u64); 4] = [(90.0, 64), (95.0, 130), (99.0, 662), (99.9, 6_636)];

/// The smallest sample that supports the `p`-th percentile, for those that have a floor.
pub fn floor(p: f64) -> u64 {
    FLOORS
        .iter()
        .find(|(percentile, _)| *percentile == p)
        .map_or(1, |(_, n)| *n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_floor_is_the_least_with_two_values_beyond_it_in_99_of_100_samples() {
        let at_most_one_beyond = |p: f64, n: u64| {
            let (below, beyond, n) = (p / 100.0, 1.0 - p / 100.0, n as f64);
            below.powf(n) + n * beyond * below.powf(n - 1.0)
        };
        for (p, n) in FLOORS {
            assert!(at_most_one_beyond(p, n) <= 0.01, "p{p} from {n}");
            assert!(at_most_one_beyond(p, n - 1) > 0.01, "p{p} from fewer than {n}");
        }
    }

    #[test]
    fn a_median_has_no_floor() {
        assert_eq!((floor(50.0), floor(99.0)), (1, 662));
    }
}
