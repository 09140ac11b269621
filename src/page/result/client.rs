//! How the measuring side did.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    health::Verdict,
    report::{Document, format},
};

/// The client's verdict on itself, with what it rests on.
#[component]
pub fn ClientSection(document: Arc<Document>) -> impl IntoView {
    let health = &document.client;
    let words = match health.verdict {
        Verdict::Trustworthy => "Nothing was seen on the measuring side that would distort these figures.".to_owned(),
        _ => health.reasons.join(" "),
    };
    let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
    let lanes = document.slots.lanes.join(", ");
    let facts = [
        (
            "Requests on the wire",
            format!("{} asked, {} possible", document.slots.asked, document.slots.had),
        ),
        (
            "Names used",
            if document.simulated {
                "none: simulated".to_owned()
            } else {
                lanes
            },
        ),
        (
            "Clock",
            format!(
                "{} steps, {}",
                format::millis(health.clock_step_ms),
                if health.cross_origin_isolated {
                    "isolated page"
                } else {
                    "page not isolated"
                }
            ),
        ),
        (
            "Engine's timer late",
            format!(
                "median {}, p99 {}, at most {}",
                format::millis(health.timer_late_p50_ms),
                format::millis(health.timer_late_p99_ms),
                format::millis(health.timer_late_max_ms)
            ),
        ),
        ("Page's longest stall", format::millis(health.page_stall_max_ms)),
        ("Tab hidden", format::wait(health.hidden_ms / 1000.0)),
        ("Reads", format::count(health.reads)),
        (
            "Token frames that shared a read",
            format::percent(share(health.coalesced_frames, health.token_frames)),
        ),
        (
            "Time spent reading streams",
            format!(
                "{} of the run",
                format::percent((health.elapsed_ms > 0.0).then(|| health.parse_ms / health.elapsed_ms))
            ),
        ),
    ];
    view! {
        <section id="client" aria-labelledby="client-title">
            <h2 id="client-title">{format!("The client: {}", health.verdict.words())}</h2>
            <p>{words}</p>
            <dl class="facts">
                {facts.map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view()}
            </dl>
            {(!document.notes.is_empty())
                .then(|| {
                    view! {
                        <h3>"Notes"</h3>
                        <ul>{document.notes.iter().map(|note| view! { <li>{note.clone()}</li> }).collect_view()}</ul>
                    }
                })}
        </section>
    }
}
