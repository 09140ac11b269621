//! The table of requests.

use std::{cmp::Ordering, sync::Arc};

use leptos::prelude::*;

use super::Filter;
use crate::{
    page::state::Page,
    report::{Document, format},
    request::RequestRecord,
};

/// Rows on one page of the table.
const ROWS: usize = 50;

/// A column of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Column {
    #[default]
    Index,
    Sent,
    Queue,
    Ttft,
    E2e,
    Tokens,
    Outcome,
}

impl Column {
    const ALL: [(Column, &str); 7] = [
        (Column::Index, "#"),
        (Column::Outcome, "outcome"),
        (Column::Sent, "sent at"),
        (Column::Queue, "queue"),
        (Column::Ttft, "TTFT"),
        (Column::E2e, "E2E"),
        (Column::Tokens, "tokens"),
    ];

    /// What rows are sorted by; what is absent comes last.
    fn value(self, record: &RequestRecord) -> f64 {
        let times = &record.times;
        let after = |at_ms: Option<f64>| at_ms.map_or(f64::INFINITY, |at_ms| at_ms - times.dispatched_ms);
        match self {
            Column::Index => f64::from(record.index),
            Column::Sent => times.dispatched_ms,
            Column::Queue => times.dispatched_ms - times.scheduled_ms,
            Column::Ttft => after(times.first_token_ms),
            Column::E2e => after(times.last_token_ms),
            Column::Tokens => record.tokens.output.map_or(f64::INFINITY, |tokens| tokens as f64),
            Column::Outcome => f64::from(record.outcome as u8),
        }
    }
}

/// Positions of the rows to show, in order.
fn order(records: &[RequestRecord], filter: &Filter, column: Column, falling: bool) -> Vec<usize> {
    let mut rows: Vec<usize> = match filter {
        Filter::All => (0..records.len()).collect(),
        Filter::Outcome(outcome) => (0..records.len()).filter(|i| records[*i].outcome == *outcome).collect(),
        Filter::Group(_, members) => members.iter().copied().filter(|i| *i < records.len()).collect(),
    };
    rows.sort_by(|a, b| {
        let (a, b) = (column.value(&records[*a]), column.value(&records[*b]));
        match (a.is_infinite(), b.is_infinite()) {
            (false, false) if falling => b.total_cmp(&a),
            (true, true) => Ordering::Equal,
            _ => a.total_cmp(&b),
        }
    });
    rows
}

/// All requests; sorted by a press on a head, filtered from above.
#[component]
pub fn RequestTable(document: Arc<Document>, filter: RwSignal<Filter>) -> impl IntoView {
    let sort = RwSignal::new((Column::Index, false));
    let first = RwSignal::new(0_usize);
    let rows = {
        let document = document.clone();
        Memo::new(move |_| {
            let (column, falling) = sort.get();
            filter.with(|filter| order(&document.requests, filter, column, falling))
        })
    };
    Effect::new(move |_| {
        filter.track();
        first.set(0);
    });
    let total = document.requests.len();
    let name = move || {
        let shown = rows.with(Vec::len);
        match filter.get() {
            Filter::All => format!("All {}", format::count(total as u64)),
            Filter::Outcome(outcome) => format!(
                "{} of {}: {}",
                format::count(shown as u64),
                format::count(total as u64),
                format::outcome_words(outcome)
            ),
            Filter::Group(name, _) => format!(
                "{} of {}: {name}",
                format::count(shown as u64),
                format::count(total as u64)
            ),
        }
    };
    let heads = Column::ALL
        .map(|(column, name)| {
            let arrow = move || match sort.get() {
                (sorted, false) if sorted == column => " ↑",
                (sorted, true) if sorted == column => " ↓",
                _ => "",
            };
            let state = move || match sort.get() {
                (sorted, false) if sorted == column => "ascending",
                (sorted, true) if sorted == column => "descending",
                _ => "none",
            };
            let press = move |_| {
                sort.update(|(sorted, falling)| {
                    *falling = *sorted == column && !*falling;
                    *sorted = column;
                })
            };
            view! { <th aria-sort=state><button type="button" class="head" on:click=press>{name}{arrow}</button></th> }
        })
        .collect_view();
    let body = move || {
        let first = first.get();
        rows.with(|rows| {
            rows.iter()
                .skip(first)
                .take(ROWS)
                .filter_map(|position| document.requests.get(*position))
                .map(|record| row(record.clone()))
                .collect_view()
        })
    };
    let more = move || rows.with(Vec::len) > ROWS;
    let range = move || {
        let all = rows.with(Vec::len);
        format!(
            "{} to {} of {}",
            first.get() + 1,
            (first.get() + ROWS).min(all),
            format::count(all as u64)
        )
    };
    view! {
        <section id="requests" tabindex="-1" aria-labelledby="requests-title">
            <h2 id="requests-title">"Requests"</h2>
            <div class="toolbar">
                <span>{name}</span>
                <Show when=move || filter.get() != Filter::All>
                    <button type="button" on:click=move |_| filter.set(Filter::All)>"Show all"</button>
                </Show>
                <Show when=more>
                    <span class="pager">
                        <button type="button" aria-label="Previous rows" disabled=move || first.get() == 0 on:click=move |_| first.update(|n| *n = n.saturating_sub(ROWS))>"‹"</button>
                        <span class="num">{range}</span>
                        <button
                            type="button"
                            aria-label="Next rows"
                            disabled=move || { first.get() + ROWS >= rows.with(Vec::len) }
                            on:click=move |_| first.update(|n| *n += ROWS)
                        >
                            "›"
                        </button>
                    </span>
                </Show>
            </div>
            <div class="scroll">
                <table class="numbers requests">
                    <thead><tr>{heads}<th>"what happened"</th></tr></thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
        </section>
    }
}

fn row(record: RequestRecord) -> impl IntoView {
    let page = Page::get();
    let times = record.times;
    let after = |at_ms: Option<f64>| format::millis(at_ms.map(|at_ms| at_ms - times.dispatched_ms));
    let tokens = record
        .tokens
        .output
        .map_or_else(|| format::NOT_AVAILABLE.to_owned(), format::count);
    let cells = [
        format!("{:.2}\u{202f}s", times.dispatched_ms / 1000.0),
        format::millis(times.dispatched_ms - times.scheduled_ms),
        after(times.first_token_ms),
        after(times.last_token_ms),
        tokens,
    ];
    let name = format!("#{}", record.index);
    let outcome = record.outcome;
    let story = if outcome.is_failure() {
        record.story()
    } else {
        String::new()
    };
    view! {
        <tr>
            <td><button type="button" class="link" on:click=move |_| page.inspected.set(Some(record.clone()))>{name}</button></td>
            <td><span class=format!("outcome {}", outcome.name())>{format::outcome_words(outcome)}</span></td>
            {cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}
            <td class="story">{story}</td>
        </tr>
    }
}
