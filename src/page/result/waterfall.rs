//! Every request as a bar along time. Only the rows in view are drawn, on a canvas.

use std::sync::Arc;

use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlElement};

use crate::{
    chart::{Phase, rows_in_view, spans},
    page::state::Page,
    report::{Document, format},
    request::{Outcome, RequestRecord},
};

/// Height of a row, of the strip with the times above the rows, and of the whole view, CSS px.
const ROW: f64 = 12.0;
const HEAD: f64 = 20.0;
const VIEW: f64 = 380.0;

/// Room right of the bars for the mark of a failure, CSS px.
const MARGIN: f64 = 12.0;

/// A phase: its word, the custom property of its colour, and the height of its bar, which tells it without colour.
fn look(phase: Phase) -> (&'static str, &'static str, f64) {
    match phase {
        Phase::Queue => ("queue", "--line-strong", 2.0),
        Phase::Wait => ("wait", "--chart-faint", 5.0),
        Phase::Reasoning => ("reasoning", "--chart-in-flight", 8.0),
        Phase::Answer => ("answer", "--chart-tokens", 10.0),
    }
}

const PHASES: [Phase; 4] = [Phase::Queue, Phase::Wait, Phase::Reasoning, Phase::Answer];

/// A request in a line.
fn told(record: &RequestRecord) -> String {
    let parts = spans(record)
        .into_iter()
        .map(|span| format!("{} {}", look(span.phase).0, format::millis(span.to_ms - span.from_ms)))
        .collect::<Vec<_>>()
        .join(", ");
    let outcome = format::outcome_words(record.outcome);
    format!("#{}: {parts}; {outcome}", record.index)
}

/// The waterfall.
#[component]
pub fn WaterfallSection(document: Arc<Document>) -> impl IntoView {
    let page = Page::get();
    let mut rows: Vec<usize> = (0..document.requests.len()).collect();
    rows.sort_by(|a, b| {
        let at = |i: &usize| document.requests[*i].times.scheduled_ms;
        at(a).total_cmp(&at(b))
    });
    let total = rows.len();
    if total == 0 {
        return None;
    }
    let finding = finding(&document);
    let (rows, document) = (StoredValue::new(rows), StoredValue::new(document));
    let (scroller, canvas) = (NodeRef::<html::Div>::new(), NodeRef::<html::Canvas>::new());
    let scroll = RwSignal::new(0.0);
    let selected = RwSignal::new(0_usize);
    let whole = RwSignal::new(false);
    let colours = RwSignal::new(0_u32);
    let record = move |row: usize| {
        let position = rows.with_value(|rows| rows.get(row).copied())?;
        document.with_value(|document| document.requests.get(position).cloned())
    };

    Effect::new(move |_| {
        page.width.track();
        colours.track();
        let Some(canvas) = canvas.get() else { return };
        let view = rows_in_view(total, ROW, scroll.get(), VIEW - HEAD);
        rows.with_value(|rows| {
            document.with_value(|document| {
                let shown: Vec<&RequestRecord> = rows[view.first..view.end]
                    .iter()
                    .map(|i| &document.requests[*i])
                    .collect();
                let range = if whole.get() {
                    extent(document.requests.iter())
                } else {
                    extent(shown.iter().copied())
                };
                let top = HEAD + view.first as f64 * ROW - scroll.get();
                let marked = selected.get().checked_sub(view.first);
                draw(&canvas, &shown, range, top, marked);
            })
        });
    });

    // The row under the pointer. The canvas stays at the top of the view, so its own offset tells.
    let under = move |event: &ev::MouseEvent| {
        let y = f64::from(event.offset_y()) - HEAD;
        let row = ((y + scroll.get_untracked()) / ROW).floor();
        (y >= 0.0 && row < total as f64).then_some(row as usize)
    };
    let inspect = move |row: usize| page.inspected.set(record(row));
    let key = move |event: ev::KeyboardEvent| {
        let now = selected.get_untracked();
        let page_rows = ((VIEW - HEAD) / ROW) as usize;
        let to = match event.key().as_str() {
            "ArrowDown" | "ArrowRight" => now + 1,
            "ArrowUp" | "ArrowLeft" => now.saturating_sub(1),
            "PageDown" => now + page_rows,
            "PageUp" => now.saturating_sub(page_rows),
            "Home" => 0,
            "End" => total - 1,
            "Enter" => {
                inspect(now);
                return;
            }
            _ => return,
        };
        event.prevent_default();
        let to = to.min(total - 1);
        selected.set(to);
        if let Some(view) = scroller.get_untracked() {
            let (top, room) = (to as f64 * ROW, VIEW - HEAD - ROW);
            let scrolled = f64::from(view.scroll_top());
            let kept = scrolled.clamp((top - room).max(0.0), top);
            view.set_scroll_top(kept as i32);
        }
    };
    let on_scroll = move |event: ev::Event| {
        if let Some(view) = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()) {
            scroll.set(f64::from(view.scroll_top()));
        }
    };
    let words = move || record(selected.get()).map(|record| told(&record)).unwrap_or_default();
    let legend = PHASES
        .map(|phase| {
            let (word, colour, height) = look(phase);
            let style = format!("background:var({colour});height:{height}px");
            view! { <span class="key"><i style=style></i>{word}</span> }
        })
        .collect_view();
    Some(view! {
        <section id="waterfall" aria-labelledby="waterfall-title">
            <h2 id="waterfall-title">"Waterfall"</h2>
            <p>{finding}</p>
            <div class="toolbar waterfall-keys">
                {legend}
                <span class="key"><b class="failed">"×"</b>"failed or cancelled"</span>
                <label>
                    <input type="checkbox" on:change:target=move |event| whole.set(event.target().checked()) />
                    " Time of the whole run"
                </label>
            </div>
            <div
                class="waterfall"
                node_ref=scroller
                tabindex="0"
                role="slider"
                aria-label="Request in the waterfall; Enter inspects it"
                aria-orientation="vertical"
                aria-valuemin="1"
                aria-valuemax=total.to_string()
                aria-valuenow=move || (selected.get() + 1).to_string()
                aria-valuetext=words
                on:scroll=on_scroll
                on:keydown=key
            >
                <canvas
                    node_ref=canvas
                    aria-hidden="true"
                    on:mousemove=move |event| {
                        if let Some(row) = under(&event).filter(|row| *row != selected.get_untracked()) {
                            selected.set(row);
                        }
                    }
                    on:click=move |event| {
                        if let Some(row) = under(&event) {
                            selected.set(row);
                            inspect(row);
                        }
                    }
                    on:transitionend=move |_| colours.update(|n| *n += 1)
                ></canvas>
                <div style=format!("height:{}px", total as f64 * ROW + HEAD - VIEW)></div>
            </div>
            <p class="small">{words}</p>
            <p class="quiet small">"The same as a table: "<a href="#requests">"Requests"</a>"."</p>
        </section>
    })
}

