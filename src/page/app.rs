//! The bench: the views around a run.

use leptos::{ev, prelude::*};
use web_sys::KeyboardEvent;

use super::{
    bridge::Tab,
    browser,
    calibration::CalibrateView,
    compare::CompareView,
    explain::ExplainView,
    history::HistoryView,
    inspector::Inspector,
    live::LiveView,
    result::{BackToSeries, LinkedView, ResultView, SeriesProgress, SeriesView},
    state::{Page, Stage},
};

/// The bench.
#[component]
pub fn App() -> impl IntoView {
    let page = Page::new();
    provide_context(page);
    page.begin();
    let listeners = [
        window_event_listener(ev::resize, move |_| page.width.set(browser::window_width())),
        // A run that goes on would be lost, and so would a real result that was not saved.
        window_event_listener(ev::beforeunload, move |event| {
            if page.is_running() || page.unsaved.get_untracked() {
                event.prevent_default();
            }
        }),
    ];
    let links = window_event_listener(ev::hashchange, move |_| page.open_link());
    let keys = window_event_listener(ev::keydown, move |event| shortcut(page, &event));
    // A memo: what tells the same tab once more must not build its view anew.
    let tab = Memo::new(move |_| page.tab.get());
    on_cleanup(move || {
        listeners.into_iter().for_each(|listener| listener.remove());
        keys.remove();
        links.remove();
    });
    view! {
        {move || match tab.get() {
            Tab::Compare => view! { <CompareView /> }.into_any(),
            Tab::History => view! { <HistoryView /> }.into_any(),
            Tab::Explain => view! { <ExplainView /> }.into_any(),
            Tab::Calibrate => view! { <CalibrateView /> }.into_any(),
            _ => view! { <StageView /> }.into_any(),
        }}
        <Inspector />
    }
}

/// The run that goes on, or the result that it left.
#[component]
fn StageView() -> impl IntoView {
    let page = Page::get();
    move || match page.stage.get() {
        Stage::Setup => ().into_any(),
        Stage::Running => view! {
            <h1 class="visually-hidden">"Run in progress"</h1>
            <SeriesProgress />
            <LiveView config=page.config() />
        }
        .into_any(),
        Stage::Finished(document) => view! { <BackToSeries /> <ResultView document /> }.into_any(),
        Stage::Series(series) => view! { <SeriesView series /> }.into_any(),
        Stage::Linked(snapshot) => view! { <LinkedView snapshot /> }.into_any(),
    }
}

fn shortcut(page: Page, event: &KeyboardEvent) {
    // By its place on the keyboard: with Alt, some systems make another character of it.
    if event.alt_key() && event.code() == "KeyS" && page.is_running() {
        event.prevent_default();
        page.stop();
    }
}
