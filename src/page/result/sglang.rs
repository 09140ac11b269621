//! The result as SGLang's own client would print it.

use std::sync::Arc;

use leptos::prelude::*;

use crate::{metrics::sglang, report::Document};

/// A switch, and the table of `sglang.benchmark.serving` when it is on.
#[component]
pub fn SglangSection(
    /// The run, or the part of it that is shown.
    shown: RwSignal<Arc<Document>>,
) -> impl IntoView {
    let on = RwSignal::new(false);
    view! {
        <section id="sglang" aria-labelledby="sglang-title">
            <h2 id="sglang-title">"SGLang-compatible"</h2>
            <p class="quiet small">
                "The same successes by the definitions of sglang.benchmark.serving: latency and TPOT run to [DONE], ITL is the gap between \
                 messages, an empty sample is 0. Failures and requested lengths are not credited, which its own client may do."
            </p>
            <label class="check">
                <input type="checkbox" prop:checked=move || on.get() on:change=move |_| on.update(|on| *on = !*on) />
                "Show what sglang.benchmark.serving would print"
            </label>
            {move || {
                on.get()
                    .then(|| {
                        let document = shown.get();
                        let figures = sglang::figures(&document.requests, &document.config, document.duration_ms);
                        view! { <div class="scroll"><pre>{sglang::table(&figures, &document.config)}</pre></div> }
                    })
            }}
        </section>
    }
}
