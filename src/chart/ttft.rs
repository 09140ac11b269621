//! The time to the first token over the run: a mark per success, so that a warm-up, a queue or a stall is seen.

use super::{
    Across, Drawing, Scale, Size, Theme,
    canvas::{Anchor, Canvas, DIGIT, Panel},
    heads, nothing,
    palette::Role,
    throughput::{axis_figure, time_axis},
    ticks::{step, ticks, top},
};
use crate::{
    metrics::{Sample, Window},
    report::format::{count, millis},
    request::{Outcome, RequestRecord},
};

const TITLE: &str = "Time to first token over time";

/// Rows of the table twin at most, and parts of the run that the finding compares.
const MOST_ROWS: usize = 60;

/// Side of a mark, px.
const MARK: f64 = 3.0;

/// TTFT of each measured success at the moment it was sent, seconds since `origin_ms`, up to `duration_ms` after it; of those
/// sent in a part of the run, if there is one. Of marks that share a pixel column the lowest and the highest are drawn.
pub fn ttft_over_time(
    records: &[RequestRecord],
    (origin_ms, duration_ms): (f64, f64),
    part: Option<&Window>,
    scale: Scale,
    size: Size,
    theme: Theme,
) -> Drawing {
    let head = heads(["sent from (s)", "n", "median", "greatest"]);
    let mut points = points(records, origin_ms);
    if let Some(part) = part {
        points.retain(|(s, _)| part.contains(origin_ms + s * 1000.0));
    }
    if points.is_empty() {
        return nothing(size, theme, TITLE, "No TTFT was measured.", head);
    }
    let last_s = points.last().map_or(0.0, |(s, _)| *s);
    let covered = match part {
        Some(part) => ((part.from_ms - origin_ms) / 1000.0, (part.to_ms - origin_ms) / 1000.0),
        None if duration_ms.is_finite() => (0.0, (duration_ms / 1000.0).max(last_s).max(1e-3)),
        None => (0.0, last_s.max(1e-3)),
    };
    let finding = finding(&points, covered);
    let (rows, middles_s) = table(&points, covered.1 - covered.0);
    let canvas = Canvas::new(size, theme);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let greatest = points.iter().map(|(_, ms)| *ms).fold(0.0, f64::max);
    let (y, marks) = match scale {
        Scale::Linear => {
            let top = top(greatest, 4);
            ((0.0, top), ticks(0.0, top, 4))
        }
        Scale::Log => decades(&points, greatest),
    };
    let value = |tick: f64| if scale == Scale::Log { 10f64.powf(tick) } else { tick };
    let digits = marks.iter().map(|t| axis_figure(value(*t)).len()).max().unwrap_or(1);
    let panel = Panel {
        left: digits.max(2) as f64 * DIGIT + 10.0,
        right: width - 14.0,
        top: 26.0,
        bottom: height - 38.0,
        x: covered,
        y,
    };
    let place = |ms: f64| panel.py(if scale == Scale::Log { ms.max(1e-3).log10() } else { ms });
    let svg = canvas.finish(TITLE, &finding, |canvas, shapes| {
        let scale = if scale == Scale::Log { ", log scale" } else { "" };
        let what = format!("TTFT, ms{scale}; n = {}", count(points.len() as u64));
        canvas.text(0.0, 12.0, Anchor::Start, Role::Faint, &what);
        canvas.y_axis(shapes, &panel, &marks, |tick| axis_figure(value(tick)));
        for (s, ms) in extremes(&points, covered, panel.columns()) {
            let (x, y) = (panel.px(s), place(ms));
            let half = MARK / 2.0;
            shapes.bar((x - half, y - half), (x + half, y + half), Role::Tokens);
        }
        time_axis(canvas, shapes, &panel);
    });
    Drawing {
        svg,
        finding,
        head,
        rows,
        places: middles_s.into_iter().map(|at| panel.column(at, width)).collect(),
        across: Some(Across::of(&panel, width, covered, false)),
    }
}

/// `(sent, s since the origin; TTFT, ms)` of measured successes, in the order in which they were sent.
fn points(records: &[RequestRecord], origin_ms: f64) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = records
        .iter()
        .filter(|r| !r.warmup && r.outcome == Outcome::Succeeded)
        .filter_map(|r| {
            let sent_s = ((r.times.dispatched_ms - origin_ms) / 1000.0).max(0.0);
            Some((sent_s, r.times.first_token_ms? - r.times.dispatched_ms))
        })
        .filter(|(s, ms)| s.is_finite() && ms.is_finite())
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The least and the greatest of each of `columns` equal columns: at most two points per column.
fn extremes(points: &[(f64, f64)], (from_s, to_s): (f64, f64), columns: usize) -> Vec<(f64, f64)> {
    let columns = columns.max(1);
    let column = |s: f64| (((s - from_s) / (to_s - from_s) * columns as f64) as usize).min(columns - 1);
    let mut kept = Vec::with_capacity(points.len().min(2 * columns));
    for here in points.chunk_by(|a, b| column(a.0) == column(b.0)) {
        let least = here.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let greatest = here.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        kept.extend(least);
        kept.extend(greatest.filter(|_| here.len() > 1));
    }
    kept
}

