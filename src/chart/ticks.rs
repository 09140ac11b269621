//! Round numbers along an axis.

/// The step 1, 2 or 5 times a power of ten that divides `span` into at most `most` parts.
pub(super) fn step(span: f64, most: usize) -> f64 {
    if !(span.is_finite() && span > 0.0) {
        return 1.0;
    }
    let raw = span / most.max(1) as f64;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|s| *s >= raw * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    if step.is_finite() && step > 0.0 { step } else { span }
}

/// The multiples of the step from `low` to `high`, at most about `most + 1` of them.
pub(super) fn ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let step = step(high - low, most);
    let first = (low / step - 1e-9).ceil();
    (0..=most)
        .map(|i| (first + i as f64) * step)
        .take_while(|t| *t <= high + step * 1e-9)
        .collect()
}

/// The end of an axis that starts at zero and holds `high`: a round number with a little air above.
pub(super) fn top(high: f64, most: usize) -> f64 {
    if !(high.is_finite() && high > 0.0) {
        return 1.0;
    }
    let step = step(high, most);
    let top = (high / step - 1e-9).ceil() * step;
    if top.is_finite() { top } else { high }
}

/// How many buckets make one bar or row: at least `least`, and where it can be so many that its length is a round number.
pub(super) fn round_merge(least: usize, bucket_ms: f64) -> usize {
    let round = |merge: &usize| {
        let length = *merge as f64 * bucket_ms;
        (step(length, 1) / length - 1.0).abs() < 1e-6
    };
    if least == 1 {
        return 1;
    }
    (least..=5 * least).find(round).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(0.0, 100.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(0.0, 7.3, 4), [0.0, 2.0, 4.0, 6.0]);
        assert_eq!(ticks(150.0, 420.0, 4), [200.0, 300.0, 400.0]);
    }

    #[test]
    fn an_axis_has_an_end_for_any_figure() {
        for high in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e308, 37.0] {
            assert!(top(high, 4) > 0.0, "{high}");
            assert!(ticks(0.0, top(high, 4), 4).len() <= 5);
        }
        assert_eq!(top(37.0, 4), 40.0);
    }

    #[test]
    fn buckets_are_merged_to_a_round_length() {
        assert_eq!(
            [1, 2, 3, 5, 9, 19].map(|least| round_merge(least, 250.0)),
            [1, 2, 4, 8, 20, 20]
        );
        assert_eq!(round_merge(3, 333.0), 3);
        assert_eq!(round_merge(3, 0.0), 3);
    }
}
