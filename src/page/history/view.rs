//! The list of kept runs.

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use crate::{
    health::Verdict,
    page::{browser, state::Page},
    report::{
        Ending, format,
        history::{Entry, tags},
    },
};

/// The view.
#[component]
pub fn HistoryView() -> impl IntoView {
    let page = Page::get();
    let history = page.history;
    // Another tab may have changed it since it was read.
    spawn_local(history.load());
    let query = history.query;
    let editing = RwSignal::new(None::<String>);
    let shown = move || {
        let query = query.get();
        history
            .entries
            .get()
            .into_iter()
            .filter(|entry| entry.matches(&query))
            .collect::<Vec<_>>()
    };
    let empty = move || history.entries.with(Vec::is_empty);
    let told = move || {
        let all = history.entries.with(Vec::len);
        match shown().len() {
            n if n == all => String::new(),
            0 => "No kept run holds all of these words.".to_owned(),
            n => format!("{n} of {all} runs."),
        }
    };
    view! {
        <article class="result history">
            <h1>"History"</h1>
            <p>
                "The runs of this browser, kept in it alone: nothing is uploaded. A run that goes on is written down every second, so that a crash or a reload loses no more than that. "
                "A browser may clear this storage when its disk runs short, and does when its data is deleted: save as a file what must last."
            </p>
            <Settings />
            <Show when=move || !empty() fallback=|| view! { <p class="quiet">"No run is kept yet. The next one appears here when it ends."</p> }>
                <Tools />
            </Show>
            <p role="status" class="quiet" class:visually-hidden=move || told().is_empty()>{told}</p>
            <ul class="forms" aria-label="Kept runs">
                <For each=shown key=|entry| serde_json::to_string(entry).unwrap_or_default() let:entry>
                    <Row entry editing />
                </For>
            </ul>
        </article>
    }
}

/// Whether runs are kept, and what they take.
#[component]
fn Settings() -> impl IntoView {
    let history = Page::get().history;
    let used = move || {
        let bytes: u64 = history
            .entries
            .with(|entries| entries.iter().map(|entry| entry.bytes).sum());
        let runs = match history.entries.with(Vec::len) {
            1 => "1 result".to_owned(),
            n => format!("{} results", format::count(n as u64)),
        };
        let allowed = history.usage.get().map(|(used, quota)| {
            format!(
                "; the browser counts {} of {} that it allows this page",
                format::bytes(used as u64),
                format::bytes(quota as u64)
            )
        });
        format!("{runs}, {}{}.", format::bytes(bytes), allowed.unwrap_or_default())
    };
    let refused = move || {
        history
            .refused
            .get()
            .map(|refused| view! { <p class="notice">{format!("Nothing can be kept now: {refused}. Results are shown as ever, and can be saved.")}</p> })
    };
    view! {
        <div class="kept-settings">
            <label>
                <input
                    type="checkbox"
                    prop:checked=move || history.keeps.get()
                    on:change:target=move |event| history.set_keeps(event.target().checked())
                />
                " Keep runs in this browser"
            </label>
            <span class="quiet">{used}</span>
        </div>
        {refused}
    }
}

/// What is done with several.
#[component]
fn Tools() -> impl IntoView {
    let page = Page::get();
    let history = page.history;
    let (query, ticked) = (history.query, history.ticked);
    let chosen = move || {
        let mut entries = history.entries.get();
        entries.retain(|entry| ticked.with(|ticked| ticked.contains(&entry.id)));
        entries
    };
    let compare = move |_| {
        let mut entries = untrack(chosen);
        // The oldest is the baseline.
        entries.reverse();
        page.compare_kept(entries);
    };
    let unpinned = move || {
        let entries = history.entries.get();
        let ids = entries
            .iter()
            .filter(|entry| !entry.pinned)
            .map(|entry| entry.id.clone());
        ids.collect::<Vec<_>>()
    };
    let clear = move |_| {
        let ids = untrack(unpinned);
        let question = format!(
            "Delete {} results from this browser? What was not saved as a file is then gone.",
            ids.len()
        );
        if browser::confirm(&question) {
            history.delete(ids);
        }
    };
    view! {
        <div class="toolbar">
            <input
                type="search"
                aria-label="Filter the kept runs"
                placeholder="Name, tag, model, “failed”, “interrupted” …"
                prop:value=move || query.get()
                on:input:target=move |event| query.set(event.target().value())
            />
            <button type="button" disabled=move || chosen().is_empty() on:click=compare>
                {move || format!("Compare ticked ({})", chosen().len())}
            </button>
            <button type="button" disabled=move || unpinned().is_empty() on:click=clear>"Delete all but pinned"</button>
        </div>
    }
}

