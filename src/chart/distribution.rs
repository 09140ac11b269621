//! How one latency is distributed: histogram and cumulative curve.

use super::{
    Across, Drawing, Place, Scale, Size, Theme,
    canvas::{Anchor, Canvas, DIGIT, Panel, Shapes, text_width},
    heads, nothing,
    palette::Role,
    throughput::axis_figure,
    ticks::{step, ticks, top},
};
use crate::{
    metrics::{Sample, floor},
    report::format::{self, NARROW_SPACE, count, millis, percent},
};

/// Percentiles that are marked and told.
const MARKED: [(f64, &str); 3] = [(50.0, "p50"), (90.0, "p90"), (99.0, "p99")];

/// The shortest latency on a log axis that does not say where it begins, ms: less is the clock's own step.
const LOG_FROM_MS: f64 = 0.01;

/// How the axis of a latency is laid out, and which part of it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Its scale.
    pub scale: Scale,
    /// From and to, ms; without it, where the values lie.
    pub range_ms: Option<(f64, f64)>,
}

/// The x axis: its ends, and how many values lie outside it.
pub(super) struct Extent {
    /// Its ends in units of the axis; on a log axis in decades of it.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Width of a bin, a round number of those.
    bin: f64,
    pub(super) below: u64,
    pub(super) beyond: u64,
    /// ms per unit of the axis.
    unit_ms: f64,
    unit: &'static str,
    scale: Scale,
}

impl Extent {
    /// The latency at a place on the axis, ms.
    fn ms(&self, at: f64) -> f64 {
        self.unit_ms
            * match self.scale {
                Scale::Linear => at,
                Scale::Log => 10f64.powf(at),
            }
    }

    /// Where a latency stands on the axis.
    fn at(&self, ms: f64) -> f64 {
        match self.scale {
            Scale::Linear => ms / self.unit_ms,
            Scale::Log => (ms / self.unit_ms).max(f64::MIN_POSITIVE).log10(),
        }
    }

    /// How many values of a sample lie before the axis and beyond it.
    pub(super) fn outside(&self, sample: &Sample) -> (u64, u64) {
        // Values at the lower edge belong to the first bin; a power of ten may miss them by a rounding.
        let edge = self.ms(self.low) * (1.0 - 1e-12);
        let below = sample.count_up_to(edge.next_down());
        (below, sample.len() - sample.count_up_to(self.ms(self.high)).max(below))
    }

    fn across(&self, panel: &Panel, width: f64) -> Option<Across> {
        let ends = (self.ms(self.low), self.ms(self.high));
        Some(Across::of(panel, width, ends, self.scale == Scale::Log))
    }
}

/// Distribution of one latency in ms as a histogram; `name` is the metric's (`"TTFT"`).
///
/// Where a few values lie far beyond the rest the axis ends before them; the chart says how many there are.
pub fn histogram(name: &str, sample: &Sample, view: View, size: Size, theme: Theme) -> Drawing {
    let title = format!("Distribution of {name}");
    let head = heads(["from", "to", "count", "share"]);
    let canvas = Canvas::new(size, theme);
    let Some(extent) = extent(sample, view, (f64::from(canvas.size().width) / 12.0) as usize) else {
        return nothing(size, theme, &title, &format!("No {name} was measured."), head);
    };
    let finding = finding(name, sample);
    let bins = ((extent.high - extent.low) / extent.bin).round().clamp(1.0, 1000.0) as usize;
    let edge = |i: usize| extent.low + i as f64 * extent.bin;
    // The first bin holds its lower edge too, the others do not: no value is counted twice or lost.
    let up_to: Vec<u64> = (0..=bins)
        .map(|i| {
            if i == 0 {
                extent.below
            } else {
                sample.count_up_to(extent.ms(edge(i)))
            }
        })
        .collect();
    let counts: Vec<u64> = up_to.windows(2).map(|w| w[1] - w[0]).collect();
    let y_top = top(counts.iter().max().copied().unwrap_or(0) as f64, 4);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let panel = panel(
        width,
        height,
        axis_figure(y_top).len(),
        (extent.low, extent.high),
        y_top,
    );

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
        percentiles(canvas, shapes, &panel, sample, &extent);
        latency_axis(canvas, shapes, &panel, name, &extent);
    });
    let total = sample.len().max(1) as f64;
    let row = |from: f64, to: f64, n: u64| vec![millis(from), millis(to), count(n), percent(n as f64 / total)];
    let mut rows: Vec<Vec<String>> = Vec::with_capacity(bins + 2);
    let mut places = Vec::with_capacity(bins + 2);
    let (least, greatest) = (sample.values().first(), sample.values().last());
    if let Some(least) = least.filter(|_| extent.below > 0) {
        rows.push(row(*least, extent.ms(extent.low), extent.below));
        places.push(None);
    }
    for (i, n) in counts.iter().enumerate() {
        rows.push(row(extent.ms(edge(i)), extent.ms(edge(i + 1)), *n));
        places.push(panel.column(edge(i) + extent.bin / 2.0, width));
    }
    if let Some(greatest) = greatest.filter(|_| extent.beyond > 0) {
        rows.push(row(extent.ms(extent.high), *greatest, extent.beyond));
        places.push(None);
    }
    Drawing {
        svg,
        finding,
        head,
        rows,
        places,
        across: extent.across(&panel, width),
    }
}

