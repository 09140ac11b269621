//! Output tokens per second over time, and beneath it the requests in flight.

use super::{
    Across, Drawing, Size, Theme,
    canvas::{Anchor, Canvas, DIGIT, Panel, Shapes},
    heads, nothing,
    palette::Role,
    ticks::{round_merge, ticks, top},
};
use crate::{
    metrics::Timeline,
    report::format::{NARROW_SPACE, number, with_unit},
};

const TITLE: &str = "Output throughput over time";

/// Most rows of the table twin: as many as one still reads.
const MOST_ROWS: usize = 120;

/// Output tokens per second over time (successes; discarded frames as a second series if there are any), and beneath
/// it the requests in flight where there is room.
pub fn throughput_over_time(timeline: &Timeline, size: Size, theme: Theme) -> Drawing {
    let head = heads(["from (s)", "output (tok/s)", "discarded (frames/s)", "in flight"]);
    let tokens = rates(timeline, &timeline.tokens);
    if tokens.is_empty() {
        return nothing(size, theme, TITLE, "Nothing has been measured yet.", head);
    }
    let discarded = rates(timeline, &timeline.discarded);
    let some_discarded = discarded.iter().any(|v| *v > 0.0);
    let finding = finding(timeline, &tokens);
    let (rows, middles_s) = table(timeline);

    let canvas = Canvas::new(size, theme);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let strip = !timeline.in_flight.is_empty() && height >= 180.0;
    let y_top = top(greatest(&tokens).max(greatest(&discarded)), 4);
    let flight_top = top(greatest(&timeline.in_flight), 2);
    let digits = number(y_top)
        .len()
        .max(if strip { number(flight_top).len() } else { 0 });
    let x = reach_s(timeline);
    let left = digits as f64 * DIGIT + 10.0;
    let (main, below) = Panel::with_strip(canvas.size(), left, x, (0.0, y_top), strip, (0.0, flight_top));

    let svg = canvas.finish(TITLE, &finding, |canvas, shapes| {
        let places = if main.bottom - main.top > 90.0 { 4 } else { 2 };
        canvas.y_axis(shapes, &main, &ticks(0.0, y_top, places), axis_figure);
        let next = canvas.legend(left, 12.0, Role::Tokens, "output, tok/s");
        if some_discarded {
            canvas.legend(next, 12.0, Role::Discarded, "discarded, frames/s");
            curve(shapes, &main, timeline, &discarded, Role::Discarded, None);
        }
        curve(shapes, &main, timeline, &tokens, Role::Tokens, Some(0.12));
        let lowest = if strip { &below } else { &main };
        if strip {
            canvas.y_axis(shapes, &below, &[0.0, flight_top], axis_figure);
            curve(
                shapes,
                &below,
                timeline,
                &timeline.in_flight,
                Role::InFlight,
                Some(0.12),
            );
            canvas.text(
                left,
                below.top - 7.0,
                Anchor::Start,
                Role::InFlight,
                "requests in flight",
            );
        }
        time_axis(canvas, shapes, lowest);
    });
    Drawing {
        svg,
        finding,
        head,
        rows,
        places: middles_s.into_iter().map(|at| main.column(at, width)).collect(),
        across: Some(Across::of(&main, width, x, false)),
    }
}

/// The requests in flight over the whole width, without axes: what a part of the run is chosen on.
pub fn in_flight_strip(timeline: &Timeline, size: Size, theme: Theme) -> Drawing {
    const TITLE: &str = "Requests in flight";
    let head = heads(["from (s)", "output (tok/s)", "discarded (frames/s)", "in flight"]);
    if timeline.in_flight.is_empty() {
        return nothing(size, theme, TITLE, "Nothing has been measured yet.", head);
    }
    let most = greatest(&timeline.in_flight);
    let finding = format!("At most {} requests were in flight.", axis_figure(most));
    let canvas = Canvas::new(size, theme);
    let panel = Panel {
        left: 0.0,
        right: f64::from(canvas.size().width),
        top: 16.0,
        bottom: f64::from(canvas.size().height),
        x: reach_s(timeline),
        y: (0.0, top(most, 2)),
    };
    let svg = canvas.finish(TITLE, &finding, |canvas, shapes| {
        curve(
            shapes,
            &panel,
            timeline,
            &timeline.in_flight,
            Role::InFlight,
            Some(0.12),
        );
        canvas.text(6.0, 12.0, Anchor::Start, Role::InFlight, "requests in flight");
    });
    Drawing {
        svg,
        finding,
        head,
        rows: table(timeline).0,
        places: Vec::new(),
        across: None,
    }
}

