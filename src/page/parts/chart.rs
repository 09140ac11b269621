//! A chart with its finding and its table twin.

use leptos::prelude::*;

use super::chart_tools::ChartTools;
use crate::chart::Drawing;

/// A chart: title, finding, picture, and the same as a table.
#[component]
pub fn ChartView(
    /// What it shows.
    title: &'static str,
    /// The drawing.
    #[prop(into)]
    drawing: Signal<Drawing>,
) -> impl IntoView {
    view! {
        <figure class="chart-box">
            <figcaption>
                <span class="chart-title">{title}</span>
                <span class="finding">{move || drawing.with(|drawing| drawing.finding.clone())}</span>
            </figcaption>
            <div class="chart-picture" inner_html=move || drawing.with(|drawing| drawing.svg.clone())></div>
            <div class="chart-foot">
                <TableTwin drawing />
                <ChartTools title drawing />
            </div>
        </figure>
    }
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
