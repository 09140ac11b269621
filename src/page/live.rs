//! The run as it goes: what has come so far, and the view of it.

use std::collections::HashMap;

use leptos::prelude::*;

use super::{
    parts::{ChartView, Figure, VerdictBadge},
    state::Page,
};
use crate::{
    chart::{self, Size, Theme},
    config::{Endpoint, RunConfig},
    health::Health,
    load::{Progress, TokenBucket},
    metrics::{OutcomeCounts, Sample, Timeline},
    protocol::ServerLoad,
    report::{LoadSample, ServerFacts, Slots, format},
    request::{Outcome, RequestRecord},
};

/// Failures listed while the run goes on; the result lists all.
const FAILURES_SHOWN: usize = 50;
/// The figures that describe "now" look back this far, ms.
const NOW_MS: f64 = 2_000.0;
/// Spoken at most this often, ms.
const SPOKEN_EVERY_MS: f64 = 5_000.0;

/// What has come so far.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// Start of the run, ms since the Unix epoch.
    pub started_unix_ms: f64,
    /// Whether the engine has begun.
    pub begun: bool,
    /// Whether Stop was pressed.
    pub stopping: bool,
    /// Connections in use.
    pub slots: Slots,
    /// What the server told of itself.
    pub server: ServerFacts,
    /// ms since the run began.
    pub elapsed_ms: f64,
    /// Whether the warm-up goes on.
    pub warming_up: bool,
    /// Measured requests sent.
    pub dispatched: u32,
    /// Requests on the wire.
    pub in_flight: u32,
    /// Measured requests that ended, in the order they ended.
    pub records: Vec<RequestRecord>,
    /// Warm-up requests that ended.
    pub warmup: Vec<RequestRecord>,
    /// Measured requests by outcome.
    pub counts: OutcomeCounts,
    /// The client's state.
    pub health: Health,
    /// Remarks for the result.
    pub notes: Vec<String>,
    /// What the server told of its load.
    pub server_load: Vec<LoadSample>,
    /// What it told last while its idleness is waited for.
    pub settling: Option<ServerLoad>,
    /// Start of the measured window.
    pub measured_from_ms: f64,
    /// Its length.
    pub duration_ms: f64,
    /// The run in buckets of [`TokenBucket::WIDTH_MS`].
    buckets: Timeline,
    /// The bucket in which the warm-up ended: what came before it is in no chart.
    first_bucket: usize,
    ttft_ms: Vec<f64>,
    e2e_ms: Vec<f64>,
}

impl Live {
    /// The engine began.
    pub fn begin(&mut self, started_unix_ms: f64, slots: Slots, server: ServerFacts) {
        self.begun = true;
        self.started_unix_ms = started_unix_ms;
        self.slots = slots;
        self.server = server;
    }

    /// Takes what the server counted after the run.
    pub fn recount(&mut self, counts: &[(u32, u64)]) {
        let counts: HashMap<u32, u64> = counts.iter().copied().collect();
        for record in &mut self.records {
            if let Some(tokens) = counts.get(&record.index) {
                record.tokens.retokenize(*tokens);
            }
        }
    }

