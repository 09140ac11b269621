//! The result of several runs, and how far they are while they go on.

use std::sync::Arc;

use leptos::prelude::*;

use super::share::Share;
use crate::{
    chart::{self, SweepAxes, Theme},
    config::series::Kind,
    load::series::{is_other, load_of, runs_planned},
    page::{
        browser,
        live::chart_size,
        parts::ChartView,
        state::{Page, Stage},
    },
    report::{Document, Ending, Measured, Series, format, history::series_words},
};

/// What the loads of a series are.
fn load_unit(series: &Series) -> &'static str {
    if series.config.load.is_open() {
        "req/s"
    } else {
        "at a time"
    }
}

/// A run's load, or which endpoint it was on.
fn run_name(series: &Series, position: usize, document: &Document) -> String {
    match (series.config.series.kind, load_of(&document.config)) {
        (Kind::Abba, _) => format!(
            "{}: {}",
            if is_other(position) { "B" } else { "A" },
            document.server.base_url
        ),
        (_, load) => load.map_or_else(
            || format::NOT_AVAILABLE.to_owned(),
            |load| format::as_set(load, load_unit(series)),
        ),
    }
}

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
    let rows = series
        .points
        .iter()
        .enumerate()
        .map(|(position, document)| {
            let summary = &document.summary;
            let ended = summary.succeeded + summary.failed;
            let failed = (ended > 0).then(|| f64::from(summary.failed) / f64::from(ended));
            let goodput = crate::metrics::goodput(&document.requests, &series.config.slo, document.duration_ms);
            let ending = match document.ending {
                Ending::Completed => "",
                Ending::StoppedByUser => " (stopped)",
                Ending::Interrupted => " (interrupted)",
            };
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
            view! {
                <tr>
                    <th scope="row">{run_name(series, position, document)}{ending}</th>
                    <td>{format::with_unit(summary.output_throughput, "tok/s")}</td>
                    <td>{format::with_unit(summary.request_throughput, "req/s")}</td>
                    <td>{format::millis(summary.ttft_ms.p50)}</td>
                    <td>{format::millis(summary.tpot_ms.p50)}</td>
                    <td>{format::millis(summary.e2e_ms.p50)}</td>
                    <td>{format::with_unit(goodput.and_then(|goodput| goodput.request_goodput), "req/s")}</td>
                    <td>{format::percent(goodput.and_then(|goodput| goodput.attainment))}</td>
                    <td>{format::percent(failed)}</td>
                    {open}
                </tr>
            }
        })
        .collect_view();
    view! {
        <div class="scroll">
            <table class="numbers">
                <thead>
                    <tr>
                        <th>"run"</th>
                        <th>"output"</th>
                        <th>"requests"</th>
                        <th>"TTFT, median"</th>
                        <th>"TPOT, median"</th>
                        <th>"E2E, median"</th>
                        <th>"goodput"</th>
                        <th>"kept objectives"</th>
                        <th>"failed"</th>
                        {opens.then(|| view! { <th><span class="visually-hidden">"whole result"</span></th> })}
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

/// What a series comes to, in a sentence.
fn finding(series: &Series) -> String {
    let runs = match series.points.len() {
        1 => "1 run".to_owned(),
        n => format!("{} runs", format::count(n as u64)),
    };
    match series.config.series.kind {
        Kind::Search => match series.best() {
            Some(best) => format!(
                "The highest load at which {} of the requests kept the objectives: {} ({runs}).",
                format::percent(series.config.series.attainment),
                format::as_set(best.load, load_unit(series)),
            ),
            None => format!("At no load did enough requests keep the objectives ({runs})."),
        },
        Kind::Abba => format!("{runs}, in the order A, B, B, A: a drift of the machine favours neither endpoint."),
        Kind::Single | Kind::Sweep => runs,
    }
}

/// The result of several runs.
#[component]
pub fn SeriesView(series: Arc<Series>) -> impl IntoView {
    let page = Page::get();
    let title = series_words(series.config.series.kind);
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
                    <p>{finding(&series)}</p>
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
    let load_unit = load_unit(&series);
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
    let ttft = drawing(SweepAxes {
        latency: "TTFT",
        latency_of: |point| point.ttft_ms,
        objective_ms: slo.ttft_ms,
        load_unit,
    });
    let tpot = drawing(SweepAxes {
        latency: "TPOT",
        latency_of: |point| point.tpot_ms,
        objective_ms: slo.tpot_ms,
        load_unit,
    });
    let e2e = drawing(SweepAxes {
        latency: "E2E",
        latency_of: |point| point.e2e_ms,
        objective_ms: slo.e2e_ms,
        load_unit,
    });
    // The share that a search asks for; for a sweep it is only what was typed last.
    let enough = (series.config.series.kind == Kind::Search).then_some(series.config.series.attainment);
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
    let compared = series.compared();
    if compared.is_empty() {
        return None;
    }
    let rows = compared
        .into_iter()
        .map(|figure| {
            let difference = figure.difference;
            let interval = difference.interval.map_or_else(
                || "n/a".to_owned(),
                |(low, high)| format!("{} to {}", format::number(low), format::with_unit(high, figure.unit)),
            );
            let words = if difference.is_told() {
                "a difference"
            } else {
                "may be chance"
            };
            view! {
                <tr>
                    <th scope="row">{figure.name}</th>
                    <td>{format::with_unit(figure.means.0, figure.unit)}</td>
                    <td>{format::with_unit(figure.means.1, figure.unit)}</td>
                    <td>{format::with_unit(difference.mean, figure.unit)}</td>
                    <td>{interval}</td>
                    <td>{difference.pairs}</td>
                    <td>{words}</td>
                </tr>
            }
        })
        .collect_view();
    Some(view! {
        <section id="comparison" aria-labelledby="comparison-title">
            <h2 id="comparison-title">"B less A, pair by pair"</h2>
            <div class="scroll">
                <table class="numbers" aria-labelledby="comparison-title">
                    <thead>
                        <tr>
                            <th><span class="visually-hidden">"figure"</span></th>
                            <th>"A"</th>
                            <th>"B"</th>
                            <th>"B − A"</th>
                            <th>"95 % confidence"</th>
                            <th>"pairs"</th>
                            <th>"finding"</th>
                        </tr>
                    </thead>
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
