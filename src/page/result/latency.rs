//! The table of latencies.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    metrics::{self, Adjusted, AdjustedPercentile, Distribution},
    page::parts::Term,
    report::{Document, format},
};

/// A column: its head, its percentile (0 if it is none), its figure.
type Column = (&'static str, f64, fn(&Distribution) -> Option<f64>);

/// A reading of a percentile: its term, empty for the plain one, and its figure.
type Reading = (&'static str, fn(&AdjustedPercentile) -> Option<f64>);

const COLUMNS: [Column; 6] = [
    ("mean", 0.0, |d| d.mean),
    ("median", 50.0, |d| d.p50),
    ("p90", 90.0, |d| d.p90),
    ("p95", 95.0, |d| d.p95),
    ("p99", 99.0, |d| d.p99),
    ("max", 0.0, |d| d.max),
];
const ALL_COLUMNS: [Column; 9] = [
    ("mean", 0.0, |d| d.mean),
    ("std", 0.0, |d| d.std),
    ("min", 0.0, |d| d.min),
    ("median", 50.0, |d| d.p50),
    ("p90", 90.0, |d| d.p90),
    ("p95", 95.0, |d| d.p95),
    ("p99", 99.0, |d| d.p99),
    ("p99.9", 99.9, |d| d.p999),
    ("max", 0.0, |d| d.max),
];

/// The latencies, over successes: a few columns, and all of them on demand.
#[component]
pub fn LatencySection(document: Arc<Document>) -> impl IntoView {
    let summary = &document.summary;
    let (more, anyway) = (RwSignal::new(false), RwSignal::new(false));
    let others = [
        ("input_throughput", format::with_unit(summary.input_throughput, "tok/s")),
        ("total_throughput", format::with_unit(summary.total_throughput, "tok/s")),
        (
            "peak_output_throughput",
            format::with_unit(summary.peak_output_throughput, "tok/s"),
        ),
        ("user_speed", format::with_unit(summary.user_speed.p50, "tok/s")),
        ("prompt_tokens", format::count(summary.prompt_tokens)),
        (
            "cached_tokens",
            summary
                .cached_tokens
                .map_or(format::NOT_AVAILABLE.to_owned(), format::count),
        ),
        ("cache_hit_rate", format::percent(summary.cache_hit_rate)),
        ("spec_accept_length", format::number(summary.spec_accept_length.mean)),
        ("output_tokens", format::count(summary.output_tokens)),
        ("tokens_per_read", format::number(summary.tokens_per_read)),
        ("discarded_frames", format::count(summary.discarded_frames)),
        ("mean_concurrency", format::number(summary.mean_concurrency)),
        ("peak_concurrency", format::count(summary.peak_concurrency.into())),
    ];
    let adjusted = StoredValue::new(metrics::adjusted(&document.requests));
    // A result from a link has figures alone.
    let has_requests = !document.requests.is_empty() || summary.sent == 0;
    let failed = summary.failed;
    view! {
        <section id="latency" aria-labelledby="latency-title">
            <h2 id="latency-title">"Latency"</h2>
            <p class="quiet small" id="latency-note">
                "Of successes; n is the size of each sample. A "<Term id="percentile" />
                " of a sample too small for it says how large one must be: p90 from 64, p95 from 130, p99 from 662, p99.9 from 6,636."
            </p>
            <p class="switches">
                <Switch label="More figures" on=more />
                <Switch label="Show percentiles of small samples anyway" on=anyway />
            </p>
            <div class="scroll">{move || table(&document, more.get(), anyway.get())}</div>
            <Show when=move || has_requests>
                <details>
                    <summary>"Percentiles with failures, and from the schedule"</summary>
                    {adjusted.with_value(|(ttft, e2e)| adjusted_table(&[("ttft_ms", ttft), ("e2e_ms", e2e)], failed, anyway.get()))}
                </details>
            </Show>
            <dl class="facts">
                {others.map(|(id, value)| view! { <div><dt><Term id /></dt><dd>{value}</dd></div> }).collect_view()}
            </dl>
        </section>
    }
}

/// A tick that shows more.
#[component]
fn Switch(label: &'static str, on: RwSignal<bool>) -> impl IntoView {
    view! {
        <label class="check">
            <input type="checkbox" prop:checked=move || on.get() on:change=move |_| on.update(|on| *on = !*on) />
            {label}
        </label>
    }
}

fn table(document: &Document, more: bool, anyway: bool) -> AnyView {
    let summary = &document.summary;
    let mut rows = vec![("ttft_ms", summary.ttft_ms)];
    if summary.ttfo_ms != summary.ttft_ms && summary.ttfo_ms.n > 0 {
        rows.push(("ttfo_ms", summary.ttfo_ms));
    }
    if more {
        rows.push(("ttst_ms", summary.ttst_ms));
    }
    rows.extend([("tpot_ms", summary.tpot_ms), ("itl_ms", summary.itl_ms)]);
    if more {
        rows.push(("read_gap_ms", summary.read_gap_ms));
    }
    rows.push(("e2e_ms", summary.e2e_ms));
    if more {
        rows.push(("tail_ms", summary.tail_ms));
    }
    rows.push(("queue_ms", summary.queue_ms));
    let columns: &[Column] = if more { &ALL_COLUMNS } else { &COLUMNS };
    let heads = columns
        .iter()
        .map(|(head, ..)| view! { <th>{*head}</th> })
        .collect_view();
    let rows = rows
        .into_iter()
        .map(|(id, values)| row(id, &values, columns, anyway, why_absent(id, document)))
        .collect_view();
    view! {
        <table class="numbers" aria-labelledby="latency-title" aria-describedby="latency-note">
            <thead>
                <tr><th><span class="visually-hidden">"what"</span></th>{heads}<th>"n"</th></tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

/// Why there is no value of this kind, if there is none.
fn why_absent(id: &str, document: &Document) -> &'static str {
    match id {
        _ if document.summary.succeeded == 0 => "no request succeeded",
        "ttft_ms" | "ttfo_ms" | "ttst_ms" | "tpot_ms" | "itl_ms" | "read_gap_ms" if !document.config.stream => {
            "the answers were not streamed"
        }
        "ttst_ms" | "tpot_ms" | "itl_ms" | "read_gap_ms" => "no answer came in more than one piece",
        "tail_ms" => "no answer ended with [DONE]",
        _ => "no answer showed it",
    }
}

fn row(id: &'static str, values: &Distribution, columns: &[Column], anyway: bool, absent: &'static str) -> AnyView {
    if values.n == 0 {
        return view! {
            <tr>
                <th scope="row"><Term id /></th>
                <td colspan=columns.len().to_string() class="absent">{format::NOT_AVAILABLE}": " {absent}</td>
                <td>"0"</td>
            </tr>
        }
        .into_any();
    }
    let n = values.n as u64;
    let cells = columns
        .iter()
        .map(|(_, p, figure)| cell(figure(values), *p, n, anyway))
        .collect_view();
    view! {
        <tr>
            <th scope="row"><Term id /></th>
            {cells}
            <td>{format::count(n)}</td>
        </tr>
    }
    .into_any()
}

/// A figure, or the size of the sample that it would need.
fn cell(value_ms: Option<f64>, p: f64, n: u64, anyway: bool) -> AnyView {
    let text = format::percentile(value_ms, p, n, anyway);
    let small = n < metrics::floor(p);
    view! { <td class:small-sample=small>{text}</td> }.into_any()
}

/// TTFT and E2E in three readings.
fn adjusted_table(latencies: &[(&'static str, &Adjusted)], failed: u32, anyway: bool) -> AnyView {
    const PERCENTILES: [(&str, f64); 5] = [
        ("median", 50.0),
        ("p90", 90.0),
        ("p95", 95.0),
        ("p99", 99.0),
        ("p99.9", 99.9),
    ];
    const READINGS: [Reading; 3] = [
        ("", |p| p.raw),
        ("error_adjusted", |p| p.error_adjusted),
        ("co_adjusted", |p| p.co_adjusted),
    ];
    let rows = latencies
        .iter()
        .flat_map(|(id, adjusted)| {
            READINGS.iter().map(move |(reading, figure)| {
                let with_failures = *reading == "error_adjusted";
                let n = adjusted.raw.len() + if with_failures { adjusted.failed } else { 0 };
                let cells = PERCENTILES
                    .iter()
                    .map(|(_, p)| match figure(&adjusted.percentile(*p)) {
                        None if with_failures && adjusted.failed > 0 => view! { <td>"failed"</td> }.into_any(),
                        value => cell(value, *p, n, anyway),
                    })
                    .collect_view();
                let name = if reading.is_empty() {
                    view! { "of successes" }.into_any()
                } else {
                    view! { <Term id=reading /> }.into_any()
                };
                view! { <tr><th scope="row"><Term id=id />", "{name}</th>{cells}<td>{format::count(n)}</td></tr> }
            })
        })
        .collect_view();
    let finding = match failed {
        0 => "No request failed, so failures move no percentile.".to_owned(),
        n => format!(
            "{} failed: where a percentile falls among them it says failed, for no limit held for that share of the requests.",
            format::count(n.into())
        ),
    };
    view! {
        <p class="quiet small">{finding}</p>
        <div class="scroll">
            <table class="numbers" aria-label="Percentiles in three readings">
                <thead>
                    <tr>
                        <th><span class="visually-hidden">"what"</span></th>
                        {PERCENTILES.map(|(head, _)| view! { <th>{head}</th> }).collect_view()}
                        <th>"n"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