fn finding(document: &Document) -> String {
    let waited = |record: &&RequestRecord| record.times.dispatched_ms - record.times.scheduled_ms > 1.0;
    let queued = document.requests.iter().filter(waited).count();
    match queued {
        0 => "No request waited more than a millisecond for its place on the wire.".to_owned(),
        n => format!(
            "{} of {} requests waited more than a millisecond for a place on the wire.",
            format::count(n as u64),
            format::count(document.requests.len() as u64)
        ),
    }
}

/// From the first schedule to the last end, ms.
fn extent<'a>(records: impl Iterator<Item = &'a RequestRecord>) -> (f64, f64) {
    records.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), record| {
        (
            from.min(record.times.scheduled_ms.min(record.times.dispatched_ms)),
            to.max(record.times.ended_ms),
        )
    })
}

/// Draws the rows from `top` (CSS px) on, over the range of time.
fn draw(
    canvas: &web_sys::HtmlCanvasElement,
    rows: &[&RequestRecord],
    (from, to): (f64, f64),
    top: f64,
    marked: Option<usize>,
) {
    let context = canvas.get_context("2d").ok().flatten();
    let Some(context) = context.and_then(|c| c.dyn_into::<CanvasRenderingContext2d>().ok()) else {
        return;
    };
    let window = window();
    let Ok(Some(style)) = window.get_computed_style(canvas) else {
        return;
    };
    let colour = |name: &str| style.get_property_value(name).unwrap_or_default();
    let ratio = window.device_pixel_ratio();
    let width = f64::from(canvas.client_width());
    let (device_width, device_height) = ((width * ratio) as u32, (VIEW * ratio) as u32);
    if (canvas.width(), canvas.height()) != (device_width, device_height) {
        canvas.set_width(device_width);
        canvas.set_height(device_height);
    }
    let _ = context.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
    context.clear_rect(0.0, 0.0, width, VIEW);
    let scale = (width - MARGIN).max(1.0) / (to - from).max(1e-3);
    let x = |at_ms: f64| (at_ms - from) * scale;

    if let Some(row) = marked.filter(|row| *row < rows.len()) {
        context.set_fill_style_str(&colour("--accent-soft"));
        context.fill_rect(0.0, top + row as f64 * ROW, width, ROW);
    }
    // A colour at a time: changing it is what costs.
    for phase in PHASES {
        let (_, name, height) = look(phase);
        context.set_fill_style_str(&colour(name));
        for (i, record) in rows.iter().enumerate() {
            let y = top + i as f64 * ROW + (ROW - height) / 2.0;
            for span in spans(record).into_iter().filter(|span| span.phase == phase) {
                let length = ((span.to_ms - span.from_ms) * scale).max(0.5);
                context.fill_rect(x(span.from_ms), y, length, height);
            }
        }
    }
    context.set_stroke_style_str(&colour("--bad"));
    context.set_line_width(2.0);
    context.begin_path();
    for (i, record) in rows.iter().enumerate().filter(|(_, r)| r.outcome != Outcome::Succeeded) {
        let (x, y) = (x(record.times.ended_ms) + 5.0, top + (i as f64 + 0.5) * ROW);
        for side in [-3.5, 3.5] {
            context.move_to(x - 3.5, y - side);
            context.line_to(x + 3.5, y + side);
        }
    }
    context.stroke();
    context.set_fill_style_str(&colour("--surface"));
    context.fill_rect(0.0, 0.0, width, HEAD);
    context.set_fill_style_str(&colour("--quiet"));
    context.set_font("12px system-ui, sans-serif");
    let told = |at_ms: f64| format!("{:.2}\u{202f}s", at_ms / 1000.0);
    let _ = context.fill_text(&told(from), 2.0, 14.0);
    context.set_text_align("right");
    let _ = context.fill_text(&told(to), width - 2.0, 14.0);
    context.set_text_align("left");
}
