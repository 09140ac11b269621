//! What was measured, and the few figures that matter first.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    Filter,
    share::{Share, file_name},
};
use crate::{
    metrics::{Distribution, Window},
    page::{
        browser,
        parts::{Figure, VerdictBadge},
        state::Page,
    },
    report::{Document, Ending, Measured, format, load_words},
    request::Outcome,
};

/// Header and headline figures.
#[component]
pub fn Overview(
    /// The whole run.
    document: Arc<Document>,
    /// The part of it that the headline figures are of.
    shown: RwSignal<Arc<Document>>,
    /// That part, if it is not the whole.
    window: RwSignal<Option<Window>>,
    filter: RwSignal<Filter>,
) -> impl IntoView {
    let page = Page::get();
    let config = &document.config;
    let facts = facts(&document);
    let save = {
        let document = document.clone();
        move |_| match browser::save_file(&file_name(&document, "json"), "application/json", &document.to_json()) {
            Ok(()) => page.unsaved.set(false),
            Err(error) => page.notice(format!("The browser refused to save the file: {error:?}")),
        }
    };
    let compare = {
        let document = document.clone();
        move |_| page.compare(&document)
    };
    let again = {
        let config = config.clone();
        move |_| page.run_again(&config)
    };
    let new = {
        let config = config.clone();
        move |_| {
            page.take_config(&config);
            page.back();
        }
    };
    view! {
        <header class="result-head">
            <div>
                <h1>{title(&document)}</h1>
                <p class="quiet">{facts}</p>
                <p class="badges">
                    <Badges document=document.clone() />
                </p>
            </div>
            <div class="actions">
                <button type="button" class="primary" on:click=again>"Run again"</button>
                <button type="button" on:click=new>"New run"</button>
                <button type="button" on:click=save>"Save JSON"</button>
                <button type="button" on:click=compare>"Compare"</button>
                <Share shared=Measured::Run(document.clone()) />
            </div>
        </header>
        {(!document.client.reasons.is_empty())
            .then(|| {
                view! { <ul class="reasons">{document.client.reasons.iter().map(|reason| view! { <li>{reason.clone()}</li> }).collect_view()}</ul> }
            })}
        {move || view! { <Headline document=shown.get() part=window.get().is_some() /> }}
        {move || view! { <Outcomes document=shown.get() part=window.get().is_some() filter /> }}
    }
}

/// The result's heading: which model was measured where.
pub fn title(document: &Document) -> String {
    match (document.server.model.as_str(), document.simulated) {
        (_, true) => "Simulated server".to_owned(),
        ("", false) => document.server.base_url.clone(),
        (model, false) => format!("{model} at {}", document.server.base_url),
    }
}

/// API, load, workload, duration and date in a line.
pub fn facts(document: &Document) -> String {
    let config = &document.config;
    format!(
        "{} · {} · {} prompt tokens, {} output tokens asked · {} warm-up · {} · {}",
        crate::protocol::api_path(config.api),
        load_words(config),
        format::count(config.input_tokens.into()),
        format::count(config.output_tokens.into()),
        format::count(config.warmup.into()),
        format::wait(document.duration_ms / 1000.0),
        browser::date_and_time(document.started_unix_ms),
    )
}

/// How it ended, if not as planned; whether it was simulated; the client's verdict.
#[component]
pub fn Badges(document: Arc<Document>) -> impl IntoView {
    let ending = match document.ending {
        Ending::Completed => None,
        Ending::StoppedByUser => Some("Stopped by the user"),
        Ending::Interrupted => Some("Interrupted"),
    };
    let health = document.client.clone();
    view! {
        {document.simulated.then(|| view! { <span class="badge simulated">"Simulated: says nothing about a real server"</span> })}
        {ending.map(|ending| view! { <span class="badge warn">{ending}</span> })}
        <VerdictBadge health=Signal::derive(move || health.clone()) />
    }
}

/// The 99th percentile, or what it would take.
fn p99(values: &Distribution) -> String {
    format!("p99 {}", format::percentile(values.p99, 99.0, values.n as u64, false))
}

