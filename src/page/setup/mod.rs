//! The form: endpoint, load, workload, the rest.

mod advanced;
mod endpoint;
mod load;
mod presets;
mod series;
mod workload;

use leptos::prelude::*;

use super::{bridge::ToBench, browser, frame::Frame, parts::field_id};
use crate::{
    config::{Endpoint, RunConfig, series::Kind},
    load::estimate,
    report::{format, load_words},
};
use advanced::Advanced;
use endpoint::EndpointPanel;
use load::LoadPanel;
use presets::{OtherTools, Presets};
use workload::WorkloadPanel;

/// The form.
#[component]
pub fn Setup() -> impl IntoView {
    let frame = Frame::get();
    let run = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        frame.run();
    };
    view! {
        <form class="setup" on:submit=run aria-label="Setup">
            <p class="lead">
                "Sends requests to an OpenAI-compatible LLM server, measures every answer as it streams in, and never counts a failure as a success."
            </p>
            <Presets />
            <div class="panels">
                <EndpointPanel />
                <LoadPanel />
                <WorkloadPanel />
            </div>
            <Advanced />
            <RunBar />
            <OtherTools />
        </form>
    }
}

/// The button that says what it will do.
#[component]
fn RunBar() -> impl IntoView {
    let frame = Frame::get();
    let words = move || {
        frame.checked.with(|checked| match checked {
            Ok(config) => promise(config),
            Err(_) => "Run".to_owned(),
        })
    };
    let reason = move || {
        frame.checked.with(|checked| match checked {
            Ok(_) => frame.key_error().unwrap_or_default().to_owned(),
            Err(errors) if errors.len() == 1 => errors[0].message.clone(),
            Err(errors) => format!("{} fields need a look. First: {}", errors.len(), errors[0].message),
        })
    };
    let first_wrong = move || {
        frame
            .checked
            .with(|checked| Some(checked.as_ref().err()?.first()?.field))
    };
    view! {
        <div class="run-bar">
            <button type="submit" class="primary" disabled=move || frame.checked.with(Result::is_err) || frame.key_error().is_some() title="Ctrl+Enter">
                {words}
            </button>
            <Show when=move || frame.has_last.get()>
                <button type="button" on:click=move |_| frame.tell(&ToBench::ShowLast)>"Back to the last result"</button>
            </Show>
            <span class="wrong" role="status">{reason}</span>
            <Show when=move || first_wrong().is_some()>
                <button type="button" class="link" on:click=move |_| if let Some(field) = first_wrong() { browser::go_to(&field_id(field)) }>
                    "Go to the field"
                </button>
            </Show>
        </div>
    }
}

/// What a press on *Run* will do.
fn promise(config: &RunConfig) -> String {
    match config.series.kind {
        Kind::Single => {}
        Kind::Sweep => return format!("Run {} loads, one after the other", config.series.loads.len()),
        Kind::Search => return "Search for the highest load that keeps the objectives".to_owned(),
        Kind::Abba => return format!("Run {} times, two endpoints in turn", 4 * config.series.rounds),
    }
    let time = match config.load.duration_s {
        Some(_) => None,
        None => estimate::run_s(config, None),
    };
    let time = time.map_or_else(String::new, |s| format!(", about {}", format::wait(s)));
    let at = match &config.endpoint {
        Endpoint::Simulated => " on the simulated server",
        Endpoint::Http { .. } => "",
    };
    format!("Run {}{time}{at}", load_words(config))
}
