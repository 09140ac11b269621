//! How a body was read, event by event.

use leptos::{html, prelude::*};

use crate::{report::format, request::ExplainedEvent};

/// Rows shown of a long body: its head, and what lies around the event that decided.
const HEAD: usize = 300;
const AROUND: usize = 25;

/// Events with what each meant; the one that decided is marked and scrolled into sight.
#[component]
pub fn EventTable(
    /// The events.
    events: Vec<ExplainedEvent>,
    /// When the request was sent, ms since the run began.
    dispatched_ms: f64,
    /// Whether times are known.
    #[prop(default = true)]
    timed: bool,
    /// How many reads there were; what has a later one was completed by the end of the body.
    #[prop(default = usize::MAX)]
    reads: usize,
) -> impl IntoView {
    let table = NodeRef::<html::Div>::new();
    // What decided should be in sight, with what came just before it.
    Effect::new(move |_| {
        let Some(table) = table.get() else { return };
        request_animation_frame(move || {
            if let Ok(Some(row)) = table.query_selector(".decides") {
                let top = row.get_bounding_client_rect().top() - table.get_bounding_client_rect().top();
                table.set_scroll_top((top - 90.0).max(0.0) as i32);
            }
        });
    });
    if events.is_empty() {
        return ().into_any();
    }
    let total = events.len();
    let decided = events.iter().position(|event| event.verdict.is_some()).unwrap_or(0);
    let shown = |i: usize| i < HEAD || i.abs_diff(decided) <= AROUND;
    let left_out = (0..total).filter(|i| !shown(*i)).count();
    let rows = events
        .into_iter()
        .enumerate()
        .filter(|(i, _)| shown(*i))
        .map(|(i, event)| {
            let class = if event.verdict.is_some() {
                "decides"
            } else if event.after_failure {
                "after"
            } else {
                ""
            };
            let place = if timed {
                view! {
                    <td class="num">{format::millis(event.at_ms - dispatched_ms)}</td>
                    <td class="num">{if event.read < reads { format::count(event.read as u64 + 1) } else { "end".to_owned() }}</td>
                }
                .into_any()
            } else {
                view! { <td class="num">{i + 1}</td> }.into_any()
            };
            let name = if event.name.is_empty() { String::new() } else { format!("event: {}\n", event.name) };
            let verdict = event.verdict.map(|(outcome, _)| {
                view! { <br /><span class=format!("outcome {}", outcome.name())>{format::outcome_words(outcome)}</span> }
            });
            view! {
                <tr class=class>
                    {place}
                    <td>{event.meaning.to_string()} {verdict}</td>
                    <td class="mono">{name}{event.data}</td>
                </tr>
            }
        })
        .collect_view();
    let heads = if timed {
        view! { <th class="num">"after"</th><th class="num">"read"</th> }.into_any()
    } else {
        view! { <th class="num">"event"</th> }.into_any()
    };
    view! {
        <h3>"Events as they were read"</h3>
        <div class="scroll tall" node_ref=table tabindex="0" role="region" aria-label="Events as they were read">
            <table class="events">
                <thead><tr>{heads}<th>"meaning"</th><th>"data"</th></tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {(left_out > 0)
            .then(|| {
                let (left_out, total) = (format::count(left_out as u64), format::count(total as u64));
                view! { <p class="quiet">{format!("{left_out} of {total} events are not listed here.")}</p> }
            })}
    }
    .into_any()
}
