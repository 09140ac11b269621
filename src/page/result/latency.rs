//! The table of latencies.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    metrics::Distribution,
    page::parts::Term,
    report::{Document, format},
};

/// The table of latencies, over successes.
#[component]
pub fn LatencySection(document: Arc<Document>) -> impl IntoView {
    let summary = &document.summary;
    let reasons = summary.ttfo_ms != summary.ttft_ms && summary.ttfo_ms.n > 0;
    let mut rows = vec![("ttft_ms", summary.ttft_ms)];
    if reasons {
        rows.push(("ttfo_ms", summary.ttfo_ms));
    }
    rows.extend([
        ("tpot_ms", summary.tpot_ms),
        ("itl_ms", summary.itl_ms),
        ("e2e_ms", summary.e2e_ms),
        ("queue_ms", summary.queue_ms),
    ]);
    let others = [
        ("input_throughput", format::with_unit(summary.input_throughput, "tok/s")),
        ("prompt_tokens", format::count(summary.prompt_tokens)),
        ("output_tokens", format::count(summary.output_tokens)),
        ("discarded_frames", format::count(summary.discarded_frames)),
        ("mean_concurrency", format::number(summary.mean_concurrency)),
        ("peak_concurrency", format::count(summary.peak_concurrency.into())),
    ];
    view! {
        <section id="latency" aria-labelledby="latency-title">
            <h2 id="latency-title">"Latency"</h2>
            <p class="quiet small" id="latency-note">"Of successes; n is the size of each sample."</p>
            <div class="scroll">
                <table class="numbers" aria-labelledby="latency-title" aria-describedby="latency-note">
                    <thead>
                        <tr>
                            <th><span class="visually-hidden">"what"</span></th><th>"mean"</th><th>"median"</th><th>"p90"</th><th>"p95"</th><th>"p99"</th><th>"max"</th><th>"n"</th>
                        </tr>
                    </thead>
                    <tbody>{rows.into_iter().map(|(id, values)| view! { <Row id values absent=why_absent(id, &document) /> }).collect_view()}</tbody>
                </table>
            </div>
            <dl class="facts">
                {others.map(|(id, value)| view! { <div><dt><Term id /></dt><dd>{value}</dd></div> }).collect_view()}
            </dl>
        </section>
    }
}

/// Why there is no value of this kind, if there is none.
fn why_absent(id: &str, document: &Document) -> &'static str {
    match id {
        _ if document.summary.succeeded == 0 => "no request succeeded",
        "ttft_ms" | "ttfo_ms" | "tpot_ms" | "itl_ms" if !document.config.stream => "the answers were not streamed",
        "tpot_ms" | "itl_ms" => "no answer came in more than one piece",
        _ => "no answer showed it",
    }
}

#[component]
fn Row(id: &'static str, values: Distribution, absent: &'static str) -> impl IntoView {
    if values.n == 0 {
        return view! {
            <tr>
                <th scope="row"><Term id /></th>
                <td colspan="6" class="absent">{format::NOT_AVAILABLE}": " {absent}</td>
                <td>"0"</td>
            </tr>
        }
        .into_any();
    }
    let cells = [values.mean, values.p50, values.p90, values.p95, values.p99, values.max];
    view! {
        <tr>
            <th scope="row"><Term id /></th>
            {cells.map(|value| view! { <td>{format::millis(value)}</td> }).collect_view()}
            <td>{format::count(values.n as u64)}</td>
        </tr>
    }
    .into_any()
}