/// A kept result.
#[component]
fn Row(entry: Entry, editing: RwSignal<Option<String>>) -> impl IntoView {
    let page = Page::get();
    let ticked = page.history.ticked;
    let facts = &entry.facts;
    let id = StoredValue::new(entry.id.clone());
    let ending = match facts.ending {
        Ending::Completed => None,
        Ending::StoppedByUser => Some("stopped"),
        Ending::Interrupted => Some("interrupted"),
    };
    let verdict = Some(facts.verdict).filter(|verdict| *verdict != Verdict::Trustworthy);
    // The name that a run gets says when it was.
    let when = browser::date_and_time(facts.started_unix_ms);
    let when = if entry.name.contains(&when) {
        String::new()
    } else {
        format!(" · {when}")
    };
    let line = format!("{}{when} · {}", facts.words(), format::bytes(entry.bytes));
    let server = Some(&facts.server)
        .filter(|server| !server.is_empty() && !facts.simulated)
        .cloned();
    let edited = move || editing.with(|editing| editing.as_deref() == Some(id.get_value().as_str()));
    let tick = move |on: bool| {
        ticked.update(|ticked| {
            _ = if on {
                ticked.insert(id.get_value())
            } else {
                ticked.remove(&id.get_value())
            }
        });
    };
    let pin = {
        let entry = entry.clone();
        move |_| {
            page.history.change(Entry {
                pinned: !entry.pinned,
                ..entry.clone()
            })
        }
    };
    let delete = {
        let name = entry.name.clone();
        move |_| {
            let question =
                format!("Delete “{name}” from this browser? If it was not saved as a file, it is then gone.");
            if browser::confirm(&question) {
                page.history.delete(vec![id.get_value()]);
            }
        }
    };
    let name = entry.name.clone();
    let of = move |what: &str| format!("{what} {name}");
    let form = StoredValue::new(entry.clone());
    view! {
        <li class="kept">
            <input
                type="checkbox"
                aria-label=of("To compare:")
                prop:checked=move || ticked.with(|ticked| ticked.contains(&id.get_value()))
                on:change:target=move |event| tick(event.target().checked())
            />
            <div>
                <strong>{entry.name.clone()}</strong>
                " "
                {entry.pinned.then(|| view! { <span class="badge good">"pinned"</span> })}
                {facts.simulated.then(|| view! { <span class="badge simulated">"simulated"</span> })}
                {ending.map(|ending| view! { <span class="badge warn">{ending}</span> })}
                {verdict.map(|verdict| view! { <span class="badge warn">"client: " {verdict.words()}</span> })}
                <p class="quiet">{line} {server.map(|server| format!(" · {server}"))}</p>
                {(!entry.note.is_empty()).then(|| view! { <p class="note">{entry.note.clone()}</p> })}
                {(!entry.tags.is_empty())
                    .then(|| {
                        let tags = entry.tags.iter().map(|tag| view! { <li>{tag.clone()}</li> }).collect_view();
                        view! { <ul class="tags" aria-label="Tags">{tags}</ul> }
                    })}
                <Show when=edited>
                    <EditForm entry=form.get_value() editing />
                </Show>
            </div>
            <div class="actions">
                <button type="button" aria-label=of("Open") on:click=move |_| page.show_kept(id.get_value())>"Open"</button>
                <button
                    type="button"
                    title="Name, tags and note"
                    aria-label=of("Edit")
                    aria-expanded=move || edited().to_string()
                    on:click=move |_| editing.set((!untrack(edited)).then(|| id.get_value()))
                >
                    "Edit"
                </button>
                <button type="button" aria-label=of(if entry.pinned { "Unpin" } else { "Pin" }) on:click=pin>
                    {if entry.pinned { "Unpin" } else { "Pin" }}
                </button>
                <button type="button" aria-label=of("Delete") on:click=delete>"Delete"</button>
            </div>
        </li>
    }
}

/// What a person says of a kept result.
#[component]
fn EditForm(entry: Entry, editing: RwSignal<Option<String>>) -> impl IntoView {
    let page = Page::get();
    let name = RwSignal::new(entry.name.clone());
    let typed_tags = RwSignal::new(entry.tags.join(", "));
    let note = RwSignal::new(entry.note.clone());
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let typed = name.get_untracked().trim().to_owned();
        editing.set(None);
        page.history.change(Entry {
            name: if typed.is_empty() { entry.name.clone() } else { typed },
            tags: tags(&typed_tags.get_untracked()),
            note: note.get_untracked().trim().to_owned(),
            ..entry.clone()
        });
    };
    view! {
        <form class="edit" on:submit=save>
            <label for="kept-name">"Name"</label>
            <input id="kept-name" type="text" prop:value=move || name.get() on:input:target=move |event| name.set(event.target().value()) />
            <label for="kept-tags">"Tags, parted by commas"</label>
            <input
                id="kept-tags"
                type="text"
                prop:value=move || typed_tags.get()
                on:input:target=move |event| typed_tags.set(event.target().value())
            />
            <label for="kept-note">"Note"</label>
            <textarea id="kept-note" rows="3" prop:value=move || note.get() on:input:target=move |event| note.set(event.target().value())></textarea>
            <div class="actions">
                <button class="primary">"Keep"</button>
                <button type="button" on:click=move |_| editing.set(None)>"Leave as it was"</button>
            </div>
        </form>
    }
}
