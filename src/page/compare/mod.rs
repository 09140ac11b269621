//! Runs beside each other.

mod table;

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{history::name_of, live::chart_size, parts::ChartView, state::Page};
use crate::{
    chart::{self, Theme},
    compare::{Comparison, DEFAULT_THRESHOLD, Direction, Verdict, checks, compare},
    import::{self, Subject},
    metrics::{Sample, Samples},
    report::format,
};
use table::CompareTable;

/// A latency to draw: its name and its sample.
type Curve = (&'static str, fn(&Samples) -> &Sample);

const CURVES: [Curve; 3] = [("TTFT", |s| &s.ttft_ms), ("ITL", |s| &s.itl_ms), ("E2E", |s| &s.e2e_ms)];

/// The runs that are compared; the first is the baseline.
#[derive(Clone, Copy)]
pub struct Runs(RwSignal<Vec<Arc<Subject>>>);

impl Runs {
    /// None yet.
    pub fn new() -> Self {
        Self(RwSignal::default())
    }

    /// Adds a run, unless it is there: the same file opened twice is one.
    pub fn add(self, subject: Subject) {
        self.0.update(|runs| {
            let there = runs
                .iter()
                .any(|run| run.name == subject.name && run.figures == subject.figures);
            if !there {
                runs.push(Arc::new(subject));
            }
        });
    }
}

/// The view.
#[component]
pub fn CompareView() -> impl IntoView {
    let page = Page::get();
    let runs = page.compared.0;
    let threshold = RwSignal::new(DEFAULT_THRESHOLD);
    let comparisons = move || {
        let (Some(baseline), rest) =
            runs.with(|runs| (runs.first().cloned(), runs.get(1..).unwrap_or_default().to_vec()))
        else {
            return ().into_any();
        };
        let threshold = threshold.get();
        rest.into_iter()
            .map(|other| {
                let comparison = compare(&baseline, &other, threshold);
                view! { <Compared baseline=baseline.clone() other comparison threshold /> }
            })
            .collect_view()
            .into_any()
    };
    view! {
        <article class="result compare">
            <h1>"Compare"</h1>
            <Show when=move || runs.with(|runs| runs.len() < 2)>
                <p>
                    "Two or more runs beside each other: what changed, whether the change is more than noise, and whether the comparison is fair. "
                    "Drop result files here, or open them: results of this page (JSON, HTML), JSONL of sglang.benchmark.serving, JSON of vllm bench serve, AIPerf, GuideLLM and inference-perf. "
                    "Nothing is uploaded."
                </p>
            </Show>
            <AddRuns />
            <Show when=move || runs.with(|runs| !runs.is_empty())>
                <RunList />
            </Show>
            <Show when=move || runs.with(|runs| runs.len() > 1)>
                <label class="field threshold">
                    "A change is told from "
                    <select
                        aria-label="Threshold"
                        on:change:target=move |event| threshold.set(event.target().value().parse().unwrap_or(DEFAULT_THRESHOLD))
                    >
                        {[0.01, 0.02, 0.05, 0.1, 0.2]
                            .map(|share| {
                                view! { <option value=share.to_string() selected=share == DEFAULT_THRESHOLD>{format::percent(share)}</option> }
                            })
                            .collect_view()}
                    </select>
                    " on, if its 95 % interval leaves 0 out."
                </label>
            </Show>
            {comparisons}
            <Show when=move || runs.with(|runs| runs.iter().filter(|run| run.samples.is_some()).count() > 1)>
                <Curves />
            </Show>
        </article>
    }
}

#[component]
fn AddRuns() -> impl IntoView {
    let page = Page::get();
    let input = NodeRef::<html::Input>::new();
    let link = RwSignal::new(String::new());
    let chosen = move |_| {
        let Some(input) = input.get() else { return };
        let files = input.files();
        for file in files
            .iter()
            .flat_map(|files| (0..files.length()).filter_map(|i| files.get(i)))
        {
            page.open(file);
        }
        input.set_value("");
    };
    let paste = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let text = link.get_untracked();
        match import::from_link("From a link", &text) {
            Ok(mut subject) => {
                let nth = page.compared.0.with_untracked(Vec::len) + 1;
                subject.name = format!("{} (link, run {nth})", subject.model.as_deref().unwrap_or("result"));
                page.compared.add(subject);
                link.set(String::new());
            }
            Err(error) => page.notice(error.to_string()),
        }
    };
    view! {
        <div class="toolbar">
            <input
                node_ref=input
                type="file"
                multiple
                hidden
                accept=".json,.jsonl,.html,application/json,text/html"
                aria-label="Results to compare"
                on:change=chosen
            />
            <button type="button" class="primary" on:click=move |_| _ = input.get().map(|input| input.click())>"Open results"</button>
            {move || {
                page.last
                    .get()
                    .map(|last| {
                        let add = move |_| page.compared.add(Subject::of(&name_of(&last), &last));
                        view! { <button type="button" on:click=add>"Add the last result"</button> }
                    })
            }}
            <form class="input" on:submit=paste>
                <input
                    type="text"
                    aria-label="Link of a result"
                    placeholder="or paste a link of a result"
                    prop:value=move || link.get()
                    on:input:target=move |event| link.set(event.target().value())
                />
                <button disabled=move || link.with(|link| link.trim().is_empty())>"Add"</button>
            </form>
        </div>
    }
}

