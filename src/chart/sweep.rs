//! Throughput against latency over the loads of a sweep.

use super::{
    Drawing, Place, Size, Theme,
    canvas::{Anchor, Canvas, DIGIT, Panel},
    heads, nothing,
    palette::Role,
    throughput::axis_figure,
    ticks::{ticks, top},
};
use crate::{
    config::slo::Slo,
    metrics::knee,
    report::{
        Point,
        format::{as_set, millis, number, percent, with_unit},
    },
};

/// What a sweep's chart shows besides its points.
#[derive(Clone, Copy, Debug)]
pub struct SweepAxes {
    /// The latency's name: `TTFT`.
    pub latency: &'static str,
    /// Which of a point's latencies it is, ms.
    pub latency_of: fn(&Point) -> Option<f64>,
    /// The objective for it, if there is one, ms.
    pub objective_ms: Option<f64>,
    /// What the loads are: `at a time` or `req/s`.
    pub load_unit: &'static str,
}

impl SweepAxes {
    /// TTFT, TPOT and E2E, with their objectives.
    pub fn all(slo: &Slo, load_unit: &'static str) -> [Self; 3] {
        [
            Self {
                latency: "TTFT",
                latency_of: |point| point.ttft_ms,
                objective_ms: slo.ttft_ms,
                load_unit,
            },
            Self {
                latency: "TPOT",
                latency_of: |point| point.tpot_ms,
                objective_ms: slo.tpot_ms,
                load_unit,
            },
            Self {
                latency: "E2E",
                latency_of: |point| point.e2e_ms,
                objective_ms: slo.e2e_ms,
                load_unit,
            },
        ]
    }
}

/// Output throughput along the bottom, a median latency upwards; one dot a run, joined in order of the load, with the
/// objective as a line and the knee marked.
pub fn sweep(points: &[Point], axes: SweepAxes, size: Size, theme: Theme) -> Drawing {
    let title = format!("Output throughput and {}, by load", axes.latency);
    let latency_head = format!("{}, median", axes.latency);
    let head = heads([
        &format!("load ({})", axes.load_unit),
        "output (tok/s)",
        "requests (req/s)",
        &latency_head,
        "goodput (req/s)",
        "kept objectives",
        "failed",
    ]);
    let rows: Vec<Vec<String>> = points.iter().map(|point| row(point, &axes)).collect();
    let figures = |point: &Point| {
        let (x, y) = (point.output_throughput?, (axes.latency_of)(point)?);
        (x.is_finite() && y.is_finite()).then_some((x, y))
    };
    let placed: Vec<(f64, f64, f64)> = points
        .iter()
        .filter_map(|point| figures(point).map(|(x, y)| (point.load, x, y)))
        .collect();
    if placed.is_empty() {
        return Drawing {
            rows,
            ..nothing(size, theme, &title, "No run has both figures.", head)
        };
    }
    let curve: Vec<(f64, f64)> = placed.iter().map(|(load, x, ..)| (*load, *x)).collect();
    let knee = knee(&curve);
    let finding = finding(&placed, knee, &axes);

    let canvas = Canvas::new(size, theme);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let most = |value: fn(&(f64, f64, f64)) -> f64| placed.iter().map(value).fold(0.0, f64::max);
    let highest = most(|p| p.2);
    // An objective far above all points would press them to the bottom; then it is told and not drawn.
    let objective = axes.objective_ms.filter(|limit| *limit <= 4.0 * highest);
    let x_top = top(most(|p| p.1) * 1.05, 6);
    let y_top = top(highest.max(objective.unwrap_or(0.0)) * 1.08, 4);
    let panel = Panel {
        left: number(y_top).len() as f64 * DIGIT + 10.0,
        right: width - 12.0,
        top: 26.0,
        bottom: height - 38.0,
        x: (0.0, x_top),
        y: (0.0, y_top),
    };
    let place = |(x, y): (f64, f64)| Place {
        x: panel.px(x) / width,
        y: Some(panel.py(y) / height),
    };
    let places = points.iter().map(|point| figures(point).map(place)).collect();
    let svg = canvas.finish(&title, &finding, |canvas, shapes| {
        canvas.y_axis(shapes, &panel, &ticks(0.0, y_top, 4), axis_figure);
        let marks = ticks(0.0, x_top, (panel.columns() / 80).clamp(2, 8));
        canvas.x_axis(shapes, &panel, &marks, "output, tok/s", axis_figure);
        let next = canvas.legend(panel.left, 12.0, Role::Tokens, &format!("{}, median, ms", axes.latency));
        if let Some(limit) = objective {
            let y = panel.py(limit);
            shapes.line(vec![(panel.left, y), (panel.right, y)], Role::Discarded, 1.5);
            canvas.legend(next, 12.0, Role::Discarded, "objective");
        }
        let path: Vec<(f64, f64)> = placed.iter().map(|(_, x, y)| (panel.px(*x), panel.py(*y))).collect();
        if path.len() > 1 {
            shapes.line(path.clone(), Role::Tokens, 1.5);
        }
        for (i, ((x, y), (load, ..))) in path.iter().zip(&placed).enumerate() {
            let (half, role) = if knee == Some(i) {
                (5.0, Role::InFlight)
            } else {
                (3.0, Role::Tokens)
            };
            shapes.bar((x - half, y - half), (x + half, y + half), role);
            let label = match knee == Some(i) {
                true => format!("{} knee", axis_figure(*load)),
                false => axis_figure(*load),
            };
            let (anchor, at) = if *x > panel.right - 60.0 {
                (Anchor::End, x - 7.0)
            } else {
                (Anchor::Start, x + 7.0)
            };
            canvas.text(at, (y - 7.0).max(panel.top + 4.0), anchor, Role::Ink, &label);
        }
    });
    Drawing {
        svg,
        finding,
        head,
        rows,
        places,
        across: None,
    }
}

fn row(point: &Point, axes: &SweepAxes) -> Vec<String> {
    vec![
        axis_figure(point.load),
        number(point.output_throughput),
        number(point.request_throughput),
        millis((axes.latency_of)(point)),
        number(point.goodput.and_then(|goodput| goodput.request_goodput)),
        percent(point.goodput.and_then(|goodput| goodput.attainment)),
        percent(point.failure_share),
    ]
}

fn finding(placed: &[(f64, f64, f64)], knee: Option<usize>, axes: &SweepAxes) -> String {
    let words = |(load, x, y): &(f64, f64, f64)| {
        format!(
            "{} at {}, with a median {} of {}",
            with_unit(*x, "tok/s"),
            as_set(*load, axes.load_unit),
            axes.latency,
            millis(*y)
        )
    };
    let best = placed
        .iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or_else(String::new, |best| format!("Most output: {}.", words(best)));
    match knee.and_then(|knee| placed.get(knee)) {
        Some(knee) => format!("{best} The knee, from which more load brings less: {}.", words(knee)),
        None => best,
    }
}
