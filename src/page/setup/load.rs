//! When requests are sent, and how many.

use leptos::prelude::*;

use super::series::SeriesFields;
use crate::{
    config::form::Field,
    load::lanes,
    page::{
        frame::Frame,
        parts::{CheckField, TextField},
    },
};

/// The arrival processes, with what a person reads.
const PROCESSES: [(&str, &str); 5] = [
    ("closed", "Closed loop: each that ends lets the next one go"),
    ("poisson", "By rate, Poisson: like many independent users"),
    ("constant", "By rate, even gaps"),
    ("gamma", "By rate, gamma: bursts as you choose"),
    ("trace", "By the times of the workload's file"),
];

/// The load.
#[component]
pub fn LoadPanel() -> impl IntoView {
    let frame = Frame::get();
    let draft = frame.draft;
    let process = Memo::new(move |_| draft.with(|d| d.arrival.clone()));
    let open = move || process.with(|process| process != "closed");
    let timed = Memo::new(move |_| draft.with(|d| d.timed));
    let capped = Memo::new(move |_| draft.with(|d| d.capped));
    view! {
        <fieldset class="panel">
            <legend>"Load"</legend>
            <div class="field">
                <label for="arrival">"Arrivals"</label>
                <select id="arrival" on:change:target=move |event| draft.update(|d| d.arrival = event.target().value())>
                    {PROCESSES
                        .map(|(name, words)| view! { <option value=name selected=move || process.with(|p| p == name)>{words}</option> })
                        .collect_view()}
                </select>
            </div>
            <Show when=move || open() && process.with(|process| process != "trace")>
                <TextField
                    field=Field::Rate
                    label="Rate"
                    access=|d| &mut d.rate
                    unit="req/s"
                    numeric=false
                    hint="5, or ramp:2:20:60 (from, to, seconds), exponential:2:20:60, stages:5x30,10x30."
                />
            </Show>
            <Show when=move || process.with(|process| process == "gamma")>
                <TextField field=Field::Burstiness label="Burstiness" access=|d| &mut d.burstiness hint="1 is Poisson; less is burstier. As vLLM's --burstiness." />
            </Show>
            <div class="choice" role="radiogroup" aria-label="When it is over">
                <label>
                    <input type="radio" name="ends" prop:checked=move || !timed.get() on:change=move |_| draft.update(|d| d.timed = false) />
                    "After a number of requests"
                </label>
                <label>
                    <input type="radio" name="ends" prop:checked=move || timed.get() on:change=move |_| draft.update(|d| d.timed = true) />
                    "After a time"
                </label>
            </div>
            <Show
                when=move || timed.get()
                fallback=|| view! { <TextField field=Field::Requests label="Requests" access=|d| &mut d.requests /> }
            >
                <TextField field=Field::Duration label="Duration" access=|d| &mut d.duration_s unit="s" />
                <TextField field=Field::Grace label="Grace for running requests" access=|d| &mut d.grace_s unit="s" hint="Then they are cancelled, and counted as that." />
            </Show>
            <Show when=open>
                <CheckField
                    label="No more at a time than the concurrency; the rest waits here"
                    ticked=Signal::derive(move || capped.get())
                    set=move |on| draft.update(|d| d.capped = on)
                />
            </Show>
            <Show when=move || !open() || capped.get()>
                <TextField field=Field::Concurrency label="Concurrency" access=|d| &mut d.concurrency unit="at a time" />
            </Show>
            <TextField field=Field::Warmup label="Warm-up requests" access=|d| &mut d.warmup hint="Sent first, in no figure." />
            <SeriesFields />
            <SlotAdvice />
        </fieldset>
    }
}

/// How the concurrency stands against what the browser can open.
#[component]
fn SlotAdvice() -> impl IntoView {
    let checked = Frame::get().checked;
    let advice = Memo::new(move |_| {
        checked.with(|checked| {
            let config = checked.as_ref().ok()?;
            let asked = config.most_in_flight().unwrap_or(0);
            let short = asked > lanes::LanePlan::before_contact(config).slots;
            Some((lanes::advice(config)?, short))
        })
    });
    let warns = move || advice.with(|advice| advice.as_ref().is_some_and(|(_, short)| *short));
    view! {
        <Show when=move || advice.with(Option::is_some)>
            <p class="advice" class:warn=warns>{move || advice.get().map(|(words, _)| words)}</p>
        </Show>
    }
}
