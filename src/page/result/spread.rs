//! How one latency is distributed.

use leptos::prelude::*;

use crate::{
    chart::{self, Drawing, Scale, Size, Theme, View},
    metrics::{Sample, Samples},
    page::{live::chart_size, parts::ChartView, state::Page},
    report::format,
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

/// Histogram and cumulative curve of the latency that is chosen, of all its values or of those in a range.
#[component]
pub fn SpreadSection(samples: Samples) -> impl IntoView {
    let page = Page::get();
    let samples = StoredValue::new(samples);
    let chosen = RwSignal::new(0_usize);
    let axis = RwSignal::new(View::default());
    let size = Signal::derive(move || chart_size(page.width.get(), 240));
    let draw = move |form: fn(&str, &Sample, View, Size, Theme) -> Drawing| {
        Signal::derive(move || {
            let (name, of) = LATENCIES[chosen.get()];
            samples.with_value(|samples| form(name, of(samples), axis.get(), size.get(), Theme::Light))
        })
    };
    let (histogram, cdf) = (draw(chart::histogram), draw(chart::cdf));
    let choices = LATENCIES
        .iter()
        .enumerate()
        .map(|(i, (name, _))| {
            let pressed = move || (chosen.get() == i).to_string();
            let choose = move |_| {
                chosen.set(i);
                // A range of one latency says nothing of another.
                axis.update(|axis| axis.range_ms = None);
            };
            view! { <button type="button" aria-pressed=pressed on:click=choose>{*name}</button> }
        })
        .collect_view();
    let zoom = Callback::new(move |range_ms| axis.update(|axis| axis.range_ms = range_ms));
    let rescale = move |event: web_sys::Event| {
        let log = event_target_checked(&event);
        axis.update(|axis| axis.scale = if log { Scale::Log } else { Scale::Linear });
    };
    let told = move || match axis.get().range_ms {
        None => "Drag over a chart to see a range of it closer.".to_owned(),
        Some((from_ms, to_ms)) => format!(
            "Shown from {} to {}; the percentiles stay those of all values.",
            format::millis(from_ms),
            format::millis(to_ms)
        ),
    };
    view! {
        <section id="spread" aria-labelledby="spread-title">
            <h2 id="spread-title">"How latencies are spread"</h2>
            <div class="toolbar choices">
                <span class="choices" role="group" aria-label="Latency">{choices}</span>
                <label class="small">
                    <input type="checkbox" prop:checked=move || axis.get().scale == Scale::Log on:change=rescale />
                    " Log scale"
                </label>
                <button type="button" disabled=move || axis.get().range_ms.is_none() on:click=move |_| zoom.run(None)>
                    "All values"
                </button>
            </div>
            <p class="quiet small" role="status">{told}</p>
            <div class="charts">
                <ChartView title="Histogram" drawing=histogram on_range=zoom />
                <ChartView title="Cumulative" drawing=cdf on_range=zoom />
            </div>
        </section>
    }
}
