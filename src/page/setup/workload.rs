//! What is asked: the kind of prompts and what belongs to it.

use leptos::{html, prelude::*};

use crate::{
    config::{
        form::{Draft, Field},
        workload::Kind,
    },
    page::{
        frame::Frame,
        parts::{AreaField, CheckField, TextField, field_id},
    },
    report::format,
    workload::file::Summary,
};

/// The workload's panel.
#[component]
pub fn WorkloadPanel() -> impl IntoView {
    let frame = Frame::get();
    let kind = Memo::new(move |_| frame.draft.with(|draft| draft.workload.kind));
    let tick = move |label: &'static str, access: fn(&mut Draft) -> &mut bool| {
        view! {
            <CheckField
                label=label
                ticked=Signal::derive(move || frame.draft.with(|draft| *access(&mut draft.clone())))
                set=move |on| frame.draft.update(|draft| *access(draft) = on)
            />
        }
    };
    let timed = move || {
        frame
            .prompts
            .with(|prompts| prompts.as_ref().is_some_and(|(_, summary)| summary.timed))
    };
    let of_kind = move || {
        match kind.get() {
        Kind::Random => view! {
            <TextField field=Field::InputTokens label="Prompt length" access=|d| &mut d.input_tokens unit="tokens" hint="As the server counts them, its template included." />
            <TextField field=Field::RangeRatio label="Shortest, as a share of it" access=|d| &mut d.workload.range_ratio hint="1: all of one length." />
            {tick("Send random token ids (completions and generate)", |d| &mut d.workload.token_ids)}
            <Wrong field=Field::TokenIds />
        }
        .into_any(),
        Kind::SharedPrefix => view! {
            <TextField field=Field::Groups label="Groups" access=|d| &mut d.workload.groups hint="Prompts of a group begin alike." />
            <TextField field=Field::SystemTokens label="Shared part" access=|d| &mut d.workload.system_tokens unit="tokens" />
            <TextField field=Field::InputTokens label="Question after it" access=|d| &mut d.input_tokens unit="tokens" />
            <TextField field=Field::RangeRatio label="Shortest, as a share of these" access=|d| &mut d.workload.range_ratio hint="1: all of one length." />
            <TextField field=Field::ZipfAlpha label="Popularity (Zipf exponent)" access=|d| &mut d.workload.zipf_alpha hint="0: all groups alike." />
            {tick("Group by group, not shuffled", |d| &mut d.workload.ordered)}
        }
        .into_any(),
        Kind::Typed => view! {
            <AreaField field=Field::TypedPrompt label="Prompt" access=|d| &mut d.workload.prompt placeholder="Why is the sky blue?" hint="Every request sends it, so a server may answer from its cache." />
        }
        .into_any(),
        Kind::File => view! {
            <FilePart />
            {tick("In the file's order, not shuffled", |d| &mut d.workload.ordered)}
            {tick("Answers as long as the file says", |d| &mut d.workload.file_lengths)}
            <TextField field=Field::ContextTokens label="Leave out what is longer than" access=|d| &mut d.workload.context_tokens unit="tokens" hint="Prompt and answer, estimated. 0: nothing." />
            <Show when=timed>
                <TextField field=Field::TraceSpeed label="Speed-up" access=|d| &mut d.workload.trace_speed hint="For arrivals at the trace's times. 2: twice as fast." />
                <TextField field=Field::TraceStart label="Trace from" access=|d| &mut d.workload.trace_start_s unit="s" />
                <TextField field=Field::TraceEnd label="Trace to" access=|d| &mut d.workload.trace_end_s unit="s" hint="0: to its end." />
            </Show>
        }
        .into_any(),
    }
    };
    view! {
        <fieldset class="panel">
            <legend>"Workload"</legend>
            <div class="field">
                <label for="workload-kind">"Prompts"</label>
                <select
                    id="workload-kind"
                    on:change:target=move |event| {
                        if let Some(kind) = Kind::from_name(&event.target().value()) {
                            frame.draft.update(|draft| draft.workload.kind = kind);
                        }
                    }
                >
                    {Kind::ALL
                        .map(|each| {
                            view! {
                                <option value=each.name() selected=move || kind.get() == each>
                                    {words(each)}
                                </option>
                            }
                        })
                        .collect_view()}
                </select>
            </div>
            {of_kind}
            <Show when=move || kind.get() != Kind::Typed>
                <TextField field=Field::Turns label="Turns of a conversation" access=|d| &mut d.workload.turns hint="More than 1: each turn has the server's own answers before it, and the requests above are conversations." />
            </Show>
            <TextField field=Field::OutputTokens label="Longest answer" access=|d| &mut d.output_tokens unit="tokens" />
            {tick("Ignore end of sequence, so that answers have this length", |d| &mut d.ignore_eos)}
            {tick("Stream the answers", |d| &mut d.stream)}
        </fieldset>
    }
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::Random => "random text, no two alike",
        Kind::SharedPrefix => "shared prefixes",
        Kind::Typed => "one typed prompt",
        Kind::File => "from a file",
    }
}

