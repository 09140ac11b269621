//! The steady state beside the whole run.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    metrics::{self, Summary},
    page::parts::Term,
    report::{Document, format},
};

/// Shares of peak concurrency that are offered, in per cent; the fourth is taken at first.
const SHARES: [u32; 5] = [50, 60, 70, 80, 100];
const USUAL_SHARE: u32 = 80;

/// The window in which the load was steady, and the figures of it beside those of the whole run.
#[component]
pub fn SteadySection(document: Arc<Document>) -> impl IntoView {
    let share = RwSignal::new(USUAL_SHARE);
    let choose = move |event| {
        if let Ok(percent) = event_target_value(&event).parse() {
            share.set(percent);
        }
    };
    view! {
        <section id="steady" aria-labelledby="steady-title">
            <h2 id="steady-title">"Steady state"</h2>
            <p class="quiet small">
                "The "<Term id="steady_state" />" at "
                <label>
                    <span class="visually-hidden">"Share of peak concurrency"</span>
                    <select on:change=choose>
                        {SHARES
                            .map(|percent| {
                                view! { <option value=percent.to_string() selected=percent == USUAL_SHARE>{format!("{percent} %")}</option> }
                            })
                            .collect_view()}
                    </select>
                </label>
                " of peak concurrency or more."
            </p>
            {move || beside(&document, share.get())}
        </section>
    }
}

/// A row: its term and how its figure is written.
type Row = (&'static str, fn(&Summary) -> String);

const ROWS: [Row; 10] = [
    ("request_throughput", |s| {
        format::with_unit(s.request_throughput, "req/s")
    }),
    ("output_throughput", |s| format::with_unit(s.output_throughput, "tok/s")),
    ("input_throughput", |s| format::with_unit(s.input_throughput, "tok/s")),
    ("mean_concurrency", |s| format::number(s.mean_concurrency)),
    ("failure_share", |s| {
        let ended = s.succeeded + s.failed;
        format::percent((ended > 0).then(|| f64::from(s.failed) / f64::from(ended)))
    }),
    ("ttft_ms", |s| format::millis(s.ttft_ms.p50)),
    ("tpot_ms", |s| format::millis(s.tpot_ms.p50)),
    ("itl_ms", |s| format::millis(s.itl_ms.p50)),
    ("e2e_ms", |s| format::millis(s.e2e_ms.p50)),
    ("user_speed", |s| format::with_unit(s.user_speed.p50, "tok/s")),
];

fn beside(document: &Document, percent: u32) -> AnyView {
    let Some(window) = metrics::steady_window(&document.requests, f64::from(percent) / 100.0) else {
        return view! { <p>"Nothing was in flight, so there is no steady state."</p> }.into_any();
    };
    let whole = &document.summary;
    let steady = metrics::summarize_window(&document.requests, &window);
    let finding = format!(
        "It lasts {} of {} ({}); {} of {} requests ended in it.",
        format::millis(window.duration_ms()),
        format::millis(document.duration_ms),
        format::percent((document.duration_ms > 0.0).then(|| window.duration_ms() / document.duration_ms)),
        format::count(steady.sent.into()),
        format::count(whole.sent.into()),
    );
    let rows = ROWS
        .map(|(id, figure)| {
            let median = if id.ends_with("_ms") || id == "user_speed" {
                ", median"
            } else {
                ""
            };
            view! { <tr><th scope="row"><Term id />{median}</th><td>{figure(&steady)}</td><td>{figure(whole)}</td></tr> }
        })
        .collect_view();
    view! {
        <p>{finding}</p>
        <div class="scroll">
            <table class="numbers" aria-labelledby="steady-title">
                <thead>
                    <tr><th><span class="visually-hidden">"what"</span></th><th>"steady state"</th><th>"whole run"</th></tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}
