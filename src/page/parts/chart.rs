//! A chart with its finding, the figures under the pointer, and its table twin.

use leptos::{ev, html, prelude::*};

use super::chart_tools::ChartTools;
use crate::chart::{Drawing, Place};

/// Drags shorter than this, as a share of the picture's width, are clicks.
const DRAG: f64 = 0.01;

/// A chart: title, finding, picture, and the same as a table. The row of the table under the pointer is shown beside it.
#[component]
pub fn ChartView(
    /// What it shows.
    title: &'static str,
    /// The drawing.
    #[prop(into)]
    drawing: Signal<Drawing>,
    /// What a click on a row's place does.
    #[prop(optional, into)]
    on_row: Option<Callback<usize>>,
    /// Takes the values between which a drag along the width went; a double click gives none: back to the whole.
    #[prop(optional, into)]
    on_range: Option<Callback<Option<(f64, f64)>>>,
) -> impl IntoView {
    let picture = NodeRef::<html::Div>::new();
    // The row under the pointer.
    let read = RwSignal::new(None::<(usize, Place)>);
    // Both ends of a drag under way, as shares of the width.
    let drag = RwSignal::new(None::<(f64, f64)>);
    let point = move |event: &ev::PointerEvent| {
        let bounds = picture.get_untracked()?.get_bounding_client_rect();
        let (width, height) = (bounds.width().max(1.0), bounds.height().max(1.0));
        let x = (f64::from(event.client_x()) - bounds.left()) / width;
        let y = (f64::from(event.client_y()) - bounds.top()) / height;
        Some((x, y, width / height))
    };
    let look = move |event: ev::PointerEvent| {
        let Some((x, y, aspect)) = point(&event) else { return };
        let row = drawing.with_untracked(|drawing| drawing.row_at(x, y, aspect));
        if read.get_untracked() != row {
            read.set(row);
        }
        if let Some((start, _)) = drag.get_untracked() {
            drag.set(Some((start, x)));
        }
    };
    let press = move |event: ev::PointerEvent| {
        if event.button() != 0 || on_range.is_none() || drawing.with_untracked(|drawing| drawing.across.is_none()) {
            return;
        }
        if let (Some((x, ..)), Some(picture)) = (point(&event), picture.get_untracked()) {
            let _ = picture.set_pointer_capture(event.pointer_id());
            drag.set(Some((x, x)));
        }
    };
    let release = move |_| {
        let Some((start, end)) = drag.get_untracked() else {
            return;
        };
        drag.set(None);
        let across = drawing.with_untracked(|drawing| drawing.across);
        if let (Some(take), Some(across)) = (on_range, across)
            && (end - start).abs() >= DRAG
        {
            let (low, high) = (across.value(start.min(end)), across.value(start.max(end)));
            if low < high {
                take.run(Some((low, high)));
            }
        }
    };
    let pick = move |_| {
        if let (Some(open), Some((row, _))) = (on_row, read.get_untracked()) {
            open.run(row);
        }
    };
    let dragged = move || {
        let (start, end) = drag.get()?;
        let (low, high) = (start.min(end).clamp(0.0, 1.0), start.max(end).clamp(0.0, 1.0));
        let style = format!("left:{:.3}%;width:{:.3}%", low * 100.0, (high - low) * 100.0);
        Some(view! { <div class="chosen" style=style></div> })
    };
    view! {
        <figure class="chart-box">
            <figcaption>
                <span class="chart-title">{title}</span>
                <span class="finding">{move || drawing.with(|drawing| drawing.finding.clone())}</span>
            </figcaption>
            <div
                class="chart-area"
                class:opens=on_row.is_some()
                class:drags=on_range.is_some()
                node_ref=picture
                on:pointermove=look
                on:pointerdown=press
                on:pointerup=release
                on:pointercancel=move |_| {
                    drag.set(None);
                    read.set(None);
                }
                on:pointerleave=move |event: ev::PointerEvent| {
                    // A finger that is lifted leaves what it pointed at to be read.
                    if event.pointer_type() != "touch" {
                        read.set(None);
                    }
                }
                on:click=pick
                on:dblclick=move |_| {
                    if let Some(take) = on_range {
                        take.run(None);
                    }
                }
            >
                <div class="chart-picture" inner_html=move || drawing.with(|drawing| drawing.svg.clone())></div>
                {dragged}
                {move || read.get().and_then(|(row, place)| drawing.with(|drawing| reading(drawing, row, place)))}
            </div>
            <div class="chart-foot">
                <TableTwin drawing />
                <ChartTools title drawing />
            </div>
        </figure>
    }
}

/// A row of the table beside its place. The table twin is what screen readers get.
fn reading(drawing: &Drawing, row: usize, place: Place) -> Option<impl IntoView + use<>> {
    let cells = drawing.rows.get(row)?;
    let lines = drawing
        .head
        .iter()
        .zip(cells)
        .map(|(head, cell)| view! { <tr><th>{head.clone()}</th><td>{cell.clone()}</td></tr> })
        .collect_view();
    let mark = match place.y {
        Some(y) => format!("left:{:.3}%;top:{:.3}%", place.x * 100.0, y * 100.0),
        None => format!("left:{:.3}%", place.x * 100.0),
    };
    // On the side with more room.
    let beside = match place.x < 0.5 {
        true => format!("left:calc({:.3}% + 10px)", place.x * 100.0),
        false => format!("right:calc({:.3}% + 10px)", (1.0 - place.x) * 100.0),
    };
    Some(view! {
        <div class=if place.y.is_some() { "read-dot" } else { "read-line" } style=mark></div>
        <table class="read-figures" aria-hidden="true" style=beside><tbody>{lines}</tbody></table>
    })
}

/// The figures of a chart as a table, made when it is opened.
#[component]
pub fn TableTwin(
    /// The drawing.
    drawing: Signal<Drawing>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    view! {
        <details on:toggle=move |_| open.update(|open| *open = !*open)>
            <summary>"As a table"</summary>
            <Show when=move || open.get()>
                <div class="scroll" tabindex="0" role="group" aria-label="Figures of the chart">
                    <table>
                        <thead>
                            <tr>{move || drawing.with(|d| d.head.iter().map(|head| view! { <th>{head.clone()}</th> }).collect_view())}</tr>
                        </thead>
                        <tbody>
                            {move || {
                                drawing.with(|d| {
                                    d.rows
                                        .iter()
                                        .map(|row| view! { <tr>{row.iter().map(|cell| view! { <td>{cell.clone()}</td> }).collect_view()}</tr> })
                                        .collect_view()
                                })
                            }}
                        </tbody>
                    </table>
                </div>
            </Show>
        </details>
    }
}
