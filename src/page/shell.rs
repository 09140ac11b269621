//! What frames the views: the header, the notices, the help; and the form, or the bench's place.

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, KeyboardEvent};

use super::{
    bridge::{BENCH_ID, Tab, ToBench},
    browser,
    frame::{Bench, Frame},
    setup::Setup,
};
use crate::config::link;

/// The frame.
#[component]
pub fn Shell() -> impl IntoView {
    let frame = Frame::from_url();
    provide_context(frame);
    // The URL follows the form; while the form is wrong it stays.
    Effect::new(move |_| {
        if let Ok(config) = frame.checked.get() {
            browser::set_query(&link::to_query(&config));
        }
    });
    // Another view has come in: what had the focus is gone, and where the page was scrolled to means nothing there.
    let view = Memo::new(move |_| (frame.tab.get(), frame.scene.get()));
    Effect::new(move |before: Option<_>| {
        let view = view.get();
        if before.is_some_and(|before| before != view) {
            browser::go_to_top();
        }
        view
    });
    let over = RwSignal::new(false);
    // On the window, because a file may be dropped beside the page's own elements too.
    let listeners = [
        window_event_listener(ev::keydown, move |event| shortcut(frame, &event)),
        window_event_listener(ev::hashchange, move |_| frame.tab.set(Tab::of(&browser::fragment()))),
        window_event_listener(ev::dragover, move |event| {
            if brings_files(&event) {
                event.prevent_default();
                over.set(true);
            }
        }),
        window_event_listener(ev::dragleave, move |_| over.set(false)),
        window_event_listener(ev::drop, move |event| {
            over.set(false);
            if brings_files(&event) {
                event.prevent_default();
                take_dropped(frame, &event);
            }
        }),
    ];
    on_cleanup(move || listeners.into_iter().for_each(|listener| listener.remove()));
    // Once the bench's place is in the document.
    Effect::new(move |_| frame.begin());
    view! {
        <div class="page" class:dropping=over>
            <a class="skip" href="#main">"Skip to content"</a>
            <Header />
            <Notices />
            <main id="main" tabindex="-1">
                <Show when=move || frame.shows_form()>
                    <h1 class="visually-hidden">"Set up a run"</h1>
                    <Setup />
                </Show>
                <Show when=move || !frame.shows_form() && frame.bench.get() == Bench::Loading>
                    <p class="quiet">"Loading …"</p>
                </Show>
                <div id=BENCH_ID hidden=move || frame.shows_form()></div>
            </main>
            <footer>
                "Drop a saved result anywhere on this page to open it. Nothing leaves your browser but the requests to the endpoint you name."
            </footer>
            <Help />
        </div>
    }
}

/// Whether files are dragged; text dragged into a field is the browser's matter.
fn brings_files(event: &DragEvent) -> bool {
    event
        .data_transfer()
        .is_some_and(|data| data.types().includes(&"Files".into(), 0))
}

fn take_dropped(frame: Frame, event: &DragEvent) {
    if let Some(files) = event.data_transfer().and_then(|data| data.files()) {
        frame.open_all(&files);
    }
}

fn shortcut(frame: Frame, event: &KeyboardEvent) {
    let typing = event.target().is_some_and(|target| {
        target
            .dyn_ref::<web_sys::Element>()
            .is_some_and(|element| ["INPUT", "TEXTAREA", "SELECT"].contains(&element.tag_name().as_str()))
    });
    match event.key().as_str() {
        "Enter" if (event.ctrl_key() || event.meta_key()) && frame.may_run() => {
            event.prevent_default();
            frame.run();
        }
        "?" if !typing => frame.help.set(true),
        _ => {}
    }
}

