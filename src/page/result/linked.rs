//! A result as a link carried it.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    latency::LatencySection,
    overview::{Badges, Headline, facts, title},
    spread::SpreadSection,
};
use crate::{
    chart::{self, Theme},
    metrics::{FailureGroup, Samples, Timeline},
    page::{live::chart_size, parts::ChartView, state::Page},
    report::{
        HIDDEN, format,
        link::{Row, Snapshot},
    },
    request::Outcome,
};

/// Rows of the table on one page.
const ROWS: usize = 100;

/// A snapshot, read from top to bottom as a result is.
#[component]
pub fn LinkedView(snapshot: Arc<Snapshot>) -> impl IntoView {
    let page = Page::get();
    let document = Arc::new(snapshot.document.clone());
    let again = {
        let config = document.config.clone();
        move |_| {
            page.take_config(&config);
            page.back();
        }
    };
    let samples = match snapshot.samples.as_slice() {
        [ttft_ms, ttfo_ms, tpot_ms, itl_ms, e2e_ms] => Some(Samples {
            ttft_ms: ttft_ms.clone(),
            ttfo_ms: ttfo_ms.clone(),
            tpot_ms: tpot_ms.clone(),
            itl_ms: itl_ms.clone(),
            e2e_ms: e2e_ms.clone(),
            ..Samples::default()
        }),
        _ => None,
    };
    let no_address = document.server.base_url == HIDDEN;
    view! {
        <article class="result linked">
            <header class="result-head">
                <div>
                    <h1>{title(&document)}</h1>
                    <p class="quiet">{facts(&document)}</p>
                    <p class="badges">
                        <span class="badge simulated">"From a link"</span>
                        <Badges document=document.clone() />
                    </p>
                </div>
                <div class="actions">
                    <button type="button" class="primary" on:click=again>"Use this configuration"</button>
                </div>
            </header>
            <p class="advice">
                "The link carried this result; no server was asked. It leaves out "
                {snapshot.left_out.join("; ")} ". Figures have five significant digits."
                {no_address.then_some(" The server's address was not shared: to run this again, name your own.")}
            </p>
            {(!document.client.reasons.is_empty())
                .then(|| {
                    view! { <ul class="reasons">{document.client.reasons.iter().map(|reason| view! { <li>{reason.clone()}</li> }).collect_view()}</ul> }
                })}
            <Headline document=document.clone() />
            <p class="outcome-sum">
                {format!("{} sent = ", format::count(document.summary.sent.into()))}
                {Outcome::ALL
                    .into_iter()
                    .filter_map(|outcome| Some((outcome, *document.summary.outcomes.get(outcome.name())?)))
                    .map(|(outcome, count)| {
                        view! {
                            <span class=format!("outcome {}", outcome.name())>
                                {format!("{} {}", format::count(count.into()), format::outcome_words(outcome))}
                            </span>
                        }
                    })
                    .collect_view()}
            </p>
            <LatencySection document=document.clone() />
            {snapshot.timeline.clone().map(|timeline| view! { <Course timeline /> })}
            {samples.map(|samples| view! { <SpreadSection samples /> })}
            {(!snapshot.groups.is_empty()).then(|| view! { <Failures groups=snapshot.groups.clone() /> })}
            {(!snapshot.rows.is_empty()).then(|| view! { <Rows snapshot=snapshot.clone() /> })}
            {(!document.notes.is_empty())
                .then(|| {
                    view! {
                        <section aria-labelledby="linked-notes">
                            <h2 id="linked-notes">"Notes"</h2>
                            <ul>{document.notes.iter().map(|note| view! { <li>{note.clone()}</li> }).collect_view()}</ul>
                        </section>
                    }
                })}
        </article>
    }
}

