//! Parts of a run: a window of time, and the one in which the load was steady.

use crate::request::RequestRecord;

/// A part of a run, ms since the run began: from `from_ms` up to, not including, `to_ms`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its start.
    pub from_ms: f64,
    /// Its end.
    pub to_ms: f64,
}

impl Window {
    /// Its length, ms; never negative.
    pub fn duration_ms(&self) -> f64 {
        (self.to_ms - self.from_ms).max(0.0)
    }

    /// Whether a moment lies in it.
    pub fn contains(&self, at_ms: f64) -> bool {
        self.from_ms <= at_ms && at_ms < self.to_ms
    }

    /// How long a span of time overlaps it, ms.
    pub fn overlap_ms(&self, from_ms: f64, to_ms: f64) -> f64 {
        (to_ms.min(self.to_ms) - from_ms.max(self.from_ms)).max(0.0)
    }
}

/// The changes of the number of requests in flight, in order: `(moment, ms; in flight from then on)`. Requests that end
/// at a moment leave before others come.
fn levels<'a>(records: impl Iterator<Item = &'a RequestRecord>) -> Vec<(f64, u32)> {
    let mut events: Vec<(f64, i32)> = Vec::new();
    for record in records.filter(|r| r.times.ended_ms > r.times.dispatched_ms) {
        events.push((record.times.dispatched_ms, 1));
        events.push((record.times.ended_ms, -1));
    }
    events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut now = 0;
    events
        .into_iter()
        .map(|(at_ms, change)| {
            now += change;
            (at_ms, now.unsigned_abs())
        })
        .collect()
}

/// Most requests in flight at any moment of a window, or of all time. A request that ends at the moment another begins
/// does not overlap it.
pub(super) fn peak_concurrency<'a>(records: impl Iterator<Item = &'a RequestRecord>, window: Option<&Window>) -> u32 {
    let levels = levels(records);
    let ends = levels.iter().skip(1).map(|(at, _)| *at).chain([f64::INFINITY]);
    let seen = levels
        .iter()
        .zip(ends)
        .filter(|((from, _), to)| window.is_none_or(|window| window.overlap_ms(*from, *to) > 0.0));
    // At one moment several may come and go: only what lasts is a level; without a window every step counts.
    seen.map(|((_, level), _)| *level).max().unwrap_or(0)
}

/// The longest span in which at least `share` of the peak concurrency was in flight all the time; the first of equals.
///
/// The threshold is `ceil(share · peak)`, by exact sweep over the measured requests, as in SGLang's steady-state report.
/// `None` without requests or if `share` is not in (0, 1].
pub fn steady_window(records: &[RequestRecord], share: f64) -> Option<Window> {
    if share.is_nan() || share <= 0.0 || share > 1.0 {
        return None;
    }
    let levels = levels(records.iter().filter(|r| !r.warmup));
    let peak = levels.iter().map(|(_, level)| *level).max()?;
    let threshold = (share * f64::from(peak)).ceil() as u32;
    let mut best: Option<Window> = None;
    let mut since = None;
    // What leaves and comes at one moment is one change.
    let mut i = 0;
    while i < levels.len() {
        let at_ms = levels[i].0;
        while i + 1 < levels.len() && levels[i + 1].0 == at_ms {
            i += 1;
        }
        let level = levels[i].1;
        match (since, level >= threshold) {
            (None, true) => since = Some(at_ms),
            (Some(from_ms), false) => {
                let window = Window { from_ms, to_ms: at_ms };
                if best.is_none_or(|best| window.duration_ms() > best.duration_ms()) {
                    best = Some(window);
                }
                since = None;
            }
            _ => {}
        }
        i += 1;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::span;

    fn window(records: &[RequestRecord], share: f64) -> Option<(f64, f64)> {
        steady_window(records, share).map(|w| (w.from_ms, w.to_ms))
    }

    #[test]
    fn the_longest_span_at_a_share_of_the_peak_is_found() {
        // Levels: 1 from 0, 2 from 10, 3 from 20, 2 from 50, 3 from 60, 2 from 90, 1 from 95, 0 at 100.
        let records = [span(0.0, 100.0), span(10.0, 95.0), span(20.0, 50.0), span(60.0, 90.0)];
        assert_eq!(window(&records, 1.0), Some((20.0, 50.0)), "the first of equals");
        assert_eq!(window(&records, 0.6), Some((10.0, 95.0)));
        assert_eq!(window(&records, 0.1), Some((0.0, 100.0)));
    }

    #[test]
    fn a_request_that_takes_the_place_of_another_keeps_the_load_steady() {
        let records = [span(0.0, 10.0), span(10.0, 20.0), span(20.0, 30.0)];
        assert_eq!(window(&records, 1.0), Some((0.0, 30.0)));
    }

    #[test]
    fn there_is_none_without_requests_or_with_a_share_that_is_none() {
        assert_eq!(window(&[], 0.8), None);
        for share in [0.0, -1.0, 1.1, f64::NAN] {
            assert_eq!(window(&[span(0.0, 1.0)], share), None);
        }
    }

    #[test]
    fn the_peak_of_a_window_is_what_was_in_flight_in_it() {
        let records = [span(0.0, 10.0), span(5.0, 20.0), span(6.0, 7.0)];
        let peak = |from_ms, to_ms| peak_concurrency(records.iter(), Some(&Window { from_ms, to_ms }));
        assert_eq!(
            (peak(0.0, 5.0), peak(5.5, 6.5), peak(8.0, 9.0), peak(12.0, 30.0)),
            (1, 3, 2, 1)
        );
        assert_eq!(peak(21.0, 30.0), 0);
        assert_eq!(peak_concurrency(records.iter(), None), 3);
    }
}
