//! How often each kind of failure occurred.

use super::{
    Drawing, Size, Theme,
    canvas::{Anchor, Canvas, fit, text_width},
    heads, nothing,
    palette::Role,
};
use crate::{
    metrics::FailureGroup,
    report::format::{count, outcome_words, percent},
};

const TITLE: &str = "Failures by kind";

/// Height of one group: its words, and its bar below them, px.
const ROW: f64 = 40.0;

/// The height that shows this many groups (at most 12), CSS px.
pub fn breakdown_height(groups: usize) -> u32 {
    (ROW as u32) * groups.clamp(1, 12) as u32 + if groups > 12 { 24 } else { 4 }
}

/// How often each failure group occurred, as horizontal bars; the largest first, as many as the height holds.
pub fn failure_breakdown(groups: &[FailureGroup], size: Size, theme: Theme) -> Drawing {
    let head = heads(["outcome", "code", "message", "count", "share of ended requests"]);
    if groups.is_empty() {
        return nothing(size, theme, TITLE, "No request failed.", head);
    }
    let finding = finding(groups);
    let rows = groups
        .iter()
        .map(|g| {
            vec![
                outcome_words(g.outcome).to_owned(),
                g.code.clone().unwrap_or_default(),
                g.pattern.clone(),
                count(u64::from(g.count)),
                percent(g.share),
            ]
        })
        .collect();

    let canvas = Canvas::new(size, theme);
    let (width, height) = (f64::from(canvas.size().width), f64::from(canvas.size().height));
    let fits = |height: f64| ((height - 4.0) / ROW).max(1.0) as usize;
    let shown = if groups.len() <= fits(height) {
        groups.len()
    } else {
        fits(height - 20.0)
    };
    let most = groups.iter().map(|g| g.count).max().unwrap_or(1).max(1);
    let svg = canvas.finish(TITLE, &finding, |canvas, shapes| {
        // The figures stand behind the bars, so the longest bar leaves room for the longest of them.
        let figures: Vec<String> = groups[..shown]
            .iter()
            .map(|g| format!("{} ({})", count(u64::from(g.count)), percent(g.share)))
            .collect();
        let room = figures.iter().map(|f| text_width(f)).fold(0.0, f64::max) + 12.0;
        for (i, (group, figure)) in groups[..shown].iter().zip(&figures).enumerate() {
            let y = ROW * i as f64 + 4.0;
            canvas.text(0.0, y + 12.0, Anchor::Start, Role::Ink, &fit(&words(group), width));
            let end = ((width - room) * f64::from(group.count) / f64::from(most)).max(2.0);
            shapes.bar((0.0, y + 18.0), (end, y + 30.0), Role::Ended(group.outcome));
            canvas.text(end + 6.0, y + 28.5, Anchor::Start, Role::Ink, figure);
        }
        if shown < groups.len() {
            let rest: u64 = groups[shown..].iter().map(|g| u64::from(g.count)).sum();
            let more = groups.len() - shown;
            let kinds = if more == 1 { "kind" } else { "kinds" };
            let text = format!("and {more} more {kinds} with {} in all, in the table", count(rest));
            canvas.text(0.0, ROW * shown as f64 + 16.0, Anchor::Start, Role::Faint, &text);
        }
    });
    Drawing {
        svg,
        finding,
        head,
        rows,
        places: Vec::new(),
        across: None,
    }
}

fn words(group: &FailureGroup) -> String {
    let mut text = outcome_words(group.outcome).to_owned();
    if let Some(code) = &group.code {
        text += &format!(" {code}");
    }
    let message = if group.count == 1 {
        &group.example
    } else {
        &group.pattern
    };
    if !message.is_empty() {
        // What fits on a line is far less than this; a message may be megabytes long.
        text.extend(": ".chars().chain(message.chars().take(1000)));
    }
    text
}

fn finding(groups: &[FailureGroup]) -> String {
    let all: u64 = groups.iter().map(|g| u64::from(g.count)).sum();
    let Some(first) = groups.iter().max_by_key(|g| g.count) else {
        return String::new();
    };
    let code = first
        .code
        .as_deref()
        .map_or(String::new(), |code| format!(" {}", fit(code, 200.0)));
    let what = format!("\"{}{code}\"", outcome_words(first.outcome));
    match (groups.len(), all) {
        (1, 1) => format!("One request failed: {what}."),
        (1, all) => format!("{} requests failed, all as {what}.", count(all)),
        (kinds, all) if groups.iter().filter(|g| g.count == first.count).count() > 1 => {
            format!(
                "{} requests failed in {kinds} ways, none of them the most frequent.",
                count(all)
            )
        }
        (kinds, all) => format!(
            "{} requests failed in {kinds} ways; the most frequent is {what} with {} ({} of the failures).",
            count(all),
            count(u64::from(first.count)),
            percent(f64::from(first.count) / all as f64),
        ),
    }
}
