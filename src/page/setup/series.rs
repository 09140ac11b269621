//! One run or several.

use leptos::prelude::*;

use crate::{
    config::{form::Field, series::Kind},
    page::{frame::Frame, parts::TextField},
};

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::Single => "One run",
        Kind::Sweep => "A sweep: one run for each load",
        Kind::Search => "A search for the highest load that keeps the objectives",
        Kind::Abba => "Two endpoints in turn (A, B, B, A)",
    }
}

/// Which runs a press on *Run* brings.
#[component]
pub fn SeriesFields() -> impl IntoView {
    let draft = Frame::get().draft;
    let kind = Memo::new(move |_| draft.with(|d| d.series.kind));
    view! {
        <div class="field">
            <label for="series">"Runs"</label>
            <select
                id="series"
                on:change:target=move |event| {
                    if let Some(kind) = Kind::from_name(&event.target().value()) {
                        draft.update(|d| d.series.kind = kind);
                    }
                }
            >
                {Kind::ALL
                    .map(|each| view! { <option value=each.name() selected=move || kind.get() == each>{words(each)}</option> })
                    .collect_view()}
            </select>
        </div>
        <Show when=move || matches!(kind.get(), Kind::Sweep | Kind::Search)>
            <TextField
                field=Field::SeriesLoads
                label="Loads"
                access=|d| &mut d.series.loads
                numeric=false
                hint="Instead of the concurrency or the rate: 1, 2, 4, 8 or 1..64 (doubling) or 10..50+10. A search takes the first and the last."
            />
        </Show>
        <Show when=move || kind.get() == Kind::Search>
            <TextField
                field=Field::SeriesAttainment
                label="Share of requests that must keep them"
                access=|d| &mut d.series.attainment
                hint="Failures count as missed. The objectives stand under Advanced."
            />
        </Show>
        <Show when=move || kind.get() == Kind::Abba>
            <TextField
                field=Field::SeriesUrl
                label="Second endpoint"
                access=|d| &mut d.series.other_url
                numeric=false
                placeholder="http://127.0.0.1:30001"
            />
            <TextField field=Field::SeriesRounds label="Rounds" access=|d| &mut d.series.rounds hint="Four runs each: A, B, B, A." />
        </Show>
        <Show when=move || kind.get() != Kind::Single>
            <TextField field=Field::SeriesPause label="Pause between runs" access=|d| &mut d.series.pause_s unit="s" />
        </Show>
    }
}
