//! What of a result goes out of the browser, and in which form.

use leptos::{html, prelude::*};
use wasm_bindgen_futures::spawn_local;

use crate::{
    page::{browser, state::Page},
    report::{
        self, Document, Keep, Measured, format,
        link::{Link, chat_link, full_link},
    },
};

/// A form that a result takes outside of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    ChatLink,
    FullLink,
    Html,
    Json,
    Jsonl,
    Csv,
    Markdown,
}

impl Form {
    /// Those that there are of one run, and of several.
    fn all(shared: &Measured) -> &'static [Self] {
        match shared {
            Measured::Run(_) => &[
                Self::ChatLink,
                Self::FullLink,
                Self::Html,
                Self::Markdown,
                Self::Json,
                Self::Jsonl,
                Self::Csv,
            ],
            Measured::Series(_) => &[Self::Html, Self::Markdown, Self::Json, Self::Jsonl],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::ChatLink => "Link for a chat",
            Self::FullLink => "Full link",
            Self::Html => "HTML report",
            Self::Json => "JSON document",
            Self::Jsonl => "SGLang's line",
            Self::Csv => "CSV of the requests",
            Self::Markdown => "Markdown table",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::ChatLink => "The link itself holds the result, in at most 2,000 letters; no server keeps it.",
            Self::FullLink => "The same with a row per request, in at most 30,000 letters: too long for some chats.",
            Self::Html => {
                "One file to read in any browser or out of a mail, with charts and without scripts; dropped on this page, it opens."
            }
            Self::Json => {
                "The whole result: drop it on this page to open it. Its schema is in docs/result.schema.json."
            }
            Self::Jsonl => {
                "One line per run in the keys and units of sglang.benchmark.serving, for programs that read those."
            }
            Self::Csv => "A row per request, for a spreadsheet or a notebook.",
            Self::Markdown => "The figures, for an issue or a chat. No host name, prompt or answer is in it.",
        }
    }

    /// Ending of the file's name, and its type; Markdown is copied alone.
    fn file(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Html => Some(("html", "text/html")),
            Self::Json => Some(("json", "application/json")),
            Self::Jsonl => Some(("jsonl", "application/jsonl")),
            Self::Csv => Some(("csv", "text/csv")),
            Self::Markdown | Self::ChatLink | Self::FullLink => None,
        }
    }

    /// The result in this form, and what the form leaves out of what is to be shared.
    fn render(self, shared: &Measured, requests: bool) -> (String, Vec<String>) {
        // What is not let out is out of it by now.
        let all = Keep {
            hosts: true,
            prompts: true,
            evidence: true,
        };
        let link = |link: Link| (link.url, link.left_out);
        match (shared, self) {
            (Measured::Run(document), Self::ChatLink) => link(chat_link(document, &all, &browser::page_url())),
            (Measured::Run(document), Self::FullLink) => link(full_link(document, &all, &browser::page_url())),
            (Measured::Run(document), Self::Html) => (report::html(document, &all, requests), Vec::new()),
            (Measured::Series(series), Self::Html) => (report::series_html(series, &all), Vec::new()),
            _ => (self.text(shared), Vec::new()),
        }
    }

    fn text(self, shared: &Measured) -> String {
        match (shared, self) {
            (_, Self::ChatLink | Self::FullLink | Self::Html) => String::new(),
            (Measured::Run(document), Self::Json) => document.to_json(),
            (Measured::Run(document), Self::Jsonl) => report::jsonl(document),
            (Measured::Run(document), Self::Csv) => report::csv(document),
            (Measured::Run(document), Self::Markdown) => report::markdown(document),
            (Measured::Series(series), Self::Json) => series.to_json(),
            (Measured::Series(series), Self::Jsonl) => series.points.iter().map(report::jsonl).collect(),
            (Measured::Series(series), Self::Csv) => series.points.iter().map(report::csv).collect(),
            (Measured::Series(series), Self::Markdown) => report::series_markdown(series),
        }
    }
}

/// The name of a file of what was measured.
fn measured_name(measured: &Measured, ending: &str) -> String {
    match measured {
        Measured::Run(document) => file_name(document, ending),
        Measured::Series(series) => {
            let started = series.points.first().map_or(0.0, |point| point.started_unix_ms);
            format!("streamgauge-series-{}.{ending}", browser::stamp(started))
        }
    }
}

/// The name of a file of a result: what was measured, and when.
pub fn file_name(document: &Document, ending: &str) -> String {
    let model: String = document
        .server
        .model
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    let model = match model.trim_matches('-') {
        _ if document.simulated => "simulated",
        "" => "result",
        model => model,
    };
    format!(
        "streamgauge-{model}-{}.{ending}",
        browser::stamp(document.started_unix_ms)
    )
}