/// The runs, with a choice of the baseline.
#[component]
fn RunList() -> impl IntoView {
    let runs = Page::get().compared.0;
    let list = move || {
        runs.get()
            .into_iter()
            .enumerate()
            .map(|(i, run)| {
                let facts: Vec<String> = run
                    .model
                    .iter()
                    .cloned()
                    .chain(run.facts.iter().map(|(what, value)| format!("{what} {value}")))
                    .collect();
                let first = move |_| runs.update(|runs| _ = (i < runs.len()).then(|| runs[..=i].rotate_right(1)));
                let name = run.name.clone();
                view! {
                    <li>
                        <span>
                            <strong>{run.name.clone()}</strong>
                            {(i == 0).then(|| view! { " " <span class="badge simulated">"baseline"</span> })}
                            <span class="quiet">" " {run.tool.name()} " · " {facts.join(" · ")}</span>
                        </span>
                        <span class="actions">
                            {(i > 0)
                                .then(|| {
                                    view! {
                                        <button type="button" class="link" aria-label=format!("Make baseline: {name}") on:click=first>
                                            "Make baseline"
                                        </button>
                                    }
                                })}
                            <button
                                type="button"
                                class="link"
                                aria-label=format!("Remove {}", run.name)
                                on:click=move |_| runs.update(|runs| _ = (i < runs.len()).then(|| runs.remove(i)))
                            >
                                "Remove"
                            </button>
                        </span>
                    </li>
                }
            })
            .collect_view()
    };
    view! { <ul class="forms" aria-label="Runs compared">{list}</ul> }
}

#[component]
fn Compared(baseline: Arc<Subject>, other: Arc<Subject>, comparison: Comparison, threshold: f64) -> impl IntoView {
    let class = match comparison.verdict {
        Verdict::Improved => "verdict-line good",
        Verdict::Regressed => "verdict-line bad",
        _ => "verdict-line",
    };
    let failed = |subject: &Subject| {
        subject.outcomes.map(|(succeeded, failed)| {
            let all = (succeeded + failed) as f64;
            format::percent((all > 0.0).then(|| failed as f64 / all))
        })
    };
    let failures = match (failed(&baseline), failed(&other), comparison.failures) {
        (Some(a), Some(b), Some(direction)) => {
            let words = match direction {
                Direction::Better => "fewer, beyond chance",
                Direction::Worse => "more, beyond chance",
                _ => "no more than chance",
            };
            format!("Failures: {a}, then {b}: {words}.")
        }
        _ => "Whether failures changed is not known: one of the two does not tell them.".to_owned(),
    };
    let mut warnings = checks(&baseline, &other);
    if !comparison.rows.is_empty() && comparison.rows.iter().all(|row| row.interval.is_none()) {
        warnings.push("Not both have records, so the noise is not known: the threshold alone decides.".to_owned());
    }
    view! {
        <section aria-label=format!("{} against {}", other.name, baseline.name)>
            <h2>{format!("{} against {}", other.name, baseline.name)}</h2>
            <p class=class>
                <strong>{comparison.verdict.word()}</strong>
                <span class="quiet">{format!(" at a threshold of {}", format::percent(threshold))}</span>
            </p>
            <p>{failures}</p>
            {(!warnings.is_empty())
                .then(|| {
                    view! { <ul class="reasons">{warnings.into_iter().map(|words| view! { <li>{words}</li> }).collect_view()}</ul> }
                })}
            <CompareTable baseline=baseline.name.clone() other=other.name.clone() comparison />
        </section>
    }
}

#[component]
fn Curves() -> impl IntoView {
    let page = Page::get();
    let runs = page.compared.0;
    let size = Signal::derive(move || chart_size(page.width.get(), 240));
    let curves = CURVES
        .map(|(name, of)| {
            let drawing = Signal::derive(move || {
                runs.with(|runs| {
                    let samples: Vec<(String, &Sample)> = runs
                        .iter()
                        .filter_map(|run| Some((run.name.clone(), of(run.samples.as_ref()?))))
                        .collect();
                    chart::overlay(name, &samples, size.get(), Theme::Light)
                })
            });
            view! { <ChartView title=name drawing /> }
        })
        .into_iter()
        .collect_view();
    view! {
        <section aria-labelledby="curves-title">
            <h2 id="curves-title">"How latencies are spread"</h2>
            <div class="charts">{curves}</div>
        </section>
    }
}
