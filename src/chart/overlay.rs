//! One latency of several runs: their cumulative curves over each other.

use super::{
    Drawing, Size, Theme,
    canvas::{Anchor, Canvas, text_width},
    distribution::{View, extent, latency_axis, panel, staircase},
    heads, nothing,
    palette::Role,
};
use crate::{
    metrics::Sample,
    report::format::{NARROW_SPACE, millis},
    request::Outcome,
};

/// Colours in their order; more runs than these are not told apart.
const ROLES: [Role; 6] = [
    Role::Tokens,
    Role::Discarded,
    Role::InFlight,
    Role::Ended(Outcome::Aborted),
    Role::Ended(Outcome::Timeout),
    Role::Ink,
];

/// Letters of a run's name in the legend.
const NAME_LETTERS: usize = 24;

/// Share of values up to each latency in ms, one curve per run, the first six of them; `name` is the metric's (`"TTFT"`).
pub fn overlay(name: &str, runs: &[(String, &Sample)], size: Size, theme: Theme) -> Drawing {
    let title = format!("Cumulative distributions of {name}");
    let head = heads(["run", "median", "p90", "p99", "n"]);
    let runs: Vec<_> = runs
        .iter()
        .filter(|(_, sample)| !sample.is_empty())
        .take(ROLES.len())
        .collect();
    // The axis is that of all together.
    let all = runs
        .iter()
        .flat_map(|(_, sample)| (0..=100).filter_map(|p| sample.percentile(f64::from(p))));
    let canvas = Canvas::new(size, theme);
    let Some(mut extent) = extent(&Sample::new(all.collect()), View::default(), 40) else {
        return nothing(size, theme, &title, &format!("No {name} was measured."), head);
    };
    (extent.below, extent.beyond) = runs.iter().fold((0, 0), |(below, beyond), (_, sample)| {
        let outside = extent.outside(sample);
        (below + outside.0, beyond + outside.1)
    });
    let medians: Vec<String> = runs
        .iter()
        .map(|(name, sample)| format!("{} in {name}", millis(sample.percentile(50.0))))
        .collect();
    let finding = format!("The median of {name} is {}.", medians.join(", "));
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let panel = panel(width, height, "100 %".len(), (extent.low, extent.high), 1.0);
    let svg = canvas.finish(&title, &finding, |canvas, shapes| {
        let mut x = 0.0;
        for ((name, _), role) in runs.iter().zip(ROLES) {
            let short: String = name.chars().take(NAME_LETTERS).collect();
            shapes.bar((x, 3.0), (x + 10.0, 13.0), role);
            canvas.text(x + 14.0, 12.0, Anchor::Start, Role::Ink, &short);
            x += 30.0 + text_width(&short);
        }
        canvas.y_axis(shapes, &panel, &[0.0, 0.25, 0.5, 0.75, 1.0], |share| {
            format!("{:.0}{NARROW_SPACE}%", share * 100.0)
        });
        for ((_, sample), role) in runs.iter().zip(ROLES) {
            shapes.line(staircase(&panel, sample, &extent), role, 1.5);
        }
        latency_axis(canvas, shapes, &panel, name, &extent);
    });
    let rows = runs
        .iter()
        .map(|(name, sample)| {
            let at = |p| millis(sample.percentile(p));
            vec![name.clone(), at(50.0), at(90.0), at(99.0), sample.len().to_string()]
        })
        .collect();
    Drawing {
        svg,
        finding,
        head,
        rows,
        places: Vec::new(),
        across: None,
    }
}