/// Share of values up to each latency, in ms, as a curve; `name` is the metric's (`"TTFT"`).
pub fn cdf(name: &str, sample: &Sample, view: View, size: Size, theme: Theme) -> Drawing {
    let title = format!("Cumulative distribution of {name}");
    let head = heads(["percentile", "at most"]);
    let canvas = Canvas::new(size, theme);
    let Some(extent) = extent(sample, view, 40) else {
        return nothing(size, theme, &title, &format!("No {name} was measured."), head);
    };
    let finding = finding(name, sample);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let panel = panel(width, height, "100 %".len(), (extent.low, extent.high), 1.0);
    let svg = canvas.finish(&title, &finding, |canvas, shapes| {
        let what = format!("share of values up to it, n = {}", count(sample.len()));
        canvas.text(0.0, 12.0, Anchor::Start, Role::Faint, &what);
        canvas.y_axis(shapes, &panel, &[0.0, 0.25, 0.5, 0.75, 1.0], |share| {
            format!("{:.0}{NARROW_SPACE}%", share * 100.0)
        });
        shapes.line(staircase(&panel, sample, &extent), Role::Tokens, 1.5);
        percentiles(canvas, shapes, &panel, sample, &extent);
        latency_axis(canvas, shapes, &panel, name, &extent);
    });
    let told = [
        (0.0, "min"),
        (10.0, "p10"),
        (25.0, "p25"),
        (50.0, "p50"),
        (75.0, "p75"),
        (90.0, "p90"),
        (95.0, "p95"),
        (99.0, "p99"),
        (99.9, "p99.9"),
        (100.0, "max"),
    ];
    let rows = told
        .into_iter()
        .map(|(p, label)| {
            let value = format::percentile(sample.percentile(p), p, sample.len(), false);
            vec![label.to_owned(), value]
        })
        .collect();
    let place = |p: f64| {
        let at = sample.percentile(p).filter(|_| sample.len() >= floor(p))?;
        (extent.low..=extent.high).contains(&extent.at(at)).then(|| Place {
            x: panel.px(extent.at(at)) / width,
            y: Some(panel.py(p / 100.0) / height),
        })
    };
    Drawing {
        svg,
        finding,
        head,
        rows,
        places: told.into_iter().map(|(p, _)| place(p)).collect(),
        across: extent.across(&panel, width),
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
pub(super) fn staircase(panel: &Panel, sample: &Sample, extent: &Extent) -> Vec<(f64, f64)> {
    let n = sample.len().max(1) as f64;
    let (mut last, _) = extent.outside(sample);
    let mut points = vec![(panel.left, panel.py(last as f64 / n))];
    for column in 0..=panel.columns() {
        let share = column as f64 / panel.columns() as f64;
        let at = extent.low + (extent.high - extent.low) * share;
        let up_to = sample.count_up_to(extent.ms(at));
        if up_to != last {
            let x = panel.px(at);
            points.push((x, panel.py(last as f64 / n)));
            points.push((x, panel.py(up_to as f64 / n)));
            last = up_to;
        }
    }
    points.push((panel.right, panel.py(last as f64 / n)));
    points
}

/// Upright lines at the percentiles that the sample is large enough for; a label that would run into its neighbour's is
/// left out.
fn percentiles(canvas: &mut Canvas, shapes: &Shapes, panel: &Panel, sample: &Sample, extent: &Extent) {
    let mut free_from = f64::NEG_INFINITY;
    for (p, label) in MARKED.into_iter().filter(|(p, _)| sample.len() >= floor(*p)) {
        let Some(value) = sample
            .percentile(p)
            .map(|ms| extent.at(ms))
            .filter(|at| (extent.low..=extent.high).contains(at))
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

pub(super) fn latency_axis(canvas: &mut Canvas, shapes: &Shapes, panel: &Panel, name: &str, extent: &Extent) {
    let most = (panel.columns() / 70).clamp(2, 10);
    let scale = if extent.scale == Scale::Log { ", log scale" } else { "" };
    let outside: Vec<String> = [(extent.below, "before"), (extent.beyond, "beyond")]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, side)| format!("{} {side}", count(n)))
        .collect();
    let title = match outside.is_empty() {
        true => format!("{name}, {}{scale}", extent.unit),
        false => format!(
            "{name}, {}{scale} (not shown: {} the axis)",
            extent.unit,
            outside.join(" and ")
        ),
    };
    if extent.scale == Scale::Log {
        let marks = log_ticks(extent.low, extent.high, most);
        canvas.x_axis(shapes, panel, &marks, &title, |tick| axis_figure(10f64.powf(tick)));
        return;
    }
    let marks = ticks(extent.low, extent.high, most);
    // As many decimals as the step has: a narrow distribution far from zero needs more than three digits.
    let decimals = (-step(extent.high - extent.low, most).log10() - 1e-9)
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

/// Powers of ten between two decades, with their doubles and fivefolds where that is few, at most about `most`.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let decades = (low.floor() as i32)..=(high.ceil() as i32);
    let within = |multiples: &[f64], every: i32| -> Vec<f64> {
        decades
            .clone()
            .filter(|decade| decade.rem_euclid(every) == 0)
            .flat_map(|decade| multiples.iter().map(move |m| f64::from(decade) + m.log10()))
            .filter(|at| (low - 1e-9..=high + 1e-9).contains(at))
            .collect()
    };
    // Each is a thinning of the one before; the first that is not too dense.
    let dense: [(&[f64], i32); 4] = [
        (&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], 1),
        (&[1.0, 2.0, 5.0], 1),
        (&[1.0], 1),
        (&[1.0], 2),
    ];
    let choices = dense.map(|(multiples, every)| within(multiples, every));
    let fits = choices.iter().position(|marks| (2..=most).contains(&marks.len()));
    let [first, .., last] = &choices;
    match fits {
        Some(fits) => choices[fits].clone(),
        None if last.len() > most => last.iter().step_by(last.len().div_ceil(most)).copied().collect(),
        None => first.clone(),
    }
}

/// The x axis for a sample with at most `most` bins, or `None` if there is nothing to draw.
pub(super) fn extent(sample: &Sample, view: View, most: usize) -> Option<Extent> {
    let values = sample.values();
    let (min, max) = (*values.first()?, *values.last()?);
    if !(min.is_finite() && max.is_finite()) {
        return None;
    }
    let range = view
        .range_ms
        .filter(|(from, to)| from.is_finite() && to.is_finite() && from < to);
    let reach = range.map_or(max, |(_, to)| to);
    let (unit_ms, unit) = if reach >= 10_000.0 { (1000.0, "s") } else { (1.0, "ms") };
    let (from, to, scale) = match view.scale {
        Scale::Linear => {
            let (from, to) = range.unwrap_or_else(|| linear_ends(sample, min, max));
            (from / unit_ms, to / unit_ms, Scale::Linear)
        }
        Scale::Log => {
            let least = values.iter().copied().find(|v| *v > 0.0).unwrap_or(max);
            let (from, to) = range.unwrap_or((least, max));
            let from = from.max(LOG_FROM_MS);
            let to = to.max(from * 1.05);
            ((from / unit_ms).log10(), (to / unit_ms).log10(), Scale::Log)
        }
    };
    let span = (to - from)
        .max(if scale == Scale::Linear { to.abs() * 1e-3 } else { 0.02 })
        .max(1e-3);
    let wanted = match (scale, range) {
        (Scale::Linear, None) => bin_count(sample, span * unit_ms).clamp(5, most.max(5)),
        _ => most.clamp(5, 60),
    };
    let bin = step(span, wanted);
    let low = (from / bin + 1e-9).floor() * bin;
    let high = ((to / bin - 1e-9).ceil() * bin).max(low + bin);
    if !(low.is_finite() && high.is_finite() && high > low) {
        return None;
    }
    let mut extent = Extent {
        low,
        high,
        bin,
        below: 0,
        beyond: 0,
        unit_ms,
        unit,
        scale,
    };
    (extent.below, extent.beyond) = extent.outside(sample);
    Some(extent)
}

/// Where a linear axis begins and ends, ms: one straggler must not squeeze all others into one bar; and from zero unless
/// the values lie far from it, so that lengths compare.
fn linear_ends(sample: &Sample, min: f64, max: f64) -> (f64, f64) {
    let p99 = sample.percentile(99.0).unwrap_or(max);
    let cut = sample.len() >= 20 && max > 3.0 * p99 && p99 > 0.0;
    let to = if cut { 1.25 * p99 } else { max };
    let from_zero = min >= 0.0 && (min < 0.5 * to || min == max);
    (if from_zero { 0.0 } else { min }, to)
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
        n => {
            let p90 = match n >= floor(90.0) {
                true => format!("the 90th percentile is {}, ", of(90.0)),
                false => String::new(),
            };
            format!(
                "The median of {} values of {name} is {}; {p90}the largest {}.",
                count(n),
                of(50.0),
                of(100.0)
            )
        }
    }
}
