//! One request, down to its bytes.

use leptos::{html, prelude::*};

use super::{
    browser,
    parts::EventTable,
    state::{NamedRequest, Page},
};
use crate::{
    config::Api,
    report::{self, format},
    request::{Evidence, RequestRecord, Spec, explain},
};

/// The inspector: a dialogue over the page.
#[component]
pub fn Inspector() -> impl IntoView {
    let page = Page::get();
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        match (page.inspected.with(Option::is_some), dialog.open()) {
            (true, false) => _ = dialog.show_modal(),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    // The URL names the open request, so that a link points at it: the one who has the result file lands there.
    Effect::new(move |before: Option<bool>| {
        let named = page
            .inspected
            .with(|record| record.as_ref().map(NamedRequest::from_record));
        match named {
            Some(named) => browser::set_fragment(&named.fragment()),
            None if before == Some(true) => browser::set_fragment(""),
            None => {}
        }
        named.is_some()
    });
    view! {
        <dialog node_ref=dialog class="inspector" aria-labelledby="inspector-title" on:close=move |_| page.inspected.set(None)>
            {move || page.inspected.get().map(|record| view! { <Record record /> })}
        </dialog>
    }
}

#[component]
fn Record(record: RequestRecord) -> impl IntoView {
    let page = Page::get();
    let title = if record.warmup {
        format!("Warm-up request #{}", record.index)
    } else {
        format!("Request #{}", record.index)
    };
    let rule = record.failure.as_ref().map(|failure| failure.rule.statement());
    let facts = facts(&record);
    let api = page.config().api;
    let bytes = record
        .evidence
        .as_ref()
        .map(|evidence| bytes_view(evidence.clone(), &record, api));
    view! {
        <div class="inspector-head">
            <h2 id="inspector-title">{title}</h2>
            <span class=format!("outcome {}", record.outcome.name())>{format::outcome_words(record.outcome)}</span>
            <form method="dialog"><button aria-label="Close">"×"</button></form>
        </div>
        <p class="story">{record.story()}</p>
        {rule.map(|rule| view! { <p class="quiet">"The rule: " {rule}</p> })}
        <dl class="facts">
            {facts.into_iter().map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view()}
        </dl>
        {match bytes {
            Some(bytes) => bytes,
            None => view! { <p class="quiet">"The bytes of successes are not kept."</p> }.into_any(),
        }}
    }
}

fn facts(record: &RequestRecord) -> Vec<(&'static str, String)> {
    let times = &record.times;
    let after = |at_ms: Option<f64>| at_ms.map(|at_ms| format::millis(at_ms - times.dispatched_ms));
    let mut facts = vec![
        (
            "Sent",
            format!("{:.3}\u{202f}s into the run", times.dispatched_ms / 1000.0),
        ),
        (
            "Client's queue",
            format::millis(times.dispatched_ms - times.scheduled_ms),
        ),
    ];
    let optional = [
        ("Status", record.status.map(|status| status.to_string())),
        ("Headers after", after(times.headers_ms)),
        ("First byte after", after(times.first_byte_ms)),
        ("First token after (TTFT)", after(times.first_token_ms)),
        ("Last token after", after(times.last_token_ms)),
        ("[DONE] after", after(times.done_ms)),
        ("Verdict after", after(Some(times.ended_ms))),
        ("Finish reason", record.finish_reason.clone()),
        ("Token frames", Some(format::count(record.tokens.frames.into()))),
        (
            "Output tokens",
            record
                .tokens
                .output
                .map(|n| format!("{} ({:?})", format::count(n), record.tokens.source).to_lowercase()),
        ),
        ("Usage not believed", record.tokens.suspect.clone()),
        (
            "Reads, bytes",
            Some(format!(
                "{}, {}",
                format::count(record.wire.reads.into()),
                format::bytes(record.wire.bytes)
            )),
        ),
        ("Server's name for it", record.response_id.clone()),
    ];
    facts.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    facts
}

fn bytes_view(evidence: Evidence, record: &RequestRecord, api: Api) -> AnyView {
    let dispatched_ms = record.times.dispatched_ms;
    let api = if evidence.url.ends_with("/generate") {
        Api::Generate
    } else if evidence.url.ends_with("/chat/completions") {
        Api::Chat
    } else if evidence.url.ends_with("/completions") {
        Api::Completions
    } else {
        api
    };
    let spec = Spec {
        api,
        keep_bytes: 0,
        ..Spec::default()
    };
    let content_type = evidence
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        .map(|(_, value)| value.as_str());
    let events = if was_streamed(&evidence.request_body) {
        explain(spec, record.status.unwrap_or(200), content_type, &evidence.reads)
    } else {
        Vec::new()
    };
    let read_count = evidence.reads.len();
    let kept: usize = evidence.reads.iter().map(|read| read.bytes.len()).sum();
    let dropped = evidence.dropped_bytes;
    let note = if dropped > 0 {
        format!(
            "The first {} of {} are kept.",
            format::bytes(kept as u64),
            format::bytes(kept as u64 + dropped)
        )
    } else {
        format!("All {} are kept.", format::bytes(kept as u64))
    };
    let hex = RwSignal::new(false);
    let curl = curl(&evidence);
    let reads = StoredValue::new(evidence.reads);
    let headers = evidence
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect::<String>();
    view! {
        <EventTable events dispatched_ms reads=read_count />
        <h3>"Bytes as they came"</h3>
        <div class="toolbar">
            <span class="quiet">{note}</span>
            <button type="button" aria-pressed=move || hex.get().to_string() on:click=move |_| hex.update(|hex| *hex = !*hex)>"Hex"</button>
        </div>
        <pre class="bytes" tabindex="0">{move || reads.with_value(|reads| report::dump(reads, dispatched_ms, hex.get()))}</pre>
        <details>
            <summary>"Request"</summary>
            <p class="quiet">"The same by curl (put your key in, if the server wants one):"</p>
            <pre class="bytes" tabindex="0">{curl}</pre>
        </details>
        <details>
            <summary>"Response headers that a browser may read"</summary>
            <pre class="bytes" tabindex="0">{headers}</pre>
        </details>
    }
    .into_any()
}

/// Whether a request asked for a stream: a whole answer has no events to tell one by one.
fn was_streamed(request_body: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(request_body).is_ok_and(|body| body["stream"] == true)
}

fn curl(evidence: &Evidence) -> String {
    let body = evidence.request_body.replace('\'', "'\\''");
    format!(
        "curl -N -i '{}' \\\n  -H 'Content-Type: application/json' \\\n  -H 'Authorization: Bearer …' \\\n  -d '{body}'",
        evidence.url
    )
}