/// A log axis over the values, in powers of ten, and its ticks.
fn decades(points: &[(f64, f64)], greatest: f64) -> ((f64, f64), Vec<f64>) {
    let least = points.iter().map(|(_, ms)| *ms).fold(f64::INFINITY, f64::min);
    let low = least.max(1e-3).log10().floor();
    let high = greatest.max(1e-3).log10().ceil().max(low + 1.0);
    let marks = (low as i32..=high as i32).map(f64::from).collect();
    ((low, high), marks)
}

/// The sample of those sent in each of equal, round steps of the run; empty steps are left out. And each step's middle, s.
fn table(points: &[(f64, f64)], length_s: f64) -> (Vec<Vec<String>>, Vec<f64>) {
    let width = step(length_s, MOST_ROWS);
    let slot = |s: f64| (s / width).floor();
    points
        .chunk_by(|a, b| slot(a.0) == slot(b.0))
        .map(|here| {
            let sample = Sample::new(here.iter().map(|(_, ms)| *ms).collect());
            let cells = vec![
                axis_figure(slot(here[0].0) * width),
                count(sample.len()),
                millis(sample.percentile(50.0)),
                millis(sample.percentile(100.0)),
            ];
            (cells, (slot(here[0].0) + 0.5) * width)
        })
        .unzip()
}

fn finding(points: &[(f64, f64)], (from_s, to_s): (f64, f64)) -> String {
    let median = |from: f64, to: f64| {
        let part = points.iter().filter(|(s, _)| *s >= from && *s < to).map(|(_, ms)| *ms);
        Sample::new(part.collect()).percentile(50.0)
    };
    let third = (to_s - from_s) / 3.0;
    match (median(from_s, from_s + third), median(to_s - third, f64::INFINITY)) {
        (Some(first), Some(last)) if points.len() >= 6 => format!(
            "The median TTFT was {} in the first third and {} in the last.",
            millis(first),
            millis(last)
        ),
        _ => format!(
            "TTFT was {} at most.",
            millis(points.iter().map(|(_, ms)| *ms).fold(0.0, f64::max))
        ),
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::request::Times;

    const SIZE: Size = Size {
        width: 720,
        height: 240,
    };

    fn record(sent_ms: f64, ttft_ms: f64, outcome: Outcome) -> RequestRecord {
        let times = Times {
            dispatched_ms: sent_ms,
            first_token_ms: Some(sent_ms + ttft_ms),
            ..Times::default()
        };
        crate::chart::tests::record(outcome, times)
    }

    #[test]
    fn a_failure_s_first_token_is_no_ttft() {
        let records = [
            record(0.0, 50.0, Outcome::Succeeded),
            record(10.0, 7.0, Outcome::StreamError),
        ];
        assert_eq!(points(&records, 0.0), [(0.0, 50.0)]);
    }

    #[test]
    fn dense_marks_are_the_extremes_of_their_column() {
        let points: Vec<(f64, f64)> = (0..100_000)
            .map(|i| (f64::from(i) / 1000.0, f64::from(i * 7919 % 1009)))
            .collect();
        let kept = extremes(&points, (0.0, 100.0), 500);
        assert!(kept.len() <= 1000);
        let greatest = |points: &[(f64, f64)]| points.iter().map(|p| p.1).fold(0.0, f64::max);
        assert_eq!(greatest(&kept), greatest(&points));
    }

    #[test]
    fn the_finding_compares_the_run_s_first_and_last_third() {
        let records: Vec<RequestRecord> = (0..30)
            .map(|i| {
                record(
                    f64::from(i) * 100.0,
                    if i < 15 { 40.0 } else { 900.0 },
                    Outcome::Succeeded,
                )
            })
            .collect();
        for scale in [Scale::Linear, Scale::Log] {
            let drawing = ttft_over_time(&records, (0.0, 3000.0), None, scale, SIZE, Theme::Light);
            assert!(drawing.finding.contains(&millis(40.0)) && drawing.finding.contains(&millis(900.0)));
            let told: u64 = drawing.rows.iter().map(|row| row[1].parse::<u64>().unwrap()).sum();
            assert_eq!(told, 30);
            assert!(!drawing.svg.contains("NaN"));
        }
    }

    #[test]
    fn zero_and_odd_times_are_drawn_on_a_log_scale() {
        let records = [
            record(0.0, 0.0, Outcome::Succeeded),
            record(f64::NAN, 3.0, Outcome::Succeeded),
        ];
        let drawing = ttft_over_time(&records, (0.0, 0.0), None, Scale::Log, SIZE, Theme::Dark);
        assert!(!drawing.svg.contains("NaN"));
        let none = ttft_over_time(&[], (0.0, 1000.0), None, Scale::Log, SIZE, Theme::Dark);
        assert!(none.rows.is_empty());
    }
}