    /// Takes what came since the last message.
    pub fn add(&mut self, progress: Progress) {
        self.elapsed_ms = progress.elapsed_ms;
        self.warming_up = progress.warming_up;
        self.dispatched = progress.dispatched;
        self.in_flight = progress.in_flight;
        self.health = progress.health;
        self.server_load.extend(progress.server_load);
        let buckets = (progress.elapsed_ms / TokenBucket::WIDTH_MS) as usize + 1;
        if progress.warming_up {
            // The bucket that is not full yet: the warm-up may end in it, and measured requests may end in it too.
            self.first_bucket = buckets - 1;
        }
        self.buckets.bucket_ms = TokenBucket::WIDTH_MS;
        self.buckets.duration_ms = progress.elapsed_ms;
        self.buckets.tokens.resize(buckets, 0.0);
        self.buckets.discarded.resize(buckets, 0.0);
        self.buckets.outcomes.resize(buckets, OutcomeCounts::default());
        self.buckets.in_flight.resize(buckets, f64::from(progress.in_flight));
        for bucket in progress.tokens {
            if let Some(tokens) = self.buckets.tokens.get_mut(bucket.index as usize) {
                *tokens += f64::from(bucket.tokens);
            }
        }
        for record in progress.records {
            if record.warmup {
                self.warmup.push(record);
                continue;
            }
            self.counts.add(record.outcome);
            let ended = (record.times.ended_ms / TokenBucket::WIDTH_MS) as usize;
            if let Some(outcomes) = self.buckets.outcomes.get_mut(ended) {
                outcomes.add(record.outcome);
            }
            if self.records.is_empty() {
                self.measured_from_ms = record.times.dispatched_ms;
            }
            self.measured_from_ms = self.measured_from_ms.min(record.times.dispatched_ms);
            self.duration_ms = self.duration_ms.max(record.times.ended_ms - self.measured_from_ms);
            if record.outcome == Outcome::Succeeded {
                self.ttft_ms
                    .extend(record.times.first_token_ms.map(|ms| ms - record.times.dispatched_ms));
                self.e2e_ms
                    .extend(record.times.last_token_ms.map(|ms| ms - record.times.dispatched_ms));
            }
            self.records.push(record);
        }
    }

    /// The engine died: what came is all there is.
    pub fn close_interrupted(&mut self) {
        self.notes
            .push("The engine died during this run. Requests on the wire at that moment are not in it.".into());
    }

    /// Output tokens and ended requests per second, over the last moments.
    fn rates_now(&self) -> (Option<f64>, Option<f64>) {
        // The last bucket is not full yet.
        let full = self.buckets.tokens.len().saturating_sub(1);
        let from = full.saturating_sub((NOW_MS / TokenBucket::WIDTH_MS) as usize);
        let seconds = (full - from) as f64 * TokenBucket::WIDTH_MS / 1000.0;
        if full == from {
            return (None, None);
        }
        let tokens: f64 = self.buckets.tokens[from..full].iter().sum();
        let ended: u32 = self.buckets.outcomes[from..full].iter().map(OutcomeCounts::total).sum();
        (Some(tokens / seconds), Some(f64::from(ended) / seconds))
    }

    /// The timeline with buckets wide enough to be read.
    fn timeline(&self) -> Timeline {
        let merge = if self.elapsed_ms < 20_000.0 { 2 } else { 4 };
        let first = self.first_bucket.min(self.buckets.tokens.len());
        let sum = |values: &[f64]| values[first..].chunks(merge).map(|chunk| chunk.iter().sum()).collect();
        Timeline {
            origin_ms: 0.0,
            from_ms: 0.0,
            bucket_ms: TokenBucket::WIDTH_MS * merge as f64,
            duration_ms: (self.elapsed_ms - first as f64 * TokenBucket::WIDTH_MS).max(0.0),
            tokens: sum(&self.buckets.tokens),
            discarded: sum(&self.buckets.discarded),
            outcomes: self.buckets.outcomes[first..]
                .chunks(merge)
                .map(|chunk| {
                    let mut all = OutcomeCounts::default();
                    chunk.iter().for_each(|counts| all.merge(counts));
                    all
                })
                .collect(),
            in_flight: self.buckets.in_flight[first..]
                .chunks(merge)
                .map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64)
                .collect(),
        }
    }

    /// Seconds left of the measured part: of its duration, or by the requests that ended so far.
    fn left_s(&self, extent: Extent) -> Option<f64> {
        let ended = self.counts.total();
        let since_ms = self.elapsed_ms - self.measured_from_ms;
        let requests = match extent {
            Extent::Requests(requests) => requests,
            Extent::Seconds(duration_s) => {
                return (!self.warming_up && ended > 0).then(|| (duration_s - since_ms / 1000.0).max(0.0));
            }
        };
        (ended > 0 && since_ms > 0.0)
            .then(|| since_ms / f64::from(ended) * f64::from(requests.saturating_sub(ended)) / 1000.0)
    }
}

/// How much the measured part is to be.
#[derive(Clone, Copy, Debug)]
enum Extent {
    Requests(u32),
    Seconds(f64),
}

