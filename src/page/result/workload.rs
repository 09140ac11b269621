//! The prompts: asked lengths beside those that the server counted.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    report::{Document, format},
    workload::lengths,
};

/// How long prompts were to be and were, and what of them the server had cached.
#[component]
pub fn WorkloadSection(document: Arc<Document>) -> impl IntoView {
    let lengths = lengths(&document.requests);
    let finding = match lengths {
        None => "The server counted no prompt, so that their lengths are not known.".to_owned(),
        Some(lengths) => match lengths.asked_and_counted {
            Some((asked, counted)) => format!(
                "Prompts of {} tokens were asked for on average; the server counted {}.",
                format::number(asked),
                format::number(counted)
            ),
            None => format!(
                "Prompts of {} tokens on average, by the server's count.",
                format::number(lengths.mean)
            ),
        },
    };
    let facts = lengths.map(|lengths| {
        let mut facts = vec![
            ("Prompts counted by the server", format::count(lengths.counted)),
            (
                "Shortest and longest, tokens",
                format!("{} and {}", format::count(lengths.min), format::count(lengths.max)),
            ),
            ("Prompt tokens in the server's cache", format::percent(lengths.cached)),
        ];
        if lengths.turns > 0 {
            facts.push(("Of them turns of conversations", format::count(lengths.turns)));
        }
        if let Some(file) = &document.config.workload.file {
            facts.push((
                "File",
                format!(
                    "{}, {} bytes, checksum {}",
                    file.name,
                    format::count(file.bytes),
                    file.checksum
                ),
            ));
        }
        facts
    });
    view! {
        <section id="workload" aria-labelledby="workload-title">
            <h2 id="workload-title">"Prompts"</h2>
            <p>{finding}</p>
            {facts
                .map(|facts| {
                    view! {
                        <dl class="facts">
                            {facts
                                .into_iter()
                                .map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> })
                                .collect_view()}
                        </dl>
                    }
                })}
        </section>
    }
}
