//! Which server, which API, which model, with which key.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::{
    config::{Api, form::Field},
    page::{
        check,
        frame::{Check, Frame},
        parts::{CheckField, DetailsView, TextField},
    },
};

/// The server to measure.
#[component]
pub fn EndpointPanel() -> impl IntoView {
    let frame = Frame::get();
    let simulated = Memo::new(move |_| frame.draft.with(|draft| draft.simulated));
    let choose = move |on: bool| frame.draft.update(|draft| draft.simulated = on);
    view! {
        <fieldset class="panel">
            <legend>"Endpoint"</legend>
            <div class="choice" role="radiogroup" aria-label="Which server">
                <label>
                    <input type="radio" name="endpoint" prop:checked=move || !simulated.get() on:change=move |_| choose(false) />
                    "A server"
                </label>
                <label>
                    <input type="radio" name="endpoint" prop:checked=move || simulated.get() on:change=move |_| choose(true) />
                    "Simulated server (no server needed)"
                </label>
            </div>
            <Show when=move || simulated.get()>
                <p class="quiet">
                    "A scripted server inside this page, to try things out. Its figures say nothing about a real one, and its results are labelled "
                    <em>"simulated"</em> ". Its speed and its faults are under Advanced."
                </p>
            </Show>
            <Show when=move || !simulated.get()>
                <RealServer />
            </Show>
            <div class="field">
                <label for="api">"API"</label>
                <select
                    id="api"
                    on:change:target=move |event| {
                        if let Some(api) = Api::from_name(&event.target().value()) {
                            frame.draft.update(|draft| draft.api = api);
                        }
                    }
                >
                    {Api::ALL
                        .map(|api| {
                            view! {
                                <option value=api.name() selected=move || frame.draft.with(|d| d.api == api)>
                                    {crate::protocol::api_path(api)}
                                </option>
                            }
                        })
                        .collect_view()}
                </select>
            </div>
        </fieldset>
    }
}

#[component]
fn RealServer() -> impl IntoView {
    let frame = Frame::get();
    let usable = Memo::new(move |_| {
        frame
            .draft
            .with(|draft| crate::load::lanes::check_base_url(draft.base_url.trim()).is_ok())
    });
    let asking = move || frame.check.with(|check| *check == Check::Asking);
    let models = move || {
        frame.finding.with(|finding| {
            finding
                .as_ref()
                .map(|finding| finding.models.clone())
                .unwrap_or_default()
        })
    };
    view! {
        <TextField field=Field::BaseUrl label="Base URL" access=|d| &mut d.base_url placeholder="http://localhost:30000" numeric=false />
        <TextField field=Field::Model label="Model" access=|d| &mut d.model placeholder="the first one listed" numeric=false list="models" />
        <datalist id="models">{move || models().into_iter().map(|name| view! { <option value=name></option> }).collect_view()}</datalist>
        <div class="field">
            <label for="key">"API key"</label>
            <input
                id="key"
                type="password"
                autocomplete="off"
                placeholder="none"
                prop:value=frame.key
                aria-invalid=move || frame.key_error().is_some().to_string()
                aria-describedby="key-note"
                on:input:target=move |event| frame.key.set(event.target().value())
            />
            <p class="field-note wrong" id="key-note">{move || frame.key_error()}</p>
            <CheckField
                label="Keep the key in this tab's session storage"
                ticked=frame.keep_key
                set=move |on| {
                    frame.keep_key.set(on);
                    frame.remember_key();
                }
            />
        </div>
        <div class="check">
            <button type="button" disabled=move || asking() || !usable.get() || frame.key_error().is_some() on:click=move |_| spawn_local(check::check(frame))>
                {move || if asking() { "Checking …" } else { "Check connection" }}
            </button>
        </div>
        <CheckResult />
    }
}

#[component]
fn CheckResult() -> impl IntoView {
    let frame = Frame::get();
    let finding = frame.finding;
    let told = move || {
        let (details, load) = finding.with(Option::is_some).then(|| frame.told.get()).flatten()?;
        let load = load.map(|load| match load.is_idle() {
            true => "It is idle now.".to_owned(),
            false => format!("It works now: {}.", load.words()),
        });
        Some(view! {
            <div class="told">
                {load.map(|load| view! { <p>{load}</p> })}
                {details.map(|details| view! { <DetailsView details /> })}
            </div>
        })
    };
    view! {
        <div role="status">
            {move || {
                finding.with(|finding| match finding {
                    Some(finding) => {
                        let (shape, class) = if finding.works { ("✓", "finding-box good") } else { ("!", "finding-box bad") };
                        view! {
                            <div class=class>
                                <span aria-hidden="true">{shape}</span>
                                <p>{finding.words.clone()} " " {finding.advice.clone()}</p>
                            </div>
                        }
                            .into_any()
                    }
                    None => ().into_any(),
                })
            }}
        </div>
        {told}
    }
}