/// The view of a run that goes on.
#[component]
pub fn LiveView(config: RunConfig) -> impl IntoView {
    let simulated = config.endpoint == Endpoint::Simulated;
    let extent = match config.load.duration_s {
        None => Extent::Requests(config.requests),
        Some(duration_s) => Extent::Seconds(duration_s),
    };
    let page = Page::get();
    let live = page.live;
    let (most, what) = match extent {
        Extent::Requests(requests) => (f64::from(requests), "Requests ended"),
        Extent::Seconds(duration_s) => (duration_s, "Time passed"),
    };
    let done = move || {
        live.with(|live| match extent {
            Extent::Requests(_) => f64::from(live.counts.total()),
            Extent::Seconds(duration_s) => duration_s - live.left_s(extent).unwrap_or(duration_s),
        })
    };
    let state = move || {
        live.with(|live| {
            if let Some(load) = live.settling {
                format!("Waiting until the server is idle: {}", load.words())
            } else if live.stopping {
                "Stopping".to_owned()
            } else if !live.begun {
                "Preparing connections".to_owned()
            } else if live.warming_up {
                format!("Warming up, {} ended", live.warmup.len())
            } else {
                let ended = format::count(live.counts.total().into());
                match extent {
                    Extent::Requests(requests) => format!("{ended} of {} ended", format::count(requests.into())),
                    Extent::Seconds(_) => format!("{ended} ended"),
                }
            }
        })
    };
    let left = move || {
        live.with(|live| live.left_s(extent))
            .map(|left_s| format!(" · about {} left", format::wait(left_s)))
            .unwrap_or_default()
    };
    let figure = move |read: fn(&Live) -> String| Signal::derive(move || live.with(read));
    let half = Signal::derive(move || chart_size(page.width.get(), 220));
    let timeline = Memo::new(move |_| live.with(Live::timeline));
    let throughput = Signal::derive(move || {
        timeline.with(|timeline| chart::throughput_over_time(timeline, half.get(), Theme::Light))
    });
    let outcomes =
        Signal::derive(move || timeline.with(|timeline| chart::outcomes_over_time(timeline, half.get(), Theme::Light)));
    let server_load = Signal::derive(move || {
        live.with(|live| {
            let origin_ms = live.first_bucket as f64 * TokenBucket::WIDTH_MS;
            let duration_ms = live.elapsed_ms - origin_ms;
            chart::server_load(
                &live.server_load,
                (origin_ms, duration_ms),
                None,
                half.get(),
                Theme::Light,
            )
        })
    });
    view! {
        <section class="live" aria-label="Run in progress">
            <div class="live-bar">
                <progress max=most prop:value=done aria-label=what></progress>
                <div class="live-line">
                    <strong>{state}</strong>
                    <span>{move || format!("{} in flight", live.with(|live| live.in_flight))}{left}</span>
                    <VerdictBadge health=Signal::derive(move || live.with(|live| live.health.clone())) />
                    {simulated.then(|| view! { <span class="badge simulated">"Simulated"</span> })}
                    <button
                        class="stop"
                        on:click=move |_| page.stop()
                        disabled=move || live.with(|live| live.stopping && live.settling.is_none())
                        title="Alt+S"
                    >
                        {move || if live.with(|live| live.settling.is_some()) { "Do not wait" } else { "Stop" }}
                    </button>
                </div>
                <Show when=move || live.with(|live| !live.health.reasons.is_empty())>
                    <p class="quiet">{move || live.with(|live| live.health.reasons.join(" "))}</p>
                </Show>
            </div>
            <Spoken />
            <div class="figures">
                <Figure label="Output now" value=figure(|live| format::with_unit(live.rates_now().0, "tok/s")) />
                <Figure label="Requests now" value=figure(|live| format::with_unit(live.rates_now().1, "req/s")) />
                <Figure label="TTFT, median so far" value=figure(|live| format::millis(Sample::new(live.ttft_ms.clone()).percentile(50.0))) />
                <Figure label="E2E, median so far" value=figure(|live| format::millis(Sample::new(live.e2e_ms.clone()).percentile(50.0))) />
                <Figure
                    label="Failed"
                    value=figure(|live| match live.counts.failed() {
                        0 => "0".to_owned(),
                        failed => format!("{} ({})", format::count(failed.into()), format::percent(live.counts.failure_share())),
                    })
                    alarming=Signal::derive(move || live.with(|live| live.counts.failed() > 0))
                />
            </div>
            <div class="charts">
                <ChartView title="Output tokens received over time" drawing=throughput />
                <ChartView title="Requests ended over time" drawing=outcomes />
                <Show when=move || live.with(|live| !live.server_load.is_empty())>
                    <ChartView title="Load that the server told of" drawing=server_load />
                </Show>
            </div>
            <LiveFailures />
        </section>
    }
}