#[component]
fn Header() -> impl IntoView {
    let frame = Frame::get();
    let theme = RwSignal::new(browser::stored_theme());
    Effect::new(move |_| browser::set_theme(&theme.get()));
    view! {
        <header class="top">
            <a class="brand" href="./">"Streamgauge"</a>
            <nav class="views" aria-label="Views">
                {Tab::ALL
                    .map(|tab| {
                        view! {
                            <a
                                href=tab.fragment()
                                aria-current=move || (frame.tab.get() == tab).then_some("page")
                                on:click=move |_| frame.tab.set(tab)
                            >
                                {tab.name()}
                            </a>
                        }
                    })
                    .collect_view()}
            </nav>
            <div class="tools">
                <OpenFile />
                <label>
                    <span class="visually-hidden">"Theme"</span>
                    <select aria-label="Theme" on:change:target=move |event| theme.set(event.target().value())>
                        {[("", "System"), ("light", "Light"), ("dark", "Dark")]
                            .map(|(value, name)| {
                                view! { <option value=value selected=move || theme.get() == value>{name}</option> }
                            })
                            .collect_view()}
                    </select>
                </label>
                <button type="button" aria-label="Help and shortcuts" title="Help and shortcuts (?)" on:click=move |_| frame.help.set(true)>
                    "?"
                </button>
            </div>
        </header>
    }
}

/// Opens a saved result by the system's file dialogue.
#[component]
fn OpenFile() -> impl IntoView {
    let frame = Frame::get();
    let input = NodeRef::<html::Input>::new();
    let chosen = move |_| {
        let Some(input) = input.get() else { return };
        if let Some(files) = input.files() {
            frame.open_all(&files);
        }
        input.set_value("");
    };
    view! {
        <input node_ref=input type="file" multiple accept=".json,.jsonl,.html,application/json,text/html" hidden on:change=chosen aria-label="Saved result" />
        <button type="button" title="Open a saved result" on:click=move |_| _ = input.get().map(|input| input.click())>"Open"</button>
    }
}

/// What the page has to tell; stays until dismissed.
#[component]
fn Notices() -> impl IntoView {
    let frame = Frame::get();
    let notices = frame.notices;
    let numbered = move || notices.get().into_iter().enumerate().collect::<Vec<_>>();
    let dismiss = move |i: usize| notices.update(|all| _ = (i < all.len()).then(|| all.remove(i)));
    view! {
        <div role="alert">
            <For each=numbered key=|(i, notice)| (*i, notice.words.clone()) let((i, notice))>
                <div class="notice">
                    <p>{notice.words}</p>
                    {notice
                        .kept
                        .map(|id| {
                            let show = move |_| {
                                dismiss(i);
                                frame.tell(&ToBench::ShowKept(id.clone()));
                            };
                            view! { <button type="button" on:click=show>"Show it"</button> }
                        })}
                    <button type="button" class="dismiss" aria-label="Dismiss" on:click=move |_| dismiss(i)>
                        "×"
                    </button>
                </div>
            </For>
        </div>
    }
}

#[component]
fn Help() -> impl IntoView {
    let frame = Frame::get();
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        match (frame.help.get(), dialog.open()) {
            (true, false) => _ = dialog.show_modal(),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    view! {
        <dialog node_ref=dialog aria-labelledby="help-title" on:close=move |_| frame.help.set(false)>
            <h2 id="help-title">"Help"</h2>
            <p>
                "Streamgauge sends streaming requests to an LLM server and reads every answer with a state machine that rejects errors. "
                "Pick an endpoint, press Run, and read the result from top to bottom. Names with a dotted line explain themselves on hover and focus."
            </p>
            <h3>"Keys"</h3>
            <dl class="keys">
                <dt><kbd>"Ctrl"</kbd>" + "<kbd>"Enter"</kbd></dt>
                <dd>"Run"</dd>
                <dt><kbd>"Alt"</kbd>" + "<kbd>"S"</kbd></dt>
                <dd>"Stop"</dd>
                <dt><kbd>"?"</kbd></dt>
                <dd>"This help"</dd>
                <dt><kbd>"Esc"</kbd></dt>
                <dd>"Close what is on top"</dd>
            </dl>
            <form method="dialog"><button class="primary">"Close"</button></form>
        </dialog>
    }
}
