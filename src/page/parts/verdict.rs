//! The client's verdict on itself.

use leptos::prelude::*;

use crate::health::{Health, Verdict};

/// The verdict as a word with a shape; the reasons on hover.
#[component]
pub fn VerdictBadge(
    /// The client's state.
    #[prop(into)]
    health: Signal<Health>,
) -> impl IntoView {
    let verdict = move || health.with(|health| health.verdict);
    let shape = move || match verdict() {
        Verdict::Trustworthy => "✓",
        Verdict::Suspect => "!",
        Verdict::ClientLimited => "▲",
    };
    view! {
        <span class="badge verdict" class:good=move || verdict() == Verdict::Trustworthy title=move || health.with(|h| h.reasons.join(" "))>
            "client: " {move || verdict().words()} " " <span aria-hidden="true">{shape}</span>
        </span>
    }
}
