//! How the measuring side did.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    health::Verdict,
    page::calibration::CalibrationPanel,
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
    let lanes = match &document.slots.lanes[..] {
        [first, .., last] if document.slots.lanes.len() > 4 => {
            format!("{first} and {} more, up to {last}", document.slots.lanes.len() - 1)
        }
        lanes => lanes.join(", "),
    };
    let facts = [
        (
            "Requests on the wire",
            format!(
                "{} asked, {} possible; {}",
                document.slots.asked,
                document.slots.had,
                match (document.simulated, health.streams_seen) {
                    (true, _) => "no connections".to_owned(),
                    (false, Some(seen)) => format!("{seen} at a time to one name, seen in a burst before the run"),
                    (false, None) => "by the rule for browsers, which was not tried on this server".to_owned(),
                }
            ),
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
        (
            "Engine stood still",
            match health.engine_stalls {
                0 => "never for more than 50\u{202f}ms".to_owned(),
                times => format!(
                    "{} {}, {} in all",
                    format::count(times.into()),
                    if times == 1 { "time" } else { "times" },
                    format::millis(Some(health.engine_stalled_ms))
                ),
            },
        ),
        (
            "Wait in the client's own queue",
            format!(
                "median {}, p99 {}, at most {}",
                format::millis(health.queue_p50_ms),
                format::millis(health.queue_p99_ms),
                format::millis(health.queue_max_ms)
            ),
        ),
        (
            "Page's longest stall",
            format!(
                "{}, {} in all",
                format::millis(health.page_stall_max_ms),
                format::millis(Some(health.page_stalled_ms))
            ),
        ),
        ("Tab hidden", format::wait(health.hidden_ms / 1000.0)),
        (
            "Clock jumps",
            if health.clock_jump_max_ms > 0.0 {
                format!("at most {}", format::wait(health.clock_jump_max_ms / 1000.0))
            } else {
                "none".to_owned()
            },
        ),
        (
            "Reads",
            format!(
                "{}; {}, at most {}",
                format::count(health.reads),
                format::with_unit(health.reads_per_s(), "a second"),
                format::with_unit(
                    (health.reads > 0).then_some(health.reads_per_s_max),
                    "in the busiest moment"
                )
            ),
        ),
        (
            "Token frames per read",
            health
                .frames_per_read()
                .map_or("n/a".to_owned(), |frames| format!("{frames:.2}")),
        ),
        (
            "Token frames that shared a read",
            format::percent(share(health.coalesced_frames, health.token_frames)),
        ),
        (
            "Time spent reading streams",
            format!("{} of the run", format::percent(health.parse_share())),
        ),
    ];
    view! {
        <section id="client" aria-labelledby="client-title">
            <h2 id="client-title">{format!("The client: {}", health.verdict.words())}</h2>
            <p>{words}</p>
            <dl class="facts">
                {facts.map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view()}
            </dl>
            <h3>"What this browser adds"</h3>
            <CalibrationPanel base_url=document.server.base_url.clone() />
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
