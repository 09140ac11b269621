//! *Calibrate*: what this browser on this machine adds, measured with the engine itself on streams that are known.

use std::{cell::RefCell, rc::Rc};

use futures_channel::{mpsc, oneshot};
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::{browser, state::Page};
use crate::{
    config::Secret,
    demo::truth::RequestTruth,
    engine::{Engine, probe},
    health::calibration::{Calibration, Known, Level, STEPS, Step, Truth, compare},
    load::{EngineEvent, reach::Fetched},
    protocol::join_url,
    report::format,
    request::RequestRecord,
};

/// Where the demo endpoint of `script/server` listens.
const USUAL_ENDPOINT: &str = "http://localhost:8000";
/// A demo endpoint on this machine answers at once.
const ASK_MS: u32 = 3_000;

/// How far a calibration is.
#[derive(Clone, Default)]
enum Progress {
    /// Nothing goes on.
    #[default]
    Idle,
    /// The step of this number, from 0, goes on.
    Step(usize),
    /// It could not be done.
    Failed(String),
}

/// The view of its own.
#[component]
pub fn CalibrateView() -> impl IntoView {
    let running = Page::get().is_running();
    view! {
        <section class="panel" aria-labelledby="calibrate-title">
            <h1 id="calibrate-title">"What this browser adds"</h1>
            {if running {
                view! { <p>"A run goes on. Calibrate when it has ended: the two would measure each other."</p> }.into_any()
            } else {
                view! { <CalibrationPanel /> }.into_any()
            }}
        </section>
    }
}

/// The last figures, and a button for new ones.
#[component]
pub fn CalibrationPanel(
    /// A server that may be a demo endpoint.
    #[prop(optional, into)]
    base_url: Option<String>,
) -> impl IntoView {
    let last = RwSignal::new(browser::stored_calibration());
    let progress = RwSignal::new(Progress::default());
    // Dropping the sender ends what goes on: the panel is gone.
    let alive = StoredValue::new_local(None::<oneshot::Sender<()>>);
    on_cleanup(move || _ = alive.try_update_value(Option::take));
    let start = move |_| {
        progress.set(Progress::Step(0));
        let (sender, receiver) = oneshot::channel();
        alive.set_value(Some(sender));
        let base_url = base_url.clone();
        spawn_local(async move {
            let work = calibrate(base_url, progress, last);
            futures_util::future::select(std::pin::pin!(work), receiver).await;
        });
    };
    let busy = move || matches!(progress.get(), Progress::Step(_));
    view! {
        <div class="calibration">
            <p class="quiet">
                "Runs known streams through this browser and compares each frame's time with the server's own record. Takes about 20 seconds, in which the page should be left alone."
            </p>
            <div class="calibration-bar">
                <button type="button" on:click=start disabled=busy>"Calibrate this browser"</button>
                <span role="status">
                    {move || match progress.get() {
                        Progress::Idle => String::new(),
                        Progress::Step(n) => format!("Step {} of {} …", n + 1, STEPS.len()),
                        Progress::Failed(why) => why,
                    }}
                </span>
            </div>
            {move || last.get().map(|calibration| view! { <Figures calibration /> })}
        </div>
    }
}

