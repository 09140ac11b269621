//! The figures of two runs, line by line.

use std::fmt::Write;

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::{
    compare::{Comparison, Direction, Row},
    import::{By, Key},
    metrics::term,
    page::browser,
    report::format,
};

fn name_of((id, stat, by): Key) -> String {
    let name = term(id).map_or(id, |term| term.name);
    let stat = if stat.is_empty() {
        String::new()
    } else {
        format!(", {stat}")
    };
    let by = if by == By::Streamgauge {
        String::new()
    } else {
        format!(" (as {})", by.name())
    };
    format!("{name}{stat}{by}")
}

fn value(key: Key, value: Option<f64>) -> String {
    match term(key.0).map(|term| term.unit) {
        Some("ms") => format::millis(value),
        Some(unit) if !unit.is_empty() => format::with_unit(value, unit),
        _ => format::number(value),
    }
}

fn signed(share: f64) -> String {
    format!(
        "{}{:.1}\u{202f}%",
        if share < 0.0 { "−" } else { "+" },
        share.abs() * 100.0
    )
}

fn interval(row: &Row) -> String {
    row.interval.map_or_else(
        || "none".to_owned(),
        |(low, high)| format!("{} to {}", signed(low), signed(high)),
    )
}

fn finding(direction: Direction) -> &'static str {
    match direction {
        Direction::Better => "▲ better",
        Direction::Worse => "▼ worse",
        Direction::Same => "no change told",
        Direction::Shown => "",
    }
}

/// The table, and the same as Markdown.
#[component]
pub fn CompareTable(baseline: String, other: String, comparison: Comparison) -> impl IntoView {
    let copied = RwSignal::new(None::<bool>);
    let markdown = markdown(&baseline, &other, &comparison);
    let copy = move |_| {
        let text = markdown.clone();
        spawn_local(async move { copied.set(Some(browser::copy(&text).await)) });
    };
    let rows = comparison
        .rows
        .iter()
        .map(|row| {
            let class = match row.direction {
                Direction::Better => "better",
                Direction::Worse => "worse",
                _ => "",
            };
            view! {
                <tr class=class>
                    <th scope="row">{name_of(row.key)}</th>
                    <td>{value(row.key, row.before)}</td>
                    <td>{value(row.key, row.after)}</td>
                    <td>{row.change.map_or_else(|| format::NOT_AVAILABLE.to_owned(), signed)}</td>
                    <td>{interval(row)}</td>
                    <td>{finding(row.direction)}</td>
                </tr>
            }
        })
        .collect_view();
    let differing = comparison
        .differing
        .iter()
        .map(|(key, figure, how)| view! { <li>{name_of(*key)} ": " {value(*key, Some(*figure))} "; it " {*how} "."</li> })
        .collect_view();
    let some = !comparison.rows.is_empty();
    view! {
        {some
            .then(|| {
                view! {
                    <div class="scroll" tabindex="0" role="group" aria-label="Figures compared">
                        <table class="numbers">
                            <thead>
                                <tr>
                                    <th><span class="visually-hidden">"figure"</span></th>
                                    <th>{baseline}</th>
                                    <th>{other}</th>
                                    <th>"change"</th>
                                    <th>"95 % interval"</th>
                                    <th>"finding"</th>
                                </tr>
                            </thead>
                            <tbody>{rows}</tbody>
                        </table>
                    </div>
                    <p class="actions">
                        <button type="button" class="link" on:click=copy>"Copy as Markdown"</button>
                        <span role="status">
                            {move || copied.get().map(|done| if done { "Copied." } else { "The browser did not allow it." })}
                        </span>
                    </p>
                }
            })}
        {(!comparison.differing.is_empty())
            .then(|| {
                view! {
                    <details>
                        <summary>"Figures by other definitions, not compared"</summary>
                        <ul>{differing}</ul>
                    </details>
                }
            })}
    }
}

fn markdown(baseline: &str, other: &str, comparison: &Comparison) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let mut out = format!(
        "**{}**\n\n| figure | {} | {} | change | 95 % interval | finding |\n|---|---:|---:|---:|---:|---|\n",
        comparison.verdict.word(),
        cell(baseline),
        cell(other)
    );
    for row in &comparison.rows {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            name_of(row.key),
            value(row.key, row.before),
            value(row.key, row.after),
            row.change.map_or_else(|| format::NOT_AVAILABLE.to_owned(), signed),
            interval(row),
            finding(row.direction),
        );
    }
    out
}
