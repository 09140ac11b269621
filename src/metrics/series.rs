//! Figures of several runs together.

/// Where more load begins to bring less: the position of the knee of a curve of `(load, throughput)` in order of load.
///
/// Kneedle for a concave, rising curve (Satopää and others, 2011): both are scaled to 0–1 from first point to last, and
/// the knee is where throughput is furthest above the diagonal. `None` with fewer than three points, or if no point is
/// more than 0.1 above it: then the curve is as good as straight.
pub fn knee(points: &[(f64, f64)]) -> Option<usize> {
    const STRAIGHT: f64 = 0.1;
    let ((x0, y0), (x1, _)) = (*points.first()?, *points.last()?);
    let top = points.iter().map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
    if points.len() < 3 || !(x1 > x0 && top > y0) {
        return None;
    }
    let above = |(x, y): &(f64, f64)| (y - y0) / (top - y0) - (x - x0) / (x1 - x0);
    let (position, most) = points
        .iter()
        .map(above)
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (most > STRAIGHT).then_some(position)
}

/// The mean of paired differences with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDifference {
    /// How many pairs.
    pub pairs: usize,
    /// Mean of second − first.
    pub mean: f64,
    /// Lower and upper end of the 95 % confidence interval: mean ± t · s / √n, with Student's t of n − 1 degrees of freedom
    /// and s with divisor n − 1. `None` with fewer than two pairs.
    pub interval: Option<(f64, f64)>,
}

impl PairedDifference {
    /// Whether the interval leaves no difference out.
    pub fn is_told(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// Of pairs `(first, second)`; `None` without any.
pub fn paired_difference(pairs: &[(f64, f64)]) -> Option<PairedDifference> {
    if pairs.is_empty() {
        return None;
    }
    let n = pairs.len() as f64;
    let mean = pairs.iter().map(|(a, b)| b - a).sum::<f64>() / n;
    let interval = (pairs.len() > 1).then(|| {
        let squares: f64 = pairs.iter().map(|(a, b)| (b - a - mean).powi(2)).sum();
        let half = t_975(pairs.len() - 1) * (squares / (n - 1.0) / n).sqrt();
        (mean - half, mean + half)
    });
    Some(PairedDifference {
        pairs: pairs.len(),
        mean,
        interval,
    })
}

/// The 97.5 % quantile of Student's t: the table up to 30 degrees of freedom, then the Cornish–Fisher expansion about the
/// normal quantile z, z + (z³ + z) / 4ν + (5z⁵ + 16z³ + 3z) / 96ν² (Abramowitz and Stegun 26.7.5), good to 0.0001 there.
fn t_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604,
        2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518,
        2.0484, 2.0452, 2.0423,
    ];
    let z = 1.959_964_f64;
    let v = degrees as f64;
    TABLE
        .get(degrees.wrapping_sub(1))
        .copied()
        .unwrap_or(z + (z.powi(3) + z) / (4.0 * v) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_where_the_curve_bends() {
        let bent = [(1.0, 100.0), (2.0, 200.0), (4.0, 390.0), (8.0, 420.0), (16.0, 425.0)];
        assert_eq!(knee(&bent), Some(2));
        let straight = [(1.0, 10.0), (2.0, 20.0), (4.0, 40.0), (8.0, 80.0)];
        assert_eq!(knee(&straight), None);
        let collapsing = [(1.0, 100.0), (2.0, 200.0), (4.0, 210.0), (8.0, 90.0)];
        assert_eq!(knee(&collapsing), Some(1));
        assert_eq!(knee(&bent[..2]), None);
        assert_eq!(knee(&[(1.0, 5.0), (2.0, 5.0), (3.0, 5.0)]), None);
    }

    #[test]
    fn a_paired_difference_has_the_interval_of_a_t_test() {
        // Differences 1, 2, 3, 4: mean 2.5, s 1.29099, t(3) 3.1824 → ± 2.05426.
        let told = paired_difference(&[(10.0, 11.0), (20.0, 22.0), (30.0, 33.0), (1.0, 5.0)]).unwrap();
        let (low, high) = told.interval.unwrap();
        assert_eq!((told.pairs, told.mean), (4, 2.5));
        assert!(
            (low - 0.44574).abs() < 1e-4 && (high - 4.55426).abs() < 1e-4,
            "{low} {high}"
        );
        assert!(told.is_told());
        assert_eq!(paired_difference(&[]), None);
        assert_eq!(paired_difference(&[(1.0, 3.0)]).unwrap().interval, None);
    }

    #[test]
    fn the_quantile_beyond_the_table_joins_it() {
        // t(40) = 2.0211, t(120) = 1.9799 in the tables.
        assert!((t_975(40) - 2.0211).abs() < 1e-4 && (t_975(120) - 1.9799).abs() < 1e-4);
        assert!(t_975(31) < t_975(30));
    }
}
