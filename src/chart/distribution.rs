//! How one latency is distributed: histogram and cumulative curve.

use super::{
    Drawing, Size, Theme,
    canvas::{Anchor, Canvas, DIGIT, Panel, Shapes, text_width},
    heads, nothing,
    palette::Role,
    throughput::axis_figure,
    ticks::{step, ticks, top},
};
use crate::{
    metrics::Sample,
    report::format::{NARROW_SPACE, count, millis, percent},
};

/// Percentiles that are marked and told.
const MARKED: [(f64, &str); 3] = [(50.0, "p50"), (90.0, "p90"), (99.0, "p99")];

/// The x axis: its ends and unit, and how many values lie beyond it.
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Width of a bin, a round number of units.
    bin: f64,
    beyond: u64,
    /// ms per unit of the axis.
    unit_ms: f64,
    unit: &'static str,
}

/// Distribution of one latency in ms as a histogram; `name` is the metric's (`"TTFT"`).
///
/// Where a few values lie far beyond the rest the axis ends before them; the chart says how many there are.
pub fn histogram(name: &str, sample: &Sample, size: Size, theme: Theme) -> Drawing {
    let title = format!("Distribution of {name}");
    let head = heads(["from", "to", "count", "share"]);
    let canvas = Canvas::new(size, theme);
    let Some(scale) = scale(sample, (f64::from(canvas.size().width) / 12.0) as usize) else {
        return nothing(size, theme, &title, &format!("No {name} was measured."), head);
    };
    let finding = finding(name, sample);
    let bins = ((scale.high - scale.low) / scale.bin).round().clamp(1.0, 1000.0) as usize;
    let edge = |i: usize| scale.low + i as f64 * scale.bin;
    // The first bin holds its lower edge too, the others do not: no value is counted twice or lost.
    let up_to: Vec<u64> = (0..=bins)
        .map(|i| {
            if i == 0 {
                0
            } else {
                sample.count_up_to(edge(i) * scale.unit_ms)
            }
        })
        .collect();
    let counts: Vec<u64> = up_to.windows(2).map(|w| w[1] - w[0]).collect();
    let y_top = top(counts.iter().max().copied().unwrap_or(0) as f64, 4);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let panel = panel(width, height, axis_figure(y_top).len(), (scale.low, scale.high), y_top);

    let svg = canvas.finish(&title, &finding, |canvas, shapes| {
        canvas.text(
            0.0,
            12.0,
            Anchor::Start,
            Role::Faint,
            &format!("number of values, n = {}", count(sample.len())),
        );
        let marks: Vec<f64> = ticks(0.0, y_top, 4).into_iter().filter(|t| t.fract() == 0.0).collect();
        canvas.y_axis(shapes, &panel, &marks, axis_figure);
        for (i, here) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let (left, right) = (panel.px(edge(i)), panel.px(edge(i + 1)));
            let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
            // A bin with one value in it stays visible beside one with thousands.
            let high = panel.py(*here as f64).min(panel.bottom - 1.0);
            shapes.bar((left, panel.bottom), (right - gap, high), Role::Tokens);
        }
        percentiles(canvas, shapes, &panel, sample, &scale);
        latency_axis(canvas, shapes, &panel, name, &scale);
    });
    let total = sample.len().max(1) as f64;
    let row = |from: String, to: String, n: u64| vec![from, to, count(n), percent(n as f64 / total)];
    let mut rows: Vec<Vec<String>> = counts
        .iter()
        .enumerate()
        .map(|(i, n)| row(millis(edge(i) * scale.unit_ms), millis(edge(i + 1) * scale.unit_ms), *n))
        .collect();
    if scale.beyond > 0 {
        rows.push(row(
            millis(scale.high * scale.unit_ms),
            millis(sample.values().last().copied()),
            scale.beyond,
        ));
    }
    Drawing {
        svg,
        finding,
        head,
        rows,
    }
}

/// Share of values up to each latency, in ms, as a curve; `name` is the metric's (`"TTFT"`).
pub fn cdf(name: &str, sample: &Sample, size: Size, theme: Theme) -> Drawing {
    let title = format!("Cumulative distribution of {name}");
    let head = heads(["percentile", "at most"]);
    let canvas = Canvas::new(size, theme);
    let Some(scale) = scale(sample, 40) else {
        return nothing(size, theme, &title, &format!("No {name} was measured."), head);
    };
    let finding = finding(name, sample);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let panel = panel(width, height, "100 %".len(), (scale.low, scale.high), 1.0);
    let svg = canvas.finish(&title, &finding, |canvas, shapes| {
        let what = format!("share of values up to it, n = {}", count(sample.len()));
        canvas.text(0.0, 12.0, Anchor::Start, Role::Faint, &what);
        canvas.y_axis(shapes, &panel, &[0.0, 0.25, 0.5, 0.75, 1.0], |share| {
            format!("{:.0}{NARROW_SPACE}%", share * 100.0)
        });
        shapes.line(staircase(&panel, sample, &scale), Role::Tokens, 1.5);
        percentiles(canvas, shapes, &panel, sample, &scale);
        latency_axis(canvas, shapes, &panel, name, &scale);
    });
    let told = [
        (0.0, "min"),
        (50.0, "p50"),
        (90.0, "p90"),
        (95.0, "p95"),
        (99.0, "p99"),
        (99.9, "p99.9"),
        (100.0, "max"),
    ];
    let rows = told
        .into_iter()
        .map(|(p, label)| vec![label.to_owned(), millis(sample.percentile(p))])
        .collect();
    Drawing {
        svg,
        finding,
        head,
        rows,
    }
}