/// The table twin: a row per bucket, or per several where there would be more than [`MOST_ROWS`]; and the middle of each, s.
fn table(timeline: &Timeline) -> (Vec<Vec<String>>, Vec<f64>) {
    let merge = round_merge(timeline.tokens.len().div_ceil(MOST_ROWS), timeline.bucket_ms);
    let row = |from: usize| {
        let to = (from + merge).min(timeline.tokens.len());
        let length_ms: f64 = (from..to).map(|i| timeline.bucket_length_ms(i)).sum();
        // A series without a figure for every bucket has none for the row.
        let mean = |values: &[f64], weight: fn(&Timeline, usize) -> f64| {
            let values = values.get(from..to)?;
            Some(
                values
                    .iter()
                    .zip(from..)
                    .map(|(v, i)| v * weight(timeline, i))
                    .sum::<f64>()
                    / length_ms,
            )
        };
        let from_ms = timeline.from_ms + from as f64 * timeline.bucket_ms;
        let cells = vec![
            axis_figure(from_ms / 1000.0),
            number(mean(&timeline.tokens, |_, _| 1000.0)),
            number(mean(&timeline.discarded, |_, _| 1000.0)),
            number(mean(&timeline.in_flight, |t, i| t.bucket_length_ms(i))),
        ];
        (cells, (from_ms + length_ms / 2.0) / 1000.0)
    };
    (0..timeline.tokens.len()).step_by(merge.max(1)).map(row).unzip()
}

/// Seconds along the bottom.
pub(super) fn time_axis(canvas: &mut Canvas, shapes: &Shapes, panel: &Panel) {
    let most = (panel.columns() / 80).clamp(2, 10);
    let marks = ticks(panel.x.0, panel.x.1, most);
    canvas.x_axis(
        shapes,
        panel,
        &marks,
        "time since the measured window began, s",
        axis_figure,
    );
}

/// A figure without the zeros that tell precision: for steps and bounds, which are exact.
pub(super) fn axis_figure(value: f64) -> String {
    let text = number(value);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// The same with a unit.
pub(super) fn figure_with_unit(value: f64, unit: &str) -> String {
    format!("{}{NARROW_SPACE}{unit}", axis_figure(value))
}

/// What lies in each bucket, per second.
fn rates(timeline: &Timeline, buckets: &[f64]) -> Vec<f64> {
    let rate = |(i, value): (usize, &f64)| {
        let rate = value / (timeline.bucket_length_ms(i) / 1000.0);
        if rate.is_finite() { rate } else { 0.0 }
    };
    buckets.iter().enumerate().map(rate).collect()
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max)
}

/// What the timeline covers: its first and its last moment, s since the measured window began.
pub(super) fn reach_s(timeline: &Timeline) -> (f64, f64) {
    let from = timeline.from_ms / 1000.0;
    (from, from + length_s(timeline))
}

/// Length of what the timeline covers, s.
fn length_s(timeline: &Timeline) -> f64 {
    let buckets = timeline.tokens.len().max(timeline.outcomes.len());
    let ms: f64 = match buckets.checked_sub(1) {
        Some(last) => last as f64 * timeline.bucket_ms + timeline.bucket_length_ms(last),
        None => 0.0,
    };
    if ms.is_finite() && ms > 0.0 { ms / 1000.0 } else { 1.0 }
}

/// A value per bucket as a line through the buckets' middles; three points per two pixel columns at most.
fn curve(shapes: &Shapes, panel: &Panel, timeline: &Timeline, values: &[f64], role: Role, tint: Option<f64>) {
    let middle =
        |i: usize| (timeline.from_ms + i as f64 * timeline.bucket_ms + timeline.bucket_length_ms(i) / 2.0) / 1000.0;
    let mut points = Vec::with_capacity(values.len().min(panel.columns()) + 4);
    // Where buckets are narrower than two pixels, the line is the mean of those that share them, in a band from the
    // smallest to the largest.
    let group = (2 * values.len()).div_ceil(panel.columns()).max(1);
    if group > 1 {
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        for (n, chunk) in values.chunks(group).enumerate() {
            let x = panel.px((middle(n * group) + middle(n * group + chunk.len() - 1)) / 2.0);
            let (low, high) = chunk
                .iter()
                .fold((f64::INFINITY, 0f64), |(low, high), v| (low.min(*v), high.max(*v)));
            upper.push((x, panel.py(high)));
            lower.push((x, panel.py(low)));
            points.push((x, panel.py(chunk.iter().sum::<f64>() / chunk.len() as f64)));
        }
        upper.extend(lower.into_iter().rev());
        shapes.tint(upper, role, 0.3);
    } else {
        points.extend((0..values.len()).map(|i| (panel.px(middle(i)), panel.py(values[i]))));
    }
    let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) else {
        return;
    };
    if points.len() == 1 {
        points = vec![(panel.left, first.1), (panel.right, first.1)];
    } else {
        // The line runs from edge to edge: the first and last half bucket keep their bucket's level.
        points.insert(0, (panel.left, first.1));
        points.push((panel.right, last.1));
    }
    if let Some(opacity) = tint {
        let mut area = points.clone();
        area.push((panel.right, panel.bottom));
        area.push((panel.left, panel.bottom));
        shapes.tint(area, role, opacity);
    }
    shapes.line(points, role, 1.5);
}

fn finding(timeline: &Timeline, rates: &[f64]) -> String {
    let total: f64 = timeline.tokens.iter().sum();
    if total <= 0.0 {
        return "No output token of a successful request has arrived.".to_owned();
    }
    let mean = total / length_s(timeline);
    let step = figure_with_unit(timeline.bucket_ms / 1000.0, "s");
    if rates.len() < 2 {
        return format!("Output averaged {}.", with_unit(mean, "tok/s"));
    }
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    format!(
        "Output averaged {}, between {} and {} in steps of {step}.",
        with_unit(mean, "tok/s"),
        number(low),
        with_unit(greatest(rates), "tok/s"),
    )
}