/// What a calibration found.
#[component]
fn Figures(calibration: Calibration) -> impl IntoView {
    let against = match &calibration.against {
        Known::DemoEndpoint(url) => format!("against the demo endpoint's record at {url}"),
        Known::Worker => {
            "against the plan of the simulated server inside the engine, because no demo endpoint was found: \
             it knows the engine's timers and reading, but nothing of the network"
                .to_owned()
        }
    };
    let rate = calibration.frames_per_s().map_or_else(
        || "No step was kept up with.".to_owned(),
        |rate| {
            format!(
                "It keeps up with {}{} frames a second.",
                if calibration.is_at_least() { "at least " } else { "" },
                format::count(rate.max(0.0) as u64)
            )
        },
    );
    let rows = calibration
        .levels
        .iter()
        .map(|level| view! { <Row level=*level /> })
        .collect_view();
    view! {
        <p>{rate} {format!(" Measured {}, {against}.", browser::date_and_time(calibration.at_unix_ms))}</p>
        <div class="scroll">
            <table class="numbers" aria-label="What this browser adds">
                <thead>
                    <tr>
                        <th>"streams"</th><th>"frames/s"</th><th>"TTFT error, median"</th><th>"TTFT error, p99"</th><th>"frame error, median"</th><th>"frame error, p99"</th><th>"frames"</th><th>"kept up"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Row(level: Level) -> impl IntoView {
    let streams = if level.streams_had < level.streams {
        format!("{} ({} possible)", level.streams, level.streams_had)
    } else {
        level.streams.to_string()
    };
    let rate = level.frames_per_s.map(|rate| format::count(rate.max(0.0) as u64));
    view! {
        <tr>
            <td>{streams}</td>
            <td>{rate.unwrap_or_else(|| "n/a".to_owned())}</td>
            <td>{format::millis(level.ttft_p50_ms)}</td>
            <td>{format::millis(level.ttft_p99_ms)}</td>
            <td>{format::millis(level.frame_p50_ms)}</td>
            <td>{format::millis(level.frame_p99_ms)}</td>
            <td>{format::count(level.frames)}</td>
            <td>{if level.kept_up { "yes" } else { "no" }}</td>
        </tr>
    }
}

/// Takes the steps one after the other, and keeps what they came to.
async fn calibrate(base_url: Option<String>, progress: RwSignal<Progress>, last: RwSignal<Option<Calibration>>) {
    let mut calibration = Calibration {
        at_unix_ms: js_sys::Date::now(),
        against: known_streams(base_url).await,
        levels: Vec::new(),
    };
    while calibration.goes_on() {
        let n = calibration.levels.len();
        progress.set(Progress::Step(n));
        match take(STEPS[n], &calibration.against).await {
            Ok(level) => calibration.levels.push(level),
            Err(why) => {
                progress.set(Progress::Failed(format!("It could not be done: {why}")));
                return;
            }
        }
    }
    browser::keep_calibration(&calibration);
    last.set(Some(calibration));
    progress.set(Progress::Idle);
}

/// The first of the likely servers that says it is a demo endpoint; else the engine's own.
async fn known_streams(base_url: Option<String>) -> Known {
    let usual = browser::is_local().then(|| USUAL_ENDPOINT.to_owned());
    let given = base_url.filter(|url| url.starts_with("http"));
    for url in given.into_iter().chain(usual) {
        if recorded(&url, 0).await.is_ok() {
            return Known::DemoEndpoint(url);
        }
    }
    Known::Worker
}

/// The newest requests in a demo endpoint's record.
async fn recorded(base_url: &str, last: usize) -> Result<Vec<RequestTruth>, String> {
    match probe::get(&join_url(base_url, &format!("/demo/truth?last={last}")), None, ASK_MS).await {
        Fetched::Answer { status: 200, body } => serde_json::from_str(&body).map_err(|error| error.to_string()),
        _ => Err("the demo endpoint did not tell its record".to_owned()),
    }
}

async fn take(step: Step, against: &Known) -> Result<Level, String> {
    let run = run(step, against).await?;
    match against {
        Known::DemoEndpoint(url) => {
            let told = recorded(url, step.streams as usize + 1).await?;
            Ok(compare(
                step,
                run.slots,
                &run.records,
                &Truth::Recorded(&told, run.started_unix_ms),
            ))
        }
        Known::Worker => Ok(compare(step, run.slots, &run.records, &Truth::Planned(step.pace()))),
    }
}

#[derive(Default)]
struct Finished {
    started_unix_ms: f64,
    slots: u32,
    records: Vec<RequestRecord>,
}

/// One run of an engine of its own.
async fn run(step: Step, against: &Known) -> Result<Finished, String> {
    let (tell, mut told) = mpsc::unbounded();
    let run = Rc::new(RefCell::new(Finished::default()));
    let engine = Engine::start(&step.config(against), &Secret::new(""), Vec::new(), {
        let run = run.clone();
        move |event| {
            let over = match event {
                EngineEvent::Started {
                    started_unix_ms, slots, ..
                } => {
                    let mut run = run.borrow_mut();
                    (run.started_unix_ms, run.slots) = (started_unix_ms, slots.had);
                    return;
                }
                EngineEvent::Progress(progress) => {
                    let measured = progress.records.into_iter().filter(|record| !record.warmup);
                    run.borrow_mut().records.extend(measured);
                    return;
                }
                // Known streams are not counted again, and no server is waited for.
                EngineEvent::Recounted(_) | EngineEvent::Settling(_) => return,
                EngineEvent::Finished(_) => Ok(()),
                EngineEvent::Failed { message } => Err(message),
            };
            let _ = tell.unbounded_send(over);
        }
    })?;
    let over = futures_util::StreamExt::next(&mut told).await;
    // Not from within its own message.
    gloo_timers::future::TimeoutFuture::new(0).await;
    drop(engine);
    over.unwrap_or_else(|| Err("the engine ended without a word".to_owned()))?;
    Ok(run.take())
}