#[component]
fn Course(timeline: Timeline) -> impl IntoView {
    let page = Page::get();
    let size = Signal::derive(move || chart_size(page.width.get(), 240));
    let timeline = StoredValue::new(timeline);
    let throughput =
        Signal::derive(move || timeline.with_value(|t| chart::throughput_over_time(t, size.get(), Theme::Light)));
    let outcomes =
        Signal::derive(move || timeline.with_value(|t| chart::outcomes_over_time(t, size.get(), Theme::Light)));
    view! {
        <section id="over-time" aria-labelledby="over-time-title">
            <h2 id="over-time-title">"Over time"</h2>
            <div class="charts">
                <ChartView title="Output tokens over time" drawing=throughput />
                <ChartView title="Requests ended over time" drawing=outcomes />
            </div>
        </section>
    }
}

#[component]
fn Failures(groups: Vec<FailureGroup>) -> impl IntoView {
    let groups = groups
        .into_iter()
        .map(|group| {
            let code = group.code.map(|code| format!(" · code {code}")).unwrap_or_default();
            view! {
                <article class="group">
                    <p>
                        <span class=format!("outcome {}", group.outcome.name())>{format::outcome_words(group.outcome)}</span>
                        <strong>{format!(" {} × ", format::count(group.count.into()))}</strong>
                        <span class="quiet">
                            {format!(
                                "{} of requests · from {:.1} to {:.1}\u{202f}s{code}",
                                format::percent(group.share),
                                group.first_ms / 1000.0,
                                group.last_ms / 1000.0,
                            )}
                        </span>
                    </p>
                    <p class="message">{if group.example.is_empty() { "No message came with it.".to_owned() } else { group.example }}</p>
                    <p class="quiet">{group.rule.statement()}</p>
                </article>
            }
        })
        .collect_view();
    view! {
        <section id="failures" aria-labelledby="failures-title">
            <h2 id="failures-title">"Failures"</h2>
            <div class="groups">{groups}</div>
        </section>
    }
}

#[component]
fn Rows(snapshot: Arc<Snapshot>) -> impl IntoView {
    let first = RwSignal::new(0_usize);
    let total = snapshot.rows.len();
    let range = move || {
        let last = (first.get() + ROWS).min(total);
        format!(
            "{} to {} of {}",
            first.get() + 1,
            format::count(last as u64),
            format::count(total as u64)
        )
    };
    let body = move || {
        let rows = snapshot.rows.iter().skip(first.get()).take(ROWS);
        rows.map(row).collect_view()
    };
    view! {
        <section id="requests" aria-labelledby="requests-title">
            <h2 id="requests-title">"Requests"</h2>
            <div class="toolbar">
                <span>{range}</span>
                <span class="pager">
                    <button type="button" aria-label="Previous rows" disabled=move || first.get() == 0 on:click=move |_| first.update(|n| *n = n.saturating_sub(ROWS))>
                        "‹"
                    </button>
                    <button type="button" aria-label="Next rows" disabled=move || { first.get() + ROWS >= total } on:click=move |_| first.update(|n| *n += ROWS)>
                        "›"
                    </button>
                </span>
            </div>
            <div class="scroll" tabindex="0" role="group" aria-label="Requests">
                <table class="numbers rows">
                    <thead>
                        <tr><th>"request"</th><th>"outcome"</th><th>"dispatched"</th><th>"TTFT"</th><th>"E2E"</th><th>"output tokens"</th></tr>
                    </thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
        </section>
    }
}

fn row(row: &Row) -> impl IntoView + use<> {
    let tokens = row
        .output_tokens
        .map_or_else(|| format::NOT_AVAILABLE.to_owned(), format::count);
    let cells = [
        format!("{:.2}\u{202f}s", row.dispatched_ms / 1000.0),
        format::millis(row.ttft_ms),
        format::millis(row.e2e_ms),
        tokens,
    ];
    view! {
        <tr>
            <td>{format!("#{}", row.index)}</td>
            <td><span class=format!("outcome {}", row.outcome.name())>{format::outcome_words(row.outcome)}</span></td>
            {cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}
        </tr>
    }
}