/// The few figures that matter first.
#[component]
pub fn Headline(
    document: Arc<Document>,
    /// Whether it is of a part of the run.
    #[prop(optional)]
    part: bool,
) -> impl IntoView {
    let summary = &document.summary;
    let failed = match summary.failed {
        0 => "0".to_owned(),
        failed => {
            let rated = f64::from(summary.succeeded + failed);
            format!(
                "{} ({})",
                format::count(failed.into()),
                format::percent(f64::from(failed) / rated)
            )
        }
    };
    let successes = match summary.succeeded {
        1 => "1 success".to_owned(),
        n => format!("{} successes", format::count(n.into())),
    };
    let offered = document
        .config
        .load
        .is_open()
        .then(|| crate::load::schedule::offered(&document.requests))
        .flatten()
        .map(|offered| {
            view! {
                <Figure
                    label="Rate offered"
                    value=format::with_unit(offered.sent_per_s, "req/s")
                    detail=format!("{} scheduled", format::with_unit(offered.scheduled_per_s, "req/s"))
                />
            }
        });
    let estimated = match summary.estimated_token_counts {
        0 => format!("{} tokens of successes", format::count(summary.output_tokens)),
        n => format!(
            "{} of {} counts are estimates",
            format::count(n.into()),
            format::count(summary.succeeded.into())
        ),
    };
    view! {
        <div class="figures">
            <Figure label="Output throughput" value=format::with_unit(summary.output_throughput, "tok/s") detail=estimated />
            {offered}
            <Figure label="Request throughput" value=format::with_unit(summary.request_throughput, "req/s") detail=successes />
            <Figure label="TTFT, median" value=format::millis(summary.ttft_ms.p50) detail=p99(&summary.ttft_ms) />
            <Figure label="ITL, median" value=format::millis(summary.itl_ms.p50) detail=p99(&summary.itl_ms) />
            <Figure
                label="Failed"
                value=failed
                detail=format!("of {} {}", format::count(summary.sent.into()), if part { "that ended" } else { "sent" })
                alarming=Signal::stored(summary.failed > 0)
            />
        </div>
    }
}

/// The outcomes, which add up to what was sent, or to what ended in a part of the run.
#[component]
fn Outcomes(document: Arc<Document>, part: bool, filter: RwSignal<Filter>) -> impl IntoView {
    let counts: Vec<(Outcome, u32)> = Outcome::ALL
        .into_iter()
        .filter_map(|outcome| Some((outcome, *document.summary.outcomes.get(outcome.name())?)))
        .collect();
    let sent = document.summary.sent;
    let unsent = match document.config.load.duration_s {
        None if !part => document.config.requests.saturating_sub(sent),
        _ => 0,
    };
    let warmup_failed = document
        .warmup
        .iter()
        .filter(|record| record.outcome.is_failure())
        .count();
    let warmup = (warmup_failed > 0).then(|| {
        let records = document.warmup.iter().filter(|record| record.outcome.is_failure()).cloned();
        let lines = records.map(|record| view! { <crate::page::live::FailureLine record /> }).collect_view();
        view! {
            <details class="warmup">
                <summary>{format!("{warmup_failed} of {} warm-up requests failed; they are in no figure", document.warmup.len())}</summary>
                <ul class="failure-list">{lines}</ul>
            </details>
        }
    });
    view! {
        <section class="outcome-sum" aria-label="Outcomes">
            <span>{format!("{} {}", format::count(sent.into()), if part { "ended in this part" } else { "sent" })}</span>
            <span aria-hidden="true">"="</span>
            {counts
                .into_iter()
                .enumerate()
                .map(|(i, (outcome, count))| {
                    view! {
                        {(i > 0).then(|| view! { <span aria-hidden="true">"+"</span> })}
                        <button
                            type="button"
                            class=format!("outcome {}", outcome.name())
                            title="Show these in the table of requests"
                            aria-pressed=move || (filter.get() == Filter::Outcome(outcome)).to_string()
                            on:click=move |_| {
                                filter.set(Filter::Outcome(outcome));
                                browser::go_to("requests");
                            }
                        >
                            {format!("{} {}", format::count(count.into()), format::outcome_words(outcome))}
                        </button>
                    }
                })
                .collect_view()}
            {(unsent > 0).then(|| view! { <span class="quiet">{format!("({} never sent)", format::count(unsent.into()))}</span> })}
            {warmup}
        </section>
    }
}