pub(super) fn panel(width: f64, height: f64, digits: usize, x: (f64, f64), y_top: f64) -> Panel {
    Panel {
        left: digits.max(2) as f64 * DIGIT + 10.0,
        right: width - 14.0,
        top: 38.0,
        bottom: height - 38.0,
        x,
        y: (0.0, y_top),
    }
}

/// The empirical distribution, a step at each pixel column where it rises: two points per column.
pub(super) fn staircase(panel: &Panel, sample: &Sample, scale: &Scale) -> Vec<(f64, f64)> {
    let n = sample.len().max(1) as f64;
    let mut points = vec![(panel.left, panel.bottom)];
    let mut last = 0;
    for column in 0..=panel.columns() {
        let share = column as f64 / panel.columns() as f64;
        let value = (scale.low + (scale.high - scale.low) * share) * scale.unit_ms;
        let up_to = sample.count_up_to(value);
        if up_to != last {
            let x = panel.px(scale.low + (scale.high - scale.low) * share);
            points.push((x, panel.py(last as f64 / n)));
            points.push((x, panel.py(up_to as f64 / n)));
            last = up_to;
        }
    }
    points.push((panel.right, panel.py(last as f64 / n)));
    points
}

/// Upright lines at the percentiles; a label that would run into its neighbour's is left out.
fn percentiles(canvas: &mut Canvas, shapes: &Shapes, panel: &Panel, sample: &Sample, scale: &Scale) {
    let mut free_from = f64::NEG_INFINITY;
    for (p, label) in MARKED {
        let Some(value) = sample
            .percentile(p)
            .map(|v| v / scale.unit_ms)
            .filter(|v| *v <= scale.high)
        else {
            continue;
        };
        let x = panel.px(value);
        shapes.line(vec![(x, panel.top - 4.0), (x, panel.bottom)], Role::Ink, 1.0);
        // Wider than most texts: a p and digits alone.
        let half = text_width(label) * 0.58;
        // A label that would touch its neighbour moves aside a little.
        let aside = (free_from - (x - half)).clamp(0.0, 22.0);
        let middle = (x + aside).min(f64::from(canvas.size().width) - half - 1.0);
        if middle - half >= free_from {
            canvas.text(middle, panel.top - 8.0, Anchor::Middle, Role::Ink, label);
            free_from = middle + half + 4.0;
        }
    }
}

pub(super) fn latency_axis(canvas: &mut Canvas, shapes: &Shapes, panel: &Panel, name: &str, scale: &Scale) {
    let most = (panel.columns() / 70).clamp(2, 10);
    let title = match scale.beyond {
        0 => format!("{name}, {}", scale.unit),
        beyond => format!("{name}, {} (not shown: {} beyond the axis)", scale.unit, count(beyond)),
    };
    let marks = ticks(scale.low, scale.high, most);
    // As many decimals as the step has: a narrow distribution far from zero needs more than three digits.
    let decimals = (-step(scale.high - scale.low, most).log10() - 1e-9)
        .ceil()
        .clamp(0.0, 9.0) as usize;
    canvas.x_axis(shapes, panel, &marks, &title, |tick| {
        if decimals == 0 {
            axis_figure(tick)
        } else {
            format!("{tick:.decimals$}")
        }
    });
}

/// The x axis for a sample with at most `most` bins, or `None` if there is nothing to draw.
pub(super) fn scale(sample: &Sample, most: usize) -> Option<Scale> {
    let values = sample.values();
    let (min, max) = (*values.first()?, *values.last()?);
    if !(min.is_finite() && max.is_finite()) {
        return None;
    }
    let (unit_ms, unit) = if max >= 10_000.0 { (1000.0, "s") } else { (1.0, "ms") };
    // One straggler must not squeeze all others into one bar.
    let p99 = sample.percentile(99.0)?;
    let cut = sample.len() >= 20 && max > 3.0 * p99 && p99 > 0.0;
    let shown_max = if cut { 1.25 * p99 } else { max } / unit_ms;
    let shown_min = min / unit_ms;
    // From zero unless the values lie far from it, so that lengths compare.
    let from = if shown_min >= 0.0 && (shown_min < 0.5 * shown_max || min == max) {
        0.0
    } else {
        shown_min
    };
    let span = (shown_max - from).max(shown_max.abs() * 1e-3).max(1e-3);
    let bin = step(span, bin_count(sample, span * unit_ms).clamp(5, most.max(5)));
    let low = (from / bin + 1e-9).floor() * bin;
    let high = (((shown_max / bin - 1e-9).ceil()) * bin).max(low + bin);
    if !(low.is_finite() && high.is_finite() && high > low) {
        return None;
    }
    let beyond = sample.len() - sample.count_up_to(high * unit_ms);
    Some(Scale {
        low,
        high,
        bin,
        beyond,
        unit_ms,
        unit,
    })
}

/// Number of bins by the rule of Freedman and Diaconis: a width of 2 · IQR / ∛n.
fn bin_count(sample: &Sample, span_ms: f64) -> usize {
    let (Some(q1), Some(q3)) = (sample.percentile(25.0), sample.percentile(75.0)) else {
        return 1;
    };
    let width = 2.0 * (q3 - q1) / (sample.len() as f64).cbrt();
    if width > 0.0 {
        (span_ms / width).ceil().min(1000.0) as usize
    } else {
        20
    }
}

fn finding(name: &str, sample: &Sample) -> String {
    let of = |p: f64| millis(sample.percentile(p));
    match sample.len() {
        1 => format!("The one {name} measured is {}.", of(50.0)),
        n => format!(
            "The median of {} values of {name} is {}; the 90th percentile is {}, the largest {}.",
            count(n),
            of(50.0),
            of(90.0),
            of(100.0)
        ),
    }
}
