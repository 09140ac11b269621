//! Failures by kind, with the servers' words.

use std::sync::Arc;

use leptos::prelude::*;

use super::Filter;
use crate::{
    chart::{self, Size, Theme},
    metrics::{FailureGroup, failure_groups},
    page::{browser, live::chart_size, parts::ChartView, state::Page},
    report::{Document, format},
};

/// Failure groups, the largest first.
#[component]
pub fn FailureSection(document: Arc<Document>, filter: RwSignal<Filter>) -> impl IntoView {
    let groups = failure_groups(&document.requests);
    if groups.is_empty() {
        return view! {
            <section id="failures" aria-labelledby="failures-title">
                <h2 id="failures-title">"Failures"</h2>
                <p class="quiet">"None. Every request that ended by itself ended as it should."</p>
            </section>
        }
        .into_any();
    }
    let page = Page::get();
    let stored = StoredValue::new(groups.clone());
    let drawing = Signal::derive(move || {
        stored.with_value(|groups| {
            let width = chart_size(page.width.get(), 0).width;
            chart::failure_breakdown(
                groups,
                Size {
                    width,
                    height: chart::breakdown_height(groups.len()),
                },
                Theme::Light,
            )
        })
    });
    view! {
        <section id="failures" aria-labelledby="failures-title">
            <h2 id="failures-title">"Failures"</h2>
            <div class="charts">
                <ChartView title="What went wrong, how often" drawing />
                <div class="groups">
                    {groups.into_iter().map(|group| view! { <Group group document=document.clone() filter /> }).collect_view()}
                </div>
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn Group(group: FailureGroup, document: Arc<Document>, filter: RwSignal<Filter>) -> impl IntoView {
    let page = Page::get();
    let first = group
        .members
        .first()
        .and_then(|position| document.requests.get(*position))
        .cloned();
    let name = format!("{}: {}", format::outcome_words(group.outcome), group.pattern);
    let when = if group.count == 1 {
        format!("{:.1}\u{202f}s", group.first_ms / 1000.0)
    } else {
        format!(
            "{:.1} to {:.1}\u{202f}s",
            group.first_ms / 1000.0,
            group.last_ms / 1000.0
        )
    };
    let code = group
        .code
        .clone()
        .map(|code| format!(" · code {code}"))
        .unwrap_or_default();
    let members = group.members.clone();
    view! {
        <article class="group">
            <p>
                <span class=format!("outcome {}", group.outcome.name())>{format::outcome_words(group.outcome)}</span>
                <strong>{format!(" {} × ", format::count(group.count.into()))}</strong>
                <span class="quiet">{format!("{} of requests · {when}{code}", format::percent(group.share))}</span>
            </p>
            <p class="message">{if group.example.is_empty() { "No message came with it.".to_owned() } else { group.example.clone() }}</p>
            <p class="quiet">{group.rule.statement()}</p>
            <p class="actions">
                {first
                    .map(|record| {
                        let name = format!("#{}", record.index);
                        view! {
                            <button type="button" class="link" on:click=move |_| page.inspected.set(Some(record.clone()))>
                                {format!("Bytes of {name}")}
                            </button>
                        }
                    })}
                <button
                    type="button"
                    class="link"
                    on:click=move |_| {
                        filter.set(Filter::Group(name.clone(), members.clone()));
                        browser::go_to("requests");
                    }
                >
                    "Show all in the table"
                </button>
            </p>
        </article>
    }
}
