//! The part of the run that the figures are of: chosen by dragging over the requests in flight, or by its two ends.

use std::sync::Arc;

use leptos::{ev, html, prelude::*};

use crate::{
    chart::{self, Size, Theme},
    metrics::{Timeline, Window, steady_window},
    page::state::Page,
    report::{Document, format},
};

/// Height of the strip, CSS px.
const HEIGHT: u32 = 72;

/// Share of peak concurrency above which the proposed window lies.
const STEADY: f64 = 0.8;

/// Shorter windows, as a share of the run, are taken for a click.
const LEAST: f64 = 0.005;

/// Chooses the window; without one the figures are of the whole run.
#[component]
pub fn WindowSection(
    /// The whole run.
    document: Arc<Document>,
    /// Its course.
    timeline: StoredValue<Timeline>,
    /// What was chosen.
    window: RwSignal<Option<Window>>,
) -> impl IntoView {
    let page = Page::get();
    let (from_ms, length_ms) = (document.measured_from_ms, document.duration_ms);
    if length_ms.is_nan() || length_ms <= 0.0 {
        return None;
    }
    let surface = NodeRef::<html::Div>::new();
    // Both ends of a drag under way, as shares of the run.
    let drag = RwSignal::new(None::<(f64, f64)>);
    let strip = Signal::derive(move || {
        let size = Size {
            width: (page.width.get() - 32.0).clamp(260.0, 1240.0) as u32,
            height: HEIGHT,
        };
        timeline.with_value(|timeline| chart::in_flight_strip(timeline, size, Theme::Light))
    });
    let take = move |a: f64, b: f64| {
        let (low, high) = (a.min(b).clamp(0.0, 1.0), a.max(b).clamp(0.0, 1.0));
        if high - low >= LEAST {
            window.set(Some(Window {
                from_ms: from_ms + low * length_ms,
                to_ms: from_ms + high * length_ms,
            }));
        }
    };
    let share = move |event: &ev::PointerEvent| {
        let width = surface.get_untracked().map_or(0, |surface| surface.client_width());
        f64::from(event.offset_x()) / f64::from(width.max(1))
    };
    let press = move |event: ev::PointerEvent| {
        let at = share(&event);
        if let Some(surface) = surface.get_untracked() {
            let _ = surface.set_pointer_capture(event.pointer_id());
        }
        drag.set(Some((at, at)));
    };
    let pull = move |event: ev::PointerEvent| {
        if let Some((start, _)) = drag.get_untracked() {
            drag.set(Some((start, share(&event))));
        }
    };
    let release = move |_| {
        if let Some((a, b)) = drag.get_untracked() {
            drag.set(None);
            take(a, b);
        }
    };
    let shown = move || {
        let chosen = window
            .get()
            .map(|w| ((w.from_ms - from_ms) / length_ms, (w.to_ms - from_ms) / length_ms));
        let (a, b) = drag.get().or(chosen)?;
        let (low, high) = (a.min(b).clamp(0.0, 1.0), a.max(b).clamp(0.0, 1.0));
        let style = format!("left:{:.3}%;width:{:.3}%", low * 100.0, (high - low) * 100.0);
        Some(view! { <div class="chosen" style=style></div> })
    };
    let ends = move || {
        let chosen = window.get();
        let of = |at_ms: f64| format!("{:.2}", (at_ms - from_ms) / 1000.0);
        chosen.map_or_else(
            || (of(from_ms), of(from_ms + length_ms)),
            |w| (of(w.from_ms), of(w.to_ms)),
        )
    };
    let set_end = move |event: ev::Event, first: bool| {
        let Ok(at_s) = event_target_value(&event).parse::<f64>() else {
            return;
        };
        let (low, high) = ends();
        let other = if first { high } else { low };
        let Ok(other_s) = other.parse::<f64>() else { return };
        take(at_s * 1000.0 / length_ms, other_s * 1000.0 / length_ms);
    };
    let steady = {
        let document = document.clone();
        move |_| window.set(steady_window(&document.requests, STEADY))
    };
    let told = move || {
        match window.get() {
        None => "The figures are of the whole run. Drag over the strip, or over a chart of what was over time, to see a part of it."
            .to_owned(),
        Some(w) => format!(
            "The figures are of the {} from {:.2}\u{202f}s on: latencies and outcomes of the {} requests that ended in it, tokens that arrived in it.",
            format::millis(w.duration_ms()),
            (w.from_ms - from_ms) / 1000.0,
            format::count(
                document
                    .requests
                    .iter()
                    .filter(|r| w.contains(r.times.ended_ms))
                    .count() as u64
            ),
        ),
    }
    };
    Some(view! {
        <section id="window" aria-labelledby="window-title">
            <h2 id="window-title">"Part of the run"</h2>
            <p role="status">{told}</p>
            <div
                class="window-strip"
                node_ref=surface
                on:pointerdown=press
                on:pointermove=pull
                on:pointerup=release
                on:pointercancel=move |_| drag.set(None)
                on:dblclick=move |_| window.set(None)
            >
                <div class="chart-picture" inner_html=move || strip.with(|drawing| drawing.svg.clone())></div>
                {shown}
            </div>
            <div
                class="toolbar"
                on:keydown=move |event| {
                    if event.key() == "Escape" {
                        window.set(None);
                    }
                }
            >
                <label>"From, s "<input type="number" min="0" step="any" prop:value=move || ends().0 on:change=move |event| set_end(event, true) /></label>
                <label>"to, s "<input type="number" min="0" step="any" prop:value=move || ends().1 on:change=move |event| set_end(event, false) /></label>
                <button type="button" on:click=steady>"Steady state"</button>
                <button type="button" disabled=move || window.get().is_none() on:click=move |_| window.set(None)>"Whole run"</button>
            </div>
        </section>
    })
}
