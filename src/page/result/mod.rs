//! A result, to be read from top to bottom.

mod client;
mod failures;
mod goodput;
mod latency;
mod linked;
mod overview;
mod requests;
mod sglang;
mod share;
mod spread;
mod steady;
mod sweep;
mod tokens;
mod waterfall;
mod window;
mod workload;

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    browser,
    live::chart_size,
    parts::{ChartView, DetailsView},
    state::Page,
};
use crate::{
    chart::{self, Scale, Theme},
    metrics::{self, Timeline, Window},
    report::Document,
    request::Outcome,
};
use client::ClientSection;
use failures::FailureSection;
use goodput::GoodputSection;
use latency::LatencySection;
pub use linked::LinkedView;
use overview::Overview;
use requests::RequestTable;
use sglang::SglangSection;
use spread::SpreadSection;
use steady::SteadySection;
pub use sweep::{BackToSeries, SeriesProgress, SeriesView};
use tokens::TokenSection;
use waterfall::WaterfallSection;
use window::WindowSection;
use workload::WorkloadSection;

/// What the request table shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Filter {
    /// All requests.
    #[default]
    All,
    /// Those of one outcome.
    Outcome(Outcome),
    /// Those of one failure group: its name and its members' positions.
    Group(String, Vec<usize>),
}

/// The sections: name and id.
const SECTIONS: [(&str, &str); 8] = [
    ("Part of the run", "window"),
    ("Latency", "latency"),
    ("Goodput", "goodput"),
    ("Over time", "over-time"),
    ("Failures", "failures"),
    ("Waterfall", "waterfall"),
    ("Requests", "requests"),
    ("Client", "client"),
];

/// A result.
#[component]
pub fn ResultView(document: Arc<Document>) -> impl IntoView {
    let filter = RwSignal::new(Filter::All);
    let window = RwSignal::new(None::<Window>);
    let slo = RwSignal::new(document.config.slo);
    let timeline = StoredValue::new(document.course());
    // What the figures are of: the run, or the chosen part of it.
    let shown = RwSignal::new(document.clone());
    let whole = document.clone();
    Effect::new(move |before: Option<()>| {
        let chosen = window.get();
        if before.is_some() {
            // Groups name their members by position, which is another in another part.
            filter.set(Filter::All);
            shown.set(chosen.map_or_else(|| whole.clone(), |window| Arc::new(whole.part(&window))));
        }
    });
    let links = SECTIONS
        .map(|(name, id)| {
            let go = move |event: leptos::ev::MouseEvent| {
                event.prevent_default();
                browser::go_to(id);
            };
            view! { <a href=format!("#{id}") on:click=go>{name}</a> }
        })
        .collect_view();
    view! {
        <article class="result">
            <Overview document=document.clone() shown window filter />
            <nav class="sections" aria-label="Sections of the result">{links}</nav>
            <WindowSection document=document.clone() timeline window />
            {move || view! { <LatencySection document=shown.get() /><GoodputSection document=shown.get() slo /> }}
            <SteadySection document=document.clone() />
            <OverTime document=document.clone() timeline window />
            {move || {
                view! {
                    <SpreadSection samples=metrics::samples(&shown.get().requests) />
                    <FailureSection document=shown.get() filter />
                    <WaterfallSection document=shown.get() />
                    <RequestTable document=shown.get() filter />
                    <TokenSection document=shown.get() />
                }
            }}
            <SglangSection shown />
            {move || view! { <WorkloadSection document=shown.get() /> }}
            <ServerSection document=document.clone() />
            <ClientSection document />
        </article>
    }
}

/// The server's settings, if they were kept.
#[component]
fn ServerSection(document: Arc<Document>) -> impl IntoView {
    document.server.details.as_deref().map(|details| {
        view! {
            <section aria-labelledby="server-title">
                <h2 id="server-title">"Server"</h2>
                <p class="quiet">"Its settings before the run, as it told them. What looks secret is hidden."</p>
                <DetailsView details=details.clone() />
            </section>
        }
    })
}

/// The course of the run, or of the chosen part of it; a drag over a chart chooses another part.
#[component]
fn OverTime(
    document: Arc<Document>,
    timeline: StoredValue<Timeline>,
    window: RwSignal<Option<Window>>,
) -> impl IntoView {
    let page = Page::get();
    let size = Signal::derive(move || chart_size(page.width.get(), 240));
    let log = RwSignal::new(false);
    let measured = (document.measured_from_ms, document.duration_ms);
    let (loads, course) = (document.clone(), document.clone());
    let timeline = Memo::new(move |_| match window.get() {
        Some(part) => course.course_of(&part),
        None => timeline.get_value(),
    });
    let throughput =
        Signal::derive(move || timeline.with(|t| chart::throughput_over_time(t, size.get(), Theme::Light)));
    let outcomes = Signal::derive(move || timeline.with(|t| chart::outcomes_over_time(t, size.get(), Theme::Light)));
    let ttft = Signal::derive(move || {
        let scale = if log.get() { Scale::Log } else { Scale::Linear };
        let part = window.get();
        chart::ttft_over_time(
            &document.requests,
            measured,
            part.as_ref(),
            scale,
            size.get(),
            Theme::Light,
        )
    });
    let choose = Callback::new(move |range: Option<(f64, f64)>| {
        window.set(range.map(|(from_s, to_s)| Window {
            from_ms: measured.0 + from_s * 1000.0,
            to_ms: measured.0 + to_s * 1000.0,
        }));
    });
    let server_load = (!loads.server_load.is_empty()).then(|| {
        let drawing = Signal::derive(move || {
            let part = window.get();
            chart::server_load(&loads.server_load, measured, part.as_ref(), size.get(), Theme::Light)
        });
        view! { <ChartView title="Load that the server told of" drawing on_range=choose /> }
    });
    view! {
        <section id="over-time" aria-labelledby="over-time-title">
            <h2 id="over-time-title">"Over time"</h2>
            <p class="quiet small">"Drag over a chart to see a part of the run; double-click for the whole of it."</p>
            <div class="charts">
                <ChartView title="Output tokens over time" drawing=throughput on_range=choose />
                <ChartView title="Requests ended over time" drawing=outcomes on_range=choose />
                <ChartView title="Time to first token over time" drawing=ttft on_range=choose />
                {server_load}
            </div>
            <label class="small">
                <input type="checkbox" on:change:target=move |event| log.set(event.target().checked()) />
                " TTFT on a log scale"
            </label>
        </section>
    }
}
