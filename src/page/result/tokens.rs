//! The counts of output tokens, side by side.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{
    page::parts::Term,
    report::{Document, format},
    request::{Outcome, RequestRecord},
};

/// Usage, frames and the server's count of the text, over successes.
#[component]
pub fn TokenSection(document: Arc<Document>) -> impl IntoView {
    let successes: Vec<&RequestRecord> = document
        .requests
        .iter()
        .filter(|record| record.outcome == Outcome::Succeeded)
        .collect();
    let sum = |count: fn(&RequestRecord) -> Option<u64>| {
        let told: Vec<u64> = successes.iter().filter_map(|record| count(record)).collect();
        let total = told.iter().fold(0u64, |sum, n| sum.saturating_add(*n));
        (told.len() as u64, total)
    };
    let rows = [
        ("As usage or meta_info told", sum(|r| r.tokens.usage_output)),
        ("By /tokenize of the text, after the run", sum(|r| r.tokens.retokenized)),
        ("Frames that brought tokens", sum(|r| Some(u64::from(r.tokens.frames)))),
        ("Counted in this result", sum(|r| r.tokens.output)),
    ];
    let disagree = document.summary.disagreeing_token_counts;
    let finding = match (successes.len(), disagree) {
        (0, _) => "No request succeeded, so there is nothing to count.".to_owned(),
        (_, 0) => "The counts agree as far as they can.".to_owned(),
        (n, disagree) => format!(
            "For {} of {} successes the counts disagree: look at these before you trust the throughput.",
            format::count(disagree.into()),
            format::count(n as u64)
        ),
    };
    view! {
        <section id="tokens" aria-labelledby="tokens-title">
            <h2 id="tokens-title">"Output tokens, counted three ways"</h2>
            <p class="small" class:quiet={disagree == 0} class:warn={disagree > 0}>{finding}" "<Term id="disagreeing_token_counts" /></p>
            <div class="scroll">
                <table class="numbers" aria-labelledby="tokens-title">
                    <thead><tr><th><span class="visually-hidden">"source"</span></th><th>"tokens"</th><th>"of successes"</th></tr></thead>
                    <tbody>
                        {rows
                            .into_iter()
                            .map(|(name, (n, total))| {
                                let told = if n == 0 { format::NOT_AVAILABLE.to_owned() } else { format::count(total) };
                                view! { <tr><th scope="row">{name}</th><td>{told}</td><td>{format::count(n)}</td></tr> }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </div>
        </section>
    }
}
