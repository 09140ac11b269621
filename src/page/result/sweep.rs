//! The result of several runs, and how far they are while they go on.

use std::sync::Arc;

use leptos::prelude::*;

use super::share::Share;
use crate::{
    chart::{self, SweepAxes, Theme},
    config::series::Kind,
    load::series::runs_planned,
    page::{
        browser,
        live::chart_size,
        parts::ChartView,
        state::{Page, Stage},
    },
    report::{Measured, Series},
};

/// How far a series is, above the live view of its present run.
#[component]
pub fn SeriesProgress() -> impl IntoView {
    let page = Page::get();
    let state = move || {
        page.series.with(|series| {
            let series = series.as_ref()?;
            let at = series.points.len() + 1;
            let of = runs_planned(&series.config.series).map_or_else(String::new, |all| format!(" of {all}"));
            let pause = if page.pausing.get() { "; pausing before it" } else { "" };
            Some(format!("Run {at}{of}{pause}"))
        })
    };
    let some = move || {
        page.series
            .with(|series| series.as_ref().is_some_and(|s| !s.points.is_empty()))
    };
    view! {
        <Show when=move || page.series.with(Option::is_some)>
            <section class="panel" aria-label="Runs so far">
                <h2 role="status">{state}</h2>
                <Show when=some fallback=|| view! { <p class="quiet">"No run is done yet."</p> }>
                    {move || page.series.with(|series| series.as_ref().map(|series| runs_table(page, series, false)))}
                </Show>
            </section>
        </Show>
    }
}

/// The runs as a table; with a way into each where they can be opened.
fn runs_table(page: Page, series: &Arc<Series>, opens: bool) -> impl IntoView + use<> {
    let table = series.run_table();
    let head = table
        .head
        .into_iter()
        .map(|head| view! { <th>{head}</th> })
        .collect_view();
    let rows = table
        .rows
        .into_iter()
        .enumerate()
        .map(|(position, row)| {
            let open = opens.then(|| {
                let series = series.clone();
                view! {
                    <td>
                        <button type="button" class="link" on:click=move |_| page.open_point(&series, position)>
                            {format!("Open run {}", position + 1)}
                        </button>
                    </td>
                }
            });
            view! { <tr>{cells(row)} {open}</tr> }
        })
        .collect_view();
    view! {
        <div class="scroll">
            <table class="numbers">
                <thead>
                    <tr>{head} {opens.then(|| view! { <th><span class="visually-hidden">"whole result"</span></th> })}</tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

/// The cells of a row, the first of which names it.
fn cells(row: Vec<String>) -> impl IntoView {
    row.into_iter()
        .enumerate()
        .map(|(i, cell)| match i {
            0 => view! { <th scope="row">{cell}</th> }.into_any(),
            _ => view! { <td>{cell}</td> }.into_any(),
        })
        .collect_view()
}

/// The result of several runs.
#[component]
pub fn SeriesView(series: Arc<Series>) -> impl IntoView {
    let page = Page::get();
    let title = series.title();
    let simulated = series.points.iter().any(|point| point.simulated);
    let save = {
        let series = series.clone();
        move |_| {
            let stamp = browser::stamp(series.points.first().map_or(0.0, |point| point.started_unix_ms));
            match browser::save_file(
                &format!("streamgauge-series-{stamp}.json"),
                "application/json",
                &series.to_json(),
            ) {
                Ok(()) => page.unsaved.set(false),
                Err(error) => page.notice(format!("The browser refused to save the file: {error:?}")),
            }
        }
    };
    let again = {
        let config = series.config.clone();
        move |_| {
            page.take_config(&config);
            page.back();
        }
    };
    view! {
        <article class="result">
            <header class="result-head">
                <div>
                    <h1>{title}</h1>
                    <p>{series.finding()}</p>
                    <p class="badges">
                        {simulated.then(|| view! { <span class="badge simulated">"Simulated: says nothing about a real server"</span> })}
                    </p>
                </div>
                <div class="actions">
                    <button type="button" class="primary" on:click=again>"New run"</button>
                    <button type="button" on:click=save>"Save JSON"</button>
                    <Share shared=Measured::Series(series.clone()) />
                </div>
            </header>
            <SweepCharts series=series.clone() />
            <Comparison series=series.clone() />
            <section id="runs" aria-labelledby="runs-title">
                <h2 id="runs-title">"Runs"</h2>
                {runs_table(page, &series, true)}
            </section>
        </article>
    }
}

/// Throughput against latencies, for a series by load.
#[component]
fn SweepCharts(series: Arc<Series>) -> impl IntoView {
    let page = Page::get();
    if series.config.series.kind == Kind::Abba {
        return None;
    }
    let size = Signal::derive(move || chart_size(page.width.get(), 260));
    let load_unit = series.load_unit();
    let slo = series.config.slo;
    let points = StoredValue::new(series.by_load());
    let runs = series.clone();
    let open = Callback::new(move |row: usize| {
        if let Some(position) = points.with_value(|points| points.get(row).map(|point| point.position)) {
            page.open_point(&runs, position);
        }
    });
    let drawing = move |axes: SweepAxes| {
        Signal::derive(move || points.with_value(|points| chart::sweep(points, axes, size.get(), Theme::Light)))
    };
    let [ttft, tpot, e2e] = SweepAxes::all(&slo, load_unit).map(drawing);
    let enough = series.enough();
    let shares = Signal::derive(move || {
        points.with_value(|points| chart::sweep_shares(points, enough, load_unit, size.get(), Theme::Light))
    });
    Some(view! {
        <section id="sweep" aria-labelledby="sweep-title">
            <h2 id="sweep-title">"Throughput against latency"</h2>
            <p class="quiet small">"Click a dot to open its run."</p>
            <div class="charts">
                <ChartView title="TTFT" drawing=ttft on_row=open />
                <ChartView title="TPOT" drawing=tpot on_row=open />
                <ChartView title="E2E" drawing=e2e on_row=open />
                <ChartView title="Kept objectives and failures" drawing=shares on_row=open />
            </div>
        </section>
    })
}

/// Two endpoints, pair by pair.
#[component]
fn Comparison(series: Arc<Series>) -> impl IntoView {
    let table = series.pair_table();
    if table.rows.is_empty() {
        return None;
    }
    let head = table
        .head
        .into_iter()
        .map(|head| view! { <th>{head}</th> })
        .collect_view();
    let rows = table
        .rows
        .into_iter()
        .map(|row| view! { <tr>{cells(row)}</tr> })
        .collect_view();
    Some(view! {
        <section id="comparison" aria-labelledby="comparison-title">
            <h2 id="comparison-title">"B less A, pair by pair"</h2>
            <div class="scroll">
                <table class="numbers" aria-labelledby="comparison-title">
                    <thead><tr>{head}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </section>
    })
}

/// The way back from one run of a series to all.
#[component]
pub fn BackToSeries() -> impl IntoView {
    let page = Page::get();
    let series = page.series.get_untracked()?;
    Some(view! {
        <p>
            <button type="button" on:click=move |_| page.stage.set(Stage::Series(series.clone()))>"Back to all runs"</button>
        </p>
    })
}
