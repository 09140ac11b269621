//! A term that explains itself.

use leptos::prelude::*;

use crate::{metrics::term, page::browser};

/// Width and room around an explanation, px; the style has the same.
const TIP_WIDTH: f64 = 420.0;
const ROOM: f64 = 16.0;

/// Where an explanation stands, px from the window's edges: below its term, or above where there is more room.
#[derive(Clone, Copy, Default)]
struct Place {
    left: f64,
    top: Option<f64>,
    bottom: Option<f64>,
}

impl Place {
    fn beside(term: &web_sys::Element) -> Self {
        let (width, height) = browser::window_size();
        let term = term.get_bounding_client_rect();
        let left = term.left().min(width - TIP_WIDTH - ROOM).max(ROOM);
        let below = term.bottom() < height * 0.6;
        Self {
            left,
            top: below.then(|| term.bottom()),
            bottom: (!below).then(|| height - term.top()),
        }
    }
}

/// A term of the glossary; its explanation opens on hover and on focus, and Esc closes it.
#[component]
pub fn Term(
    /// Its key in the glossary.
    id: &'static str,
) -> impl IntoView {
    let Some(term) = term(id) else {
        return view! { <span>{id}</span> }.into_any();
    };
    let tip = format!("tip-{id}");
    let described_by = tip.clone();
    let place = RwSignal::new(Place::default());
    let put = move |term: web_sys::Element| place.set(Place::beside(&term));
    let px = move |read: fn(Place) -> Option<f64>| move || read(place.get()).map(|px| format!("{px}px"));
    view! {
        <span
            class="term"
            tabindex="0"
            aria-describedby=described_by
            on:mouseenter=move |event| put(event_target(&event))
            on:focus=move |event| put(event_target(&event))
            on:keydown:target=move |event| if event.key() == "Escape" { _ = event.target().blur() }
        >
            {term.name}
            <span
                class="tip"
                role="tooltip"
                id=tip
                style:left=px(|place| Some(place.left))
                style:top=px(|place| place.top)
                style:bottom=px(|place| place.bottom)
            >
                <strong>{term.long_name}</strong>
                <span>{term.definition}</span>
                <span class="elsewhere">{term.elsewhere}</span>
            </span>
        </span>
    }
    .into_any()
}
