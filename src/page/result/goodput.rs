//! How many requests kept the latency targets.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    metrics,
    page::parts::Term,
    report::{Document, format},
};

/// Goodput, if targets were set.
#[component]
pub fn GoodputSection(document: Arc<Document>) -> impl IntoView {
    let slo = document.config.slo;
    let goodput = metrics::goodput(&document.requests, &slo, document.duration_ms)?;
    let finding = format!(
        "{} of {} requests that ended by themselves kept all targets; {} of them failed and count as missed.",
        format::count(goodput.good.into()),
        format::count(goodput.of.into()),
        format::count(document.summary.failed.into()),
    );
    let rows = [
        ("ttft_ms", slo.ttft_ms, goodput.ttft_attainment),
        ("tpot_ms", slo.tpot_ms, goodput.tpot_attainment),
        ("e2e_ms", slo.e2e_ms, goodput.e2e_attainment),
    ];
    let rows = rows
        .into_iter()
        .filter_map(|(id, limit, share)| {
            let limit = format::millis(limit?);
            Some(view! { <tr><th scope="row"><Term id /></th><td>{limit}</td><td>{format::percent(share)}</td></tr> })
        })
        .collect_view();
    Some(view! {
        <section id="goodput" aria-labelledby="goodput-title">
            <h2 id="goodput-title">"Goodput"</h2>
            <p>{finding}</p>
            <div class="scroll">
                <table class="numbers" aria-labelledby="goodput-title">
                    <thead>
                        <tr><th><span class="visually-hidden">"what"</span></th><th>"at most"</th><th>"kept by"</th></tr>
                    </thead>
                    <tbody>
                        {rows}
                        <tr><th scope="row"><Term id="slo_attainment" /></th><td>"all of them"</td><td>{format::percent(goodput.attainment)}</td></tr>
                    </tbody>
                </table>
            </div>
            <dl class="facts">
                <div><dt><Term id="goodput" /></dt><dd>{format::with_unit(goodput.request_goodput, "req/s")}</dd></div>
                <div><dt><Term id="output_goodput" /></dt><dd>{format::with_unit(goodput.output_goodput, "tok/s")}</dd></div>
            </dl>
        </section>
    })
}