/// The button, and the dialogue behind it.
#[component]
pub fn Share(
    /// The whole result.
    #[prop(into)]
    shared: Signal<Measured>,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let open = RwSignal::new(false);
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        match (open.get(), dialog.open()) {
            (true, false) => _ = dialog.show_modal(),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    view! {
        <button type="button" aria-haspopup="dialog" on:click=move |_| open.set(true)>"Share"</button>
        <dialog node_ref=dialog class="share" aria-labelledby="share-title" on:close=move |_| open.set(false)>
            // Made when it is opened: what is in a long result takes a moment to tell.
            <Show when=move || open.get()>
                <Choice shared />
            </Show>
        </dialog>
    }
}

#[component]
fn Choice(shared: Signal<Measured>) -> impl IntoView {
    let keep = RwSignal::new(Keep::default());
    let requests = RwSignal::new(true);
    let said = RwSignal::new(String::new());
    let contents = Memo::new(move |_| shared.with(|shared| shared.contents(&keep.get())));
    let list = move |included: bool| {
        contents.with(|contents| {
            contents
                .iter()
                .filter(|content| content.included == included)
                .map(|content| view! { <li>{content.what.clone()}</li> })
                .collect_view()
        })
    };
    let forms = move || {
        let forms = shared.with(Form::all);
        forms
            .iter()
            .map(|form| view! { <FormRow form=*form shared keep requests said /> })
            .collect_view()
    };
    view! {
        <div class="inspector-head">
            <h2 id="share-title">"Share this result"</h2>
            <form method="dialog"><button>"Close"</button></form>
        </div>
        <section aria-labelledby="share-what">
            <h3 id="share-what">"What may go out"</h3>
            <div class="choice">
                <Tick words="Names and addresses of the server" keep of=|keep| &mut keep.hosts />
                <Tick words="Prompts" keep of=|keep| &mut keep.prompts />
                <Tick words="Bytes kept of failures" keep of=|keep| &mut keep.evidence />
                <label>
                    <input
                        type="checkbox"
                        prop:checked=move || requests.get()
                        on:change:target=move |event| requests.set(event.target().checked())
                    />
                    "Each request by itself, in the HTML report"
                </label>
            </div>
            <div class="share-lists">
                <div>
                    <h4>"In it"</h4>
                    <ul class="in-it">{move || list(true)}</ul>
                </div>
                <div>
                    <h4>"Left out"</h4>
                    <ul class="left-out">{move || list(false)}</ul>
                </div>
            </div>
        </section>
        <section aria-labelledby="share-forms">
            <h3 id="share-forms">"In which form"</h3>
            <ul class="forms">{forms}</ul>
        </section>
        <p role="status" class="quiet">{said}</p>
    }
}

/// One thing that may go out.
#[component]
fn Tick(words: &'static str, keep: RwSignal<Keep>, of: fn(&mut Keep) -> &mut bool) -> impl IntoView {
    view! {
        <label>
            <input
                type="checkbox"
                prop:checked=move || *of(&mut keep.get())
                on:change:target=move |event| keep.update(|keep| *of(keep) = event.target().checked())
            />
            {words}
        </label>
    }
}

#[component]
fn FormRow(
    form: Form,
    shared: Signal<Measured>,
    keep: RwSignal<Keep>,
    requests: RwSignal<bool>,
    said: RwSignal<String>,
) -> impl IntoView {
    let page = Page::get();
    let made = move || {
        let shared = shared.with(|shared| shared.to_share(&keep.get()));
        (form.render(&shared, requests.get()), shared)
    };
    // A link is made before it is asked for: how long it is and what it leaves out is told first.
    let link = matches!(form, Form::ChatLink | Form::FullLink).then(|| Memo::new(move |_| made().0));
    let told = link.map(|link| {
        move || {
            link.with(|(url, left_out)| {
                format!(
                    "{} letters. It leaves out {}.",
                    format::count(url.len() as u64),
                    left_out.join("; ")
                )
            })
        }
    });
    let copy = move |_| {
        let text = link.map_or_else(|| untrack(made).0.0, |link| link.get_untracked().0);
        let size = format::bytes(text.len() as u64);
        spawn_local(async move {
            said.set(match browser::copy(&text).await {
                true => format!("{} copied, {size}.", form.name()),
                false => "The browser did not allow it to be copied.".to_owned(),
            });
        });
    };
    let save = form.file().map(|(ending, mime)| {
        let save = move |_| {
            let ((text, _), shared) = untrack(made);
            let name = measured_name(&shared, ending);
            match browser::save_file(&name, mime, &text) {
                Ok(()) => said.set(format!("{name} saved, {}.", format::bytes(text.len() as u64))),
                Err(error) => page.notice(format!("The browser refused to save the file: {error:?}")),
            }
        };
        view! {
            <button type="button" on:click=save>{format!("Save .{ending}")}</button>
        }
    });
    view! {
        <li>
            <div>
                <strong>{form.name()}</strong>
                <p class="quiet">{form.what()} " " {told}</p>
            </div>
            <div class="actions">
                <button type="button" aria-label=format!("Copy {}", form.name()) on:click=copy>"Copy"</button>
                {save}
            </div>
        </li>
    }
}
