//! What a server told of its settings.

use leptos::prelude::*;

use crate::report::ServerDetails;

/// What decides how fast the server is; the rest folded away.
#[component]
pub fn DetailsView(details: ServerDetails) -> impl IntoView {
    let facts = details
        .telling()
        .into_iter()
        .map(|(what, how)| view! { <div><dt>{what}</dt><dd>{how}</dd></div> })
        .collect_view();
    let all = details.all();
    let count = all.len();
    let rows = all
        .into_iter()
        .map(|(key, value)| view! { <tr><th scope="row">{key}</th><td>{value}</td></tr> })
        .collect_view();
    view! {
        <dl class="facts">{facts}</dl>
        <details class="settings">
            <summary>{format!("All {count} settings")}</summary>
            <div class="scroll" tabindex="0" role="region" aria-label="All settings of the server">
                <table class="settings-table"><tbody>{rows}</tbody></table>
            </div>
        </details>
    }
}
