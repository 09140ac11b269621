//! How one latency is distributed.

use leptos::prelude::*;

use crate::{
    chart::{self, Theme},
    metrics::{Sample, Samples},
    page::{live::chart_size, parts::ChartView, state::Page},
};

/// A latency to choose: its name and its sample.
type Latency = (&'static str, fn(&Samples) -> &Sample);

const LATENCIES: [Latency; 5] = [
    ("TTFT", |s| &s.ttft_ms),
    ("TTFO", |s| &s.ttfo_ms),
    ("TPOT", |s| &s.tpot_ms),
    ("ITL", |s| &s.itl_ms),
    ("E2E", |s| &s.e2e_ms),
];

/// Histogram and cumulative curve of the latency that is chosen.
#[component]
pub fn SpreadSection(samples: Samples) -> impl IntoView {
    let page = Page::get();
    let samples = StoredValue::new(samples);
    let chosen = RwSignal::new(0_usize);
    let size = Signal::derive(move || chart_size(page.width.get(), 240));
    let draw = move |form: fn(&str, &Sample, chart::Size, Theme) -> chart::Drawing| {
        Signal::derive(move || {
            let (name, of) = LATENCIES[chosen.get()];
            samples.with_value(|samples| form(name, of(samples), size.get(), Theme::Light))
        })
    };
    let (histogram, cdf) = (draw(chart::histogram), draw(chart::cdf));
    let choices = LATENCIES
        .iter()
        .enumerate()
        .map(|(i, (name, _))| {
            let pressed = move || (chosen.get() == i).to_string();
            view! { <button type="button" aria-pressed=pressed on:click=move |_| chosen.set(i)>{*name}</button> }
        })
        .collect_view();
    view! {
        <section id="spread" aria-labelledby="spread-title">
            <h2 id="spread-title">"How latencies are spread"</h2>
            <div class="toolbar choices" role="group" aria-label="Latency">{choices}</div>
            <div class="charts">
                <ChartView title="Histogram" drawing=histogram />
                <ChartView title="Cumulative" drawing=cdf />
            </div>
        </section>
    }
}
