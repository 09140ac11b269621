//! Presets, and the same load with other tools.

use leptos::prelude::*;

use crate::{
    config::{
        RunConfig,
        commands::{Tool, equivalent},
        form::Draft,
        link,
        presets::{PRESETS, Preset},
    },
    page::frame::Frame,
};

/// A row of links that fill the form.
#[component]
pub fn Presets() -> impl IntoView {
    let frame = Frame::get();
    // What is wrong in the form does not keep a preset from setting it right.
    let current = Memo::new(move |_| frame.checked.with(|checked| checked.as_ref().ok().cloned()));
    let on = move |preset: Preset| preset.on(&current.get().unwrap_or_default());
    let choose = move |event: web_sys::MouseEvent, preset: Preset| {
        // With a key held, the browser's own way with links: a new tab.
        if event.ctrl_key() || event.meta_key() || event.shift_key() {
            return;
        }
        event.prevent_default();
        let filled = match current.get_untracked() {
            Some(current) => Draft::from(&preset.on(&current)),
            None => {
                let base = frame.draft.get_untracked();
                let preset = Draft::from(&preset.on(&RunConfig::default()));
                Draft {
                    simulated: base.simulated,
                    base_url: base.base_url,
                    model: base.model,
                    ..preset
                }
            }
        };
        frame.draft.set(filled);
    };
    view! {
        <nav class="presets" aria-label="Presets">
            <span>"Presets:"</span>
            {PRESETS
                .map(|preset| {
                    view! {
                        <a
                            href=move || format!("?{}", link::to_query(&on(preset)))
                            title=preset.purpose
                            on:click=move |event| choose(event, preset)
                        >
                            {preset.title}
                        </a>
                    }
                })
                .into_iter()
                .collect_view()}
        </nav>
    }
}

/// The command of another tool for the load in the form.
#[component]
pub fn OtherTools() -> impl IntoView {
    let frame = Frame::get();
    let tool = RwSignal::new(Tool::Sglang);
    let told = move || {
        let with_key = frame.key.with(|key| !key.trim().is_empty());
        frame.checked.with(|checked| {
            checked
                .as_ref()
                .ok()
                .map(|config| equivalent(tool.get(), config, with_key))
        })
    };
    view! {
        <details class="panel other-tools">
            <summary>"The same load with another tool"</summary>
            <p class="quiet">
                "When one browser is not enough, or to compare. The key is never in a command: the tools read OPENAI_API_KEY."
            </p>
            <div class="field">
                <label for="other-tool">"Tool"</label>
                <select id="other-tool" on:change:target=move |event| if let Some(chosen) = Tool::from_name(&event.target().value()) { tool.set(chosen) }>
                    {Tool::ALL.map(|tool| view! { <option value=tool.name()>{tool.name()}</option> }).into_iter().collect_view()}
                </select>
            </div>
            {move || match told() {
                None => view! { <p class="quiet">"Set the fields above right first."</p> }.into_any(),
                Some(told) => {
                    let text = told.text;
                    let command = (!text.is_empty()).then(|| view! { <pre class="bytes" tabindex="0">{text}</pre> });
                    view! {
                        {command}
                        <ul class="quiet">{told.apart.into_iter().map(|words| view! { <li>{words}</li> }).collect_view()}</ul>
                    }
                        .into_any()
                }
            }}
        </details>
    }
}