/// Tells those who listen, at a humane pace.
#[component]
fn Spoken() -> impl IntoView {
    let live = Page::get().live;
    let said = Memo::new(move |before: Option<&(f64, String)>| {
        live.with(|live| match before {
            Some((at_ms, words)) if live.elapsed_ms - at_ms < SPOKEN_EVERY_MS => (*at_ms, words.clone()),
            _ => (
                live.elapsed_ms,
                format!(
                    "{} requests ended, {} failed, {} in flight",
                    live.counts.total(),
                    live.counts.failed(),
                    live.in_flight
                ),
            ),
        })
    });
    view! { <p class="visually-hidden" role="status">{move || said.get().1}</p> }
}

/// Failures as they come, the newest first.
#[component]
fn LiveFailures() -> impl IntoView {
    let page = Page::get();
    let newest = move || {
        page.live.with(|live| {
            // Both lists are in the order in which requests ended, and the whole warm-up ended before the rest.
            let newest_first = live.records.iter().rev().chain(live.warmup.iter().rev());
            let failures = newest_first.filter(|record| record.outcome.is_failure());
            failures.take(FAILURES_SHOWN).cloned().collect::<Vec<_>>()
        })
    };
    let total = move || {
        page.live
            .with(|live| live.counts.failed() as usize + live.warmup.iter().filter(|r| r.outcome.is_failure()).count())
    };
    view! {
        <section class="panel" aria-label="Failures so far">
            <h2>"Failures"</h2>
            <Show when=move || { total() > 0 } fallback=|| view! { <p class="quiet">"None so far."</p> }>
                <ul class="failure-list">
                    <For each=newest key=|record| (record.warmup, record.index) let:record>
                        <FailureLine record />
                    </For>
                </ul>
                <Show when=move || { total() > FAILURES_SHOWN }>
                    <p class="quiet">{move || format!("The newest {FAILURES_SHOWN} of {}; the result lists all.", total())}</p>
                </Show>
            </Show>
        </section>
    }
}

/// One failure in a line; opens the inspector.
#[component]
pub fn FailureLine(record: RequestRecord) -> impl IntoView {
    let page = Page::get();
    let name = if record.warmup {
        format!("warm-up #{}", record.index)
    } else {
        format!("#{}", record.index)
    };
    let story = record.story();
    let (at_ms, outcome) = (record.times.ended_ms, record.outcome);
    view! {
        <li>
            <span class="num">{format!("{:.1}\u{202f}s", at_ms / 1000.0)}</span>
            <button class="link" on:click=move |_| page.inspected.set(Some(record.clone()))>{name}</button>
            <span class=format!("outcome {}", outcome.name())>{format::outcome_words(outcome)}</span>
            <span class="story">{story}</span>
        </li>
    }
}

/// The size of one of two charts side by side, or of one below the other where there is little room.
pub fn chart_size(window_width: f64, height: u32) -> Size {
    const PADDING: f64 = 2.0 * 16.0 + 2.0 * 13.0;
    let page = (window_width - 32.0).min(1240.0);
    let one = if window_width < 900.0 {
        page - 26.0
    } else {
        (page + 26.0 - 12.0 - PADDING) / 2.0 - 13.0
    };
    Size {
        width: one.max(260.0) as u32,
        height,
    }
}
