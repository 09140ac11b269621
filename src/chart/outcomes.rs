//! How requests ended, over time.

use super::{
    Across, Drawing, Size, Theme,
    canvas::{Anchor, Canvas, DIGIT, Panel, legend_width},
    heads, nothing,
    palette::Role,
    throughput::{axis_figure, figure_with_unit, reach_s, time_axis},
    ticks::{round_merge, ticks, top},
};
use crate::{
    metrics::{OutcomeCounts, Timeline},
    report::format::{count, outcome_words, percent},
    request::Outcome,
};

const TITLE: &str = "How requests ended, over time";

/// Narrowest bar, px, the gap included.
const NARROWEST: usize = 5;

/// Requests that ended per bucket, stacked by outcome.
pub fn outcomes_over_time(timeline: &Timeline, size: Size, theme: Theme) -> Drawing {
    let mut total = OutcomeCounts::default();
    for bucket in &timeline.outcomes {
        total.merge(bucket);
    }
    let present: Vec<Outcome> = Outcome::ALL.into_iter().filter(|o| total.get(*o) > 0).collect();
    let mut head = heads(["from (s)"]);
    head.extend(present.iter().map(|o| outcome_words(*o).to_owned()));
    if present.is_empty() {
        return nothing(size, theme, TITLE, "No request has ended yet.", head);
    }
    let finding = finding(&total);

    let canvas = Canvas::new(size, theme);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let words: Vec<String> = present
        .iter()
        .map(|o| format!("{} {}", outcome_words(*o), count(u64::from(total.get(*o)))))
        .collect();
    let lines = legend_lines(&words, width - 8.0);
    let legend_height = 18.0 * lines.len() as f64;

    let columns = (width - 60.0).max(1.0) as usize;
    let merge = round_merge(
        (timeline.outcomes.len() * NARROWEST).div_ceil(columns).max(1),
        timeline.bucket_ms,
    );
    let bars: Vec<OutcomeCounts> = timeline
        .outcomes
        .chunks(merge)
        .map(|chunk| {
            chunk.iter().fold(OutcomeCounts::default(), |mut sum, bucket| {
                sum.merge(bucket);
                sum
            })
        })
        .collect();
    let step_s = merge as f64 * timeline.bucket_ms / 1000.0;
    let reach = reach_s(timeline);
    let from_s = |bar: usize| reach.0 + bar as f64 * step_s;
    let y_top = top(bars.iter().map(OutcomeCounts::total).max().map_or(0.0, f64::from), 4);
    let panel = Panel {
        left: axis_figure(y_top).len().max(2) as f64 * DIGIT + 10.0,
        right: width - 12.0,
        top: legend_height + 26.0,
        bottom: height - 38.0,
        x: reach,
        y: (0.0, y_top),
    };
    let svg = canvas.finish(TITLE, &finding, |canvas, shapes| {
        let mut rest = present.iter().zip(&words);
        for (n, line) in lines.iter().enumerate() {
            let mut x = 4.0;
            for (outcome, word) in rest.by_ref().take(*line) {
                x = canvas.legend(x, 12.0 + 18.0 * n as f64, Role::Ended(*outcome), word);
            }
        }
        let unit = format!("requests ended per {}", figure_with_unit(step_s, "s"));
        canvas.text(panel.left, panel.top - 9.0, Anchor::Start, Role::Faint, &unit);
        let marks: Vec<f64> = ticks(0.0, y_top, 4).into_iter().filter(|t| t.fract() == 0.0).collect();
        canvas.y_axis(shapes, &panel, &marks, axis_figure);
        for (i, bar) in bars.iter().enumerate() {
            let (left, right) = (panel.px(from_s(i)), panel.px(from_s(i + 1)));
            let gap = if right - left > 4.0 { 1.0 } else { 0.0 };
            let mut below = 0.0;
            for outcome in &present {
                let here = f64::from(bar.get(*outcome));
                if here > 0.0 {
                    let (low, high) = (panel.py(below), panel.py(below + here));
                    // A hairline between the parts, so that they can be told apart without their colour.
                    let seam = if below > 0.0 && low - high > 3.0 { 0.75 } else { 0.0 };
                    shapes.bar((left, low - seam), (right - gap, high), Role::Ended(*outcome));
                    below += here;
                }
            }
        }
        time_axis(canvas, shapes, &panel);
    });
    let rows: Vec<Vec<String>> = bars
        .iter()
        .enumerate()
        .map(|(i, bar)| {
            let counts = present.iter().map(|o| count(u64::from(bar.get(*o))));
            std::iter::once(axis_figure(from_s(i))).chain(counts).collect()
        })
        .collect();
    Drawing {
        svg,
        finding,
        head,
        rows,
        places: (0..bars.len())
            .map(|bar| panel.column((from_s(bar) + from_s(bar + 1).min(reach.1)) / 2.0, width))
            .collect(),
        across: Some(Across::of(&panel, width, reach, false)),
    }
}

/// How many entries stand in each line of the legend.
fn legend_lines(words: &[String], width: f64) -> Vec<usize> {
    let mut lines = Vec::new();
    let (mut here, mut x) = (0, 0.0);
    for word in words {
        let wide = legend_width(word);
        if here > 0 && x + wide - 16.0 > width {
            lines.push(here);
            (here, x) = (0, 0.0);
        }
        here += 1;
        x += wide;
    }
    lines.push(here);
    lines
}

fn finding(total: &OutcomeCounts) -> String {
    let all = total.total();
    let requests = if all == 1 { "request" } else { "requests" };
    let mut text = format!(
        "{} {requests} ended: {} succeeded, {} failed",
        count(u64::from(all)),
        count(u64::from(total.get(Outcome::Succeeded))),
        count(u64::from(total.failed())),
    );
    if total.failed() > 0 {
        text += &format!(" ({})", percent(total.failure_share()));
    }
    if total.get(Outcome::Cancelled) > 0 {
        text += &format!(", {} cancelled", count(u64::from(total.get(Outcome::Cancelled))));
    }
    text.push('.');
    let mut failures: Vec<Outcome> = Outcome::ALL
        .into_iter()
        .filter(|o| o.is_failure() && total.get(*o) > 0)
        .collect();
    failures.sort_by_key(|o| std::cmp::Reverse(total.get(*o)));
    if let [first, second, ..] = failures[..]
        && total.get(first) > total.get(second)
    {
        text += &format!(
            " The most frequent failure was \"{}\" with {}.",
            outcome_words(first),
            count(u64::from(total.get(first)))
        );
    }
    text
}
