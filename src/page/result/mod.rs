//! A result, to be read from top to bottom.

mod client;
mod failures;
mod goodput;
mod latency;
mod overview;
mod requests;
mod sglang;
mod spread;
mod steady;
mod tokens;
mod waterfall;
mod workload;

use std::sync::Arc;

use leptos::prelude::*;

use super::{live::chart_size, parts::ChartView, state::Page};
use crate::{
    chart::{self, Scale, Theme},
    metrics,
    report::Document,
    request::Outcome,
};
use client::ClientSection;
use failures::FailureSection;
use goodput::GoodputSection;
use latency::LatencySection;
use overview::Overview;
use requests::RequestTable;
use sglang::SglangSection;
use spread::SpreadSection;
use steady::SteadySection;
use tokens::TokenSection;
use waterfall::WaterfallSection;
use workload::WorkloadSection;

/// Charts over time have about this many buckets.
const BUCKETS: f64 = 60.0;

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

/// A result.
#[component]
pub fn ResultView(document: Arc<Document>) -> impl IntoView {
    let filter = RwSignal::new(Filter::All);
    view! {
        <article class="result">
            <Overview document=document.clone() filter />
            <LatencySection document=document.clone() />
            <GoodputSection document=document.clone() />
            <SteadySection document=document.clone() />
            <OverTime document=document.clone() />
            <SpreadSection document=document.clone() />
            <FailureSection document=document.clone() filter />
            <WaterfallSection document=document.clone() />
            <RequestTable document=document.clone() filter />
            <TokenSection document=document.clone() />
            <SglangSection document=document.clone() />
            <WorkloadSection document=document.clone() />
            <ClientSection document />
        </article>
    }
}

#[component]
fn OverTime(document: Arc<Document>) -> impl IntoView {
    let page = Page::get();
    let bucket_ms = (document.duration_ms / BUCKETS).max(100.0);
    // A round width, so that a rate per bucket is easy to think of.
    let bucket_ms = [100.0, 200.0, 250.0, 500.0, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4]
        .into_iter()
        .find(|w| *w >= bucket_ms)
        .unwrap_or(bucket_ms);
    let timeline = metrics::timeline(
        &document.requests,
        document.measured_from_ms,
        document.duration_ms,
        bucket_ms,
    );
    let size = Signal::derive(move || chart_size(page.width.get(), 240));
    let timeline = StoredValue::new(timeline);
    let log = RwSignal::new(false);
    let throughput =
        Signal::derive(move || timeline.with_value(|t| chart::throughput_over_time(t, size.get(), Theme::Light)));
    let outcomes =
        Signal::derive(move || timeline.with_value(|t| chart::outcomes_over_time(t, size.get(), Theme::Light)));
    let ttft = Signal::derive(move || {
        let scale = if log.get() { Scale::Log } else { Scale::Linear };
        let (origin, duration) = (document.measured_from_ms, document.duration_ms);
        chart::ttft_over_time(&document.requests, origin, duration, scale, size.get(), Theme::Light)
    });
    view! {
        <section id="over-time" aria-labelledby="over-time-title">
            <h2 id="over-time-title">"Over time"</h2>
            <div class="charts">
                <ChartView title="Output tokens over time" drawing=throughput />
                <ChartView title="Requests ended over time" drawing=outcomes />
                <ChartView title="Time to first token over time" drawing=ttft />
            </div>
            <label class="small">
                <input type="checkbox" on:change:target=move |event| log.set(event.target().checked()) />
                " TTFT on a log scale"
            </label>
        </section>
    }
}
