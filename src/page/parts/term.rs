//! A term that explains itself.

use leptos::prelude::*;

use crate::metrics::term;

/// A term of the glossary; its explanation opens on hover and on focus.
#[component]
pub fn Term(
    /// Its key in the glossary.
    id: &'static str,
) -> impl IntoView {
    let Some(term) = term(id) else {
        return view! { <span>{id}</span> }.into_any();
    };
    let tip = format!("tip-{id}");
    let described_by = tip.clone();
    view! {
        <span class="term" tabindex="0" aria-describedby=described_by>
            {term.name}
            <span class="tip" role="tooltip" id=tip>
                <strong>{term.long_name}</strong>
                <span>{term.definition}</span>
                <span class="elsewhere">{term.elsewhere}</span>
            </span>
        </span>
    }
    .into_any()
}