/// What is wrong with a tick.
#[component]
fn Wrong(field: Field) -> impl IntoView {
    let frame = Frame::get();
    let message = move || {
        frame.checked.with(|checked| {
            let errors = checked.as_ref().err()?;
            let error = errors.iter().find(|error| error.field == field)?;
            Some(error.message.clone())
        })
    };
    view! { <p class="field-note wrong" id=field_id(field) tabindex="-1">{message}</p> }
}

/// The file: how to pick it, how far it is read, what it holds.
#[component]
fn FilePart() -> impl IntoView {
    let frame = Frame::get();
    let input = NodeRef::<html::Input>::new();
    let chosen = move |_| {
        let Some(input) = input.get() else { return };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            frame.open(&file);
        }
        input.set_value("");
    };
    let state = move || {
        match (frame.reading.get(), frame.draft.with(|draft| draft.workload.file.clone())) {
        (Some(reading), _) => format!(
            "Reading {}: {:.0} %, {} prompts so far",
            reading.name,
            reading.share * 100.0,
            format::count(reading.items)
        ),
        (None, None) => "ShareGPT JSON, JSONL of conversations, of request bodies or of prompts, or a Mooncake trace. It is read here and not uploaded.".to_owned(),
        (None, Some(file)) if frame.has_prompts(&file) => format!("{}, {} bytes", file.name, format::count(file.bytes)),
        (None, Some(file)) => format!(
            "Pick {} again ({} bytes, checksum {}): a link names a file but cannot carry it.",
            file.name,
            format::count(file.bytes),
            file.checksum
        ),
    }
    };
    let preview = move || {
        let file = frame.draft.with(|draft| draft.workload.file.clone())?;
        if frame.reading.with(Option::is_some) || !frame.has_prompts(&file) {
            return None;
        }
        let (_, summary) = frame.prompts.get()?;
        Some(view! { <Preview summary /> })
    };
    view! {
        <div class="field">
            <input node_ref=input type="file" hidden on:change=chosen aria-label="File of prompts" />
            <button type="button" id=field_id(Field::WorkloadFile) on:click=move |_| _ = input.get().map(|input| input.click())>
                "Pick a file"
            </button>
            <p class="field-note" role="status">{state}</p>
        </div>
        {preview}
    }
}

/// What the file holds.
#[component]
fn Preview(summary: Summary) -> impl IntoView {
    let lengths = if summary.exact { "told by the file" } else { "estimated" };
    let mut facts = vec![format!(
        "{} {} of {}.",
        format::count(summary.items),
        if summary.items == 1 { "item" } else { "items" },
        if summary.form.is_empty() {
            "nothing that is understood"
        } else {
            &summary.form
        }
    )];
    if summary.kept < summary.items {
        facts.push(format!("{} of them are kept as a sample.", format::count(summary.kept)));
    }
    if let Some(mean) = summary.mean_tokens {
        facts.push(format!("Prompts of {mean:.0} tokens on average, {lengths}."));
    }
    if summary.left_out > 0 {
        facts.push(format!(
            "{} were left out as too short.",
            format::count(summary.left_out)
        ));
    }
    if let Some(span_s) = summary.span_s {
        facts.push(format!("Its times span {}.", format::wait(span_s)));
    }
    if summary.broken > 0 {
        facts.push(format!("{} could not be read:", format::count(summary.broken)));
        facts.extend(summary.errors.iter().cloned());
    }
    let warns = summary.broken > 0 || summary.items == 0;
    let mut from = 0;
    let rows: Vec<(String, u64)> = summary
        .lengths
        .iter()
        .filter_map(|bucket| {
            let words = match bucket.up_to {
                Some(up_to) => format!("{from} to {up_to}"),
                None => format!("over {from}"),
            };
            from = bucket.up_to.map_or(from, |up_to| up_to + 1);
            (bucket.count > 0).then_some((words, bucket.count))
        })
        .collect();
    view! {
        <p class="advice" class:warn=warns>{facts.join(" ")}</p>
        <details>
            <summary>"Lengths and the first prompt"</summary>
            <table>
                <thead><tr><th scope="col">"Prompt, tokens"</th><th scope="col">"Items"</th></tr></thead>
                <tbody>
                    {rows
                        .into_iter()
                        .map(|(words, count)| view! { <tr><td>{words}</td><td class="numeric">{format::count(count)}</td></tr> })
                        .collect_view()}
                </tbody>
            </table>
            <p class="quiet">{summary.first}</p>
        </details>
    }
}
