//! What the server told of its load over time: requests that ran and waited, and beneath them its cache.

use super::{
    Across, Drawing, Size, Theme,
    canvas::{Canvas, DIGIT, Panel, Shapes},
    heads, nothing,
    palette::Role,
    throughput::{axis_figure, time_axis},
    ticks::{ticks, top},
};
use crate::{
    metrics::Window,
    report::{
        LoadSample,
        format::{NOT_AVAILABLE, count, percent},
    },
};

const TITLE: &str = "Load that the server told of";

/// Most rows of the table twin, and most points along the picture's width.
const MOST_ROWS: usize = 120;

/// Requests that ran and waited on the server, by the samples from `origin_ms` on for `duration_ms`, or of a part of that;
/// beneath them the share of its cache that was taken, where it tells.
pub fn server_load(
    samples: &[LoadSample],
    (origin_ms, duration_ms): (f64, f64),
    part: Option<&Window>,
    size: Size,
    theme: Theme,
) -> Drawing {
    let head = heads(["at (s)", "running", "waiting", "cache used"]);
    let covered = part.map_or((0.0, duration_ms), |part| {
        (part.from_ms - origin_ms, part.to_ms - origin_ms)
    });
    let within = |sample: &&LoadSample| (covered.0..=covered.1).contains(&(sample.at_ms - origin_ms));
    let samples: Vec<&LoadSample> = samples.iter().filter(within).collect();
    if samples.is_empty() {
        return nothing(size, theme, TITLE, "The server told nothing of its load.", head);
    }
    let running = samples.iter().map(|sample| sample.load.running).max().unwrap_or(0);
    let waiting = samples.iter().map(|sample| sample.load.waiting).max().unwrap_or(0);
    let cache = samples.iter().filter_map(|s| s.load.cache_used).max_by(f64::total_cmp);
    let finding = finding(running, waiting, cache);

    let canvas = Canvas::new(size, theme);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let strip = cache.is_some() && height >= 180.0;
    let y_top = top(running.max(waiting).max(1) as f64, 4);
    let digits = axis_figure(y_top).len().max(if strip { 5 } else { 0 });
    let x = (covered.0 / 1000.0, (covered.1 / 1000.0).max(covered.0 / 1000.0 + 0.001));
    let left = digits as f64 * DIGIT + 10.0;
    let (main, below) = Panel::with_strip(canvas.size(), left, x, (0.0, y_top), strip, (0.0, 1.0));
    let svg = canvas.finish(TITLE, &finding, |canvas, shapes| {
        let places = if main.bottom - main.top > 90.0 { 4 } else { 2 };
        let whole = ticks(0.0, y_top, places).into_iter().filter(|tick| tick.fract() == 0.0);
        canvas.y_axis(shapes, &main, &whole.collect::<Vec<_>>(), axis_figure);
        let next = canvas.legend(left, 12.0, Role::Tokens, "running");
        canvas.legend(next, 12.0, Role::Discarded, "waiting");
        curve(shapes, &main, &samples, origin_ms, Role::Tokens, |s| {
            Some(s.load.running as f64)
        });
        curve(shapes, &main, &samples, origin_ms, Role::Discarded, |s| {
            Some(s.load.waiting as f64)
        });
        if strip {
            canvas.y_axis(shapes, &below, &[0.0, 1.0], percent);
            curve(shapes, &below, &samples, origin_ms, Role::InFlight, |s| {
                s.load.cache_used
            });
            canvas.legend(left, below.top - 7.0, Role::InFlight, "cache used");
        }
        time_axis(canvas, shapes, if strip { &below } else { &main });
    });
    let places = fewer(&samples)
        .map(|sample| main.column((sample.at_ms - origin_ms) / 1000.0, width))
        .collect();
    let rows = fewer(&samples)
        .map(|sample| {
            vec![
                axis_figure(((sample.at_ms - origin_ms) / 100.0).round() / 10.0),
                count(sample.load.running),
                count(sample.load.waiting),
                sample.load.cache_used.map_or_else(|| NOT_AVAILABLE.to_owned(), percent),
            ]
        })
        .collect();
    Drawing {
        svg,
        finding,
        head,
        rows,
        places,
        across: Some(Across::of(&main, width, x, false)),
    }
}

fn finding(running: u64, waiting: u64, cache: Option<f64>) -> String {
    let requests = match waiting {
        0 => format!(
            "At most {} requests ran at a time; none was seen waiting",
            count(running)
        ),
        _ => format!(
            "At most {} requests ran and {} waited at a time",
            count(running),
            count(waiting)
        ),
    };
    match cache {
        Some(share) => format!("{requests}. Its cache was at most {} full.", percent(share)),
        None => format!("{requests}."),
    }
}

/// Every sample, or every second, third … one.
fn fewer<'a>(samples: &'a [&LoadSample]) -> impl Iterator<Item = &'a LoadSample> {
    let step = samples.len().div_ceil(MOST_ROWS).max(1);
    samples.iter().step_by(step).copied()
}

/// The samples as a line; it keeps their highs and lows where several fall on one pixel.
fn curve(
    shapes: &Shapes,
    panel: &Panel,
    samples: &[&LoadSample],
    origin_ms: f64,
    role: Role,
    value: impl Fn(&LoadSample) -> Option<f64>,
) {
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(2 * panel.columns());
    let per_column = samples.len().div_ceil(panel.columns()).max(1);
    for column in samples.chunks(per_column) {
        let known = column.iter().filter_map(|sample| Some((sample, value(sample)?)));
        let place =
            |(sample, value): (&&LoadSample, f64)| (panel.px((sample.at_ms - origin_ms) / 1000.0), panel.py(value));
        let low = known.clone().min_by(|a, b| a.1.total_cmp(&b.1)).map(place);
        let high = known.max_by(|a, b| a.1.total_cmp(&b.1)).map(place);
        points.extend(low);
        points.extend(high.filter(|high| Some(*high) != low));
    }
    if let [(x, y)] = points[..] {
        points.push((x + 2.0, y));
    }
    shapes.line(points, role, 1.75);
}
