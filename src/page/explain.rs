//! *Explain*: a captured response in, the state machine's reading of it out.

use leptos::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::{
    explain_cases::{CaseRow, CaseTable, judge},
    parts::{CheckField, EventTable},
    state::Page,
};
use crate::{
    config::Api,
    protocol::api_path,
    report::format,
    request::{Captured, CapturedEnd, RequestRecord, Spec, explain},
};

/// Bytes of a captured body that are read; more would not be looked through by anybody.
const MAX_BYTES: usize = 8 * 1024 * 1024;

const EXAMPLE: &str = "HTTP/1.1 200 OK\ncontent-type: text/event-stream\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n\
    data: {\"error\":{\"message\":\"The request queue is full.\",\"type\":\"SERVICE_UNAVAILABLE\",\"code\":503}}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":1}}\n\n\
    data: [DONE]\n\n";

/// The view.
#[component]
pub fn ExplainView() -> impl IntoView {
    let page = Page::get();
    let text = page.captured;
    let api = RwSignal::new(Api::Chat);
    let end = RwSignal::new(CapturedEnd::Neat);
    let stream = RwSignal::new(true);
    let reading = Memo::new(move |_| {
        let spec = Spec {
            api: api.get(),
            stream: stream.get(),
            requested_tokens: None,
            keep_text: true,
            keep_bytes: 0,
        };
        text.with(|text| (!text.trim().is_empty()).then(|| Explained::of(text, spec, end.get())))
    });
    let cases = RwSignal::new(Vec::<CaseRow>::new());
    let open = move |event: web_sys::Event| {
        let input: web_sys::HtmlInputElement = event_target(&event);
        let files: Vec<web_sys::File> = input
            .files()
            .map(|list| (0..list.length()).filter_map(|n| list.get(n)).collect())
            .unwrap_or_default();
        input.set_value("");
        let Some(file) = files.first().cloned() else { return };
        if files.len() > 1 {
            spawn_local(async move {
                let judged = judge(files).await;
                if judged.is_empty() {
                    page.notice("No case is among these files: a case is a pair NAME.json and NAME.http.".to_owned());
                }
                cases.set(judged);
            });
            return;
        }
        cases.set(Vec::new());
        spawn_local(async move {
            match JsFuture::from(file.text()).await {
                Ok(read) => text.set(read.as_string().unwrap_or_default()),
                Err(_) => page.notice(format!("{} could not be read. Is it still there?", file.name())),
            }
        });
    };
    view! {
        <h1 class="visually-hidden">"Explain a response"</h1>
        <section class="panel explain">
            <h2>"Explain a response"</h2>
            <p class="quiet">
                "Paste what a server sent: a bare body, or all that " <code>"curl -N -i"</code>
                " printed. It is read here, by the state machine that reads every measured request, and goes nowhere."
            </p>
            <div class="field">
                <label for="captured">"Captured response"</label>
                <textarea id="captured" rows="10" spellcheck="false" prop:value=text on:input:target=move |event| text.set(event.target().value())></textarea>
            </div>
            <div class="toolbar">
                <label>
                    "API "
                    <select on:change:target=move |event| _ = Api::from_name(&event.target().value()).map(|chosen| api.set(chosen))>
                        {Api::ALL.map(|api| view! { <option value=api.name()>{api_path(api)}</option> }).collect_view()}
                    </select>
                </label>
                <label>
                    "The body "
                    <select on:change:target=move |event| {
                        end.set(match event.target().value().as_str() {
                            "broken" => CapturedEnd::Broken,
                            "silence" => CapturedEnd::Silence,
                            _ => CapturedEnd::Neat,
                        });
                    }>
                        <option value="neat">"ended neatly"</option>
                        <option value="broken">"broke off (curl: transfer closed …)"</option>
                        <option value="silence">"went silent and was given up"</option>
                    </select>
                </label>
                <CheckField label="A stream was asked for" ticked=stream set=move |on| stream.set(on) />
                <label class="file">"From a file, or cases (NAME.json and NAME.http): " <input type="file" multiple on:change=open /></label>
                <label class="file">"A folder of cases: " <input type="file" prop:webkitdirectory=true on:change=open /></label>
                <button type="button" on:click=move |_| text.set(EXAMPLE.to_owned())>"Show an example"</button>
            </div>
        </section>
        <Show when=move || cases.with(|cases| !cases.is_empty())>
            {move || view! { <CaseTable rows=cases.get() /> }}
        </Show>
        <div role="status" class="explained">{move || reading.get().map(Explained::view)}</div>
    }
}

#[derive(Clone, PartialEq)]
struct Explained {
    record: RequestRecord,
    text: String,
    reasoning: String,
    events: Vec<crate::request::ExplainedEvent>,
}

impl Explained {
    fn of(text: &str, spec: Spec, end: CapturedEnd) -> Self {
        let bytes = &text.as_bytes()[..text.len().min(MAX_BYTES)];
        let captured = Captured::parse(bytes);
        let events = if spec.stream {
            explain(
                spec,
                captured.status.unwrap_or(200),
                captured.content_type(),
                &captured.as_reads(),
            )
        } else {
            Vec::new()
        };
        let reading = captured.read(spec, end);
        Self {
            text: reading.text.clone(),
            reasoning: reading.reasoning.clone(),
            record: RequestRecord::of(reading, 0, false, 0, 0.0, None),
            events,
        }
    }

    fn view(self) -> impl IntoView {
        let record = &self.record;
        let outcome = record.outcome;
        let rule = record.failure.as_ref().map(|failure| failure.rule.statement());
        let optional = |value: Option<String>| value.unwrap_or_else(|| format::NOT_AVAILABLE.to_owned());
        let facts = [
            ("Status", optional(record.status.map(|status| status.to_string()))),
            ("Finish reason", optional(record.finish_reason.clone())),
            ("Token frames", format::count(record.tokens.frames.into())),
            ("Output tokens", optional(record.tokens.output.map(format::count))),
            ("Prompt tokens", optional(record.tokens.prompt.map(format::count))),
            (
                "Usage",
                match (&record.tokens.suspect, record.tokens.usage_output) {
                    (Some(why), _) => format!("not believed: {why}"),
                    (None, Some(_)) => "believed".to_owned(),
                    (None, None) => "none was sent".to_owned(),
                },
            ),
        ];
        let said = [("Answer", self.text), ("Reasoning", self.reasoning)];
        view! {
            <section class="panel explain">
                <p class="verdict-line">
                    <span class=format!("outcome {}", outcome.name())>{format::outcome_words(outcome)}</span>
                </p>
                <p class="story">{record.story()}</p>
                {rule.map(|rule| view! { <p class="quiet">"The rule: " {rule}</p> })}
                <dl class="facts">{facts.map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view()}</dl>
                {said
                    .into_iter()
                    .filter(|(_, text)| !text.is_empty())
                    .map(|(name, text)| view! { <h3>{name}</h3> <pre class="bytes" tabindex="0">{text}</pre> })
                    .collect_view()}
                <EventTable events=self.events dispatched_ms=0.0 timed=false />
            </section>
        }
    }
}
