//! One headline figure.

use leptos::prelude::*;

/// A figure with what it is.
#[component]
pub fn Figure(
    /// What it is.
    label: &'static str,
    /// The figure with its unit.
    #[prop(into)]
    value: Signal<String>,
    /// A word of explanation below.
    #[prop(optional, into)]
    detail: Option<String>,
    /// Whether it should be noticed.
    #[prop(optional, into)]
    alarming: Signal<bool>,
) -> impl IntoView {
    view! {
        <div class="figure" class:alarming=alarming>
            <span class="figure-label">{label}</span>
            <span class="figure-value">{value}</span>
            {detail.map(|detail| view! { <span class="figure-detail">{detail}</span> })}
        </div>
    }
}
