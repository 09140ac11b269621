//! What most runs leave as it is.

use leptos::prelude::*;

use crate::{
    config::{TokenLimit, form::Field, server_side::ServerSide},
    page::{
        frame::Frame,
        parts::{AreaField, CheckField, TextField},
    },
};

/// Time-outs, body and headers, lanes, seed, the simulated server.
#[component]
pub fn Advanced() -> impl IntoView {
    let frame = Frame::get();
    let simulated = move || frame.draft.with(|draft| draft.simulated);
    view! {
        <details class="panel advanced">
            <summary>"Advanced"</summary>
            <div class="panels">
                <div>
                    <h2>"Time-outs"</h2>
                    <TextField field=Field::FirstByte label="First byte" access=|d| &mut d.first_byte_s unit="s" hint="0: never." />
                    <TextField field=Field::Stall label="Pause between reads" access=|d| &mut d.stall_s unit="s" />
                    <TextField field=Field::Total label="Whole request" access=|d| &mut d.total_s unit="s" />
                    <TextField field=Field::Seed label="Seed" access=|d| &mut d.seed hint="The same seed gives the same prompts." />
                </div>
                <div>
                    <h2>"Request"</h2>
                    <CheckField
                        label="After the run, ask the server's /tokenize how many tokens each answer has"
                        ticked=Signal::derive(move || frame.draft.with(|d| d.recount))
                        set=move |on| frame.draft.update(|d| d.recount = on)
                    />
                    <LimitKey />
                    <AreaField field=Field::ExtraBody label="Extra JSON for the body" access=|d| &mut d.extra_body placeholder="{\"top_p\": 0.9}" hint="Merged last; null removes a key." />
                    <AreaField field=Field::ExtraHeaders label="Extra headers" access=|d| &mut d.extra_headers placeholder="X-Route: blue" hint="One a line. The server must allow them by CORS." />
                </div>
                <div>
                    <h2>"Server"</h2>
                    <ServerTick
                        label="Flush the cache before the run (SGLang, vLLM in development mode)"
                        choice=|side| &mut side.flush_cache
                    />
                    <ServerTick
                        label="Watch its load, and wait until it is idle before the next run (SGLang)"
                        choice=|side| &mut side.watch
                    />
                    <ServerTick
                        label="Keep its settings in the result, without keys (SGLang)"
                        choice=|side| &mut side.keep_details
                    />
                </div>
                <div>
                    <h2>"Objectives"</h2>
                    <TextField field=Field::SloTtft label="TTFT at most" access=|d| &mut d.slo_ttft_ms unit="ms" placeholder="none" />
                    <TextField field=Field::SloTpot label="TPOT at most" access=|d| &mut d.slo_tpot_ms unit="ms" placeholder="none" />
                    <TextField field=Field::SloE2e label="E2E at most" access=|d| &mut d.slo_e2e_ms unit="ms" placeholder="none" hint="A request that keeps all of them counts towards goodput." />
                </div>
                <div>
                    <h2>"Connections"</h2>
                    <CheckField
                        label="Use more names of a server on this machine (sg1.localhost …)"
                        ticked=Signal::derive(move || frame.draft.with(|d| d.auto_lanes))
                        set=move |on| frame.draft.update(|d| d.auto_lanes = on)
                    />
                    <AreaField field=Field::Lanes label="Lanes: further base URLs of the same server" access=|d| &mut d.lanes placeholder="http://192.168.0.7:30000" hint="One a line; each brings six connections." />
                    <TextField field=Field::StreamsPerLane label="Streams per name" access=|d| &mut d.streams_per_lane placeholder="automatic" hint="6 for HTTP/1.1; 100 suits most HTTP/2 servers." />
                </div>
                <Show when=simulated>
                    <div>
                        <h2>"Simulated server"</h2>
                        <TextField field=Field::SimTtft label="Time to first token" access=|d| &mut d.sim_ttft_ms unit="ms" />
                        <TextField field=Field::SimPrefill label="… and per 1,000 prompt tokens" access=|d| &mut d.sim_prefill_ms unit="ms" />
                        <TextField field=Field::SimItl label="Time between tokens" access=|d| &mut d.sim_itl_ms unit="ms" />
                        <TextField field=Field::SimJitter label="Relative spread" access=|d| &mut d.sim_jitter />
                        <TextField field=Field::SimSlowdown label="Slow-down by a full batch" access=|d| &mut d.sim_slowdown hint="0.5: half as slow again." />
                        <TextField field=Field::SimBatch label="Batch limit" access=|d| &mut d.sim_batch unit="requests" />
                        <TextField field=Field::SimReasoning label="Share of reasoning" access=|d| &mut d.sim_reasoning hint="0 to 1." />
                        <TextField
                            field=Field::SimFaults
                            label="Faults"
                            access=|d| &mut d.sim_faults
                            placeholder="http_503=0.05, error_mid=0.05, cut=0.05"
                            numeric=false
                            hint="fault=share, separated by commas."
                        />
                    </div>
                </Show>
            </div>
        </details>
    }
}

/// One choice of what is done to the server.
#[component]
fn ServerTick(label: &'static str, choice: fn(&mut ServerSide) -> &mut bool) -> impl IntoView {
    let frame = Frame::get();
    view! {
        <CheckField
            label
            ticked=Signal::derive(move || frame.draft.with(|draft| *choice(&mut draft.server_side.clone())))
            set=move |on| frame.draft.update(|draft| *choice(&mut draft.server_side) = on)
        />
    }
}

/// Which key carries the longest answer's length.
#[component]
fn LimitKey() -> impl IntoView {
    let frame = Frame::get();
    let words = |limit| match limit {
        TokenLimit::Auto => "automatic",
        other => other.name(),
    };
    view! {
        <div class="field">
            <label for="token-limit">"Limit is sent as"</label>
            <select
                id="token-limit"
                aria-describedby="token-limit-note"
                on:change:target=move |event| {
                    if let Some(limit) = TokenLimit::from_name(&event.target().value()) {
                        frame.draft.update(|draft| draft.token_limit = limit);
                    }
                }
            >
                {TokenLimit::ALL
                    .map(|limit| {
                        view! {
                            <option value=limit.name() selected=move || frame.draft.with(|d| d.token_limit == limit)>
                                {words(limit)}
                            </option>
                        }
                    })
                    .collect_view()}
            </select>
            <p class="field-note" id="token-limit-note">"max_tokens if answers grow longer than asked: old servers pass over the newer key in silence."</p>
        </div>
    }
}
