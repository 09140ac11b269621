//! How many requests kept the latency targets, which can be moved.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    config::slo::Slo,
    metrics::{self, Sample, Samples},
    page::parts::Term,
    report::{Document, format},
};

/// A target: its term, its name, its sample, its place among the targets.
type Target = (
    &'static str,
    &'static str,
    fn(&Samples) -> &Sample,
    fn(&mut Slo) -> &mut Option<f64>,
);

const TARGETS: [Target; 3] = [
    ("ttft_ms", "TTFT", |s| &s.ttft_ms, |slo| &mut slo.ttft_ms),
    ("tpot_ms", "TPOT", |s| &s.tpot_ms, |slo| &mut slo.tpot_ms),
    ("e2e_ms", "E2E", |s| &s.e2e_ms, |slo| &mut slo.e2e_ms),
];

/// Goodput under targets that follow the sliders.
#[component]
pub fn GoodputSection(
    /// The part of the run that is shown.
    document: Arc<Document>,
    /// The targets; those of the run at first.
    slo: RwSignal<Slo>,
) -> impl IntoView {
    let samples = metrics::samples(&document.requests);
    let sliders = TARGETS
        .into_iter()
        .filter_map(|(id, name, sample, field)| {
            let greatest_ms = sample(&samples).percentile(100.0)?.ceil().max(1.0);
            let limit = move || *field(&mut slo.get());
            let words = move || match limit() {
                Some(limit) => format::millis(limit),
                None => "no target".to_owned(),
            };
            let moved = move |event| {
                if let Ok(at_ms) = event_target_value(&event).parse::<f64>() {
                    // At the right end every request keeps it: no target.
                    slo.update(|slo| *field(slo) = (at_ms < greatest_ms).then_some(at_ms));
                }
            };
            let label = format!("{name} at most");
            Some(view! {
                <div class="slo-slider">
                    <Term id />
                    <input
                        type="range"
                        aria-label=label
                        min="0"
                        max=greatest_ms.to_string()
                        step="1"
                        aria-valuetext=words
                        prop:value=move || limit().unwrap_or(greatest_ms).to_string()
                        on:input=moved
                    />
                    <span>{words}</span>
                </div>
            })
        })
        .collect_view();
    view! {
        <section id="goodput" aria-labelledby="goodput-title">
            <h2 id="goodput-title">"Goodput"</h2>
            <div class="slo-sliders">{sliders}</div>
            {move || kept(&document, slo.get())}
        </section>
    }
}

/// What kept the targets.
fn kept(document: &Document, slo: Slo) -> AnyView {
    let Some(goodput) = metrics::goodput(&document.requests, &slo, document.duration_ms) else {
        return view! { <p class="quiet">"No target is set. Move a slider to see how many requests keep it."</p> }
            .into_any();
    };
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
    view! {
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
    }
    .into_any()
}
