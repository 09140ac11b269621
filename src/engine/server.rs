//! What the server tells of itself before a run.

use wasm_bindgen::JsCast;
use web_sys::{AbortController, PerformanceResourceTiming};

use super::{
    clock::performance,
    transport::{Prepared, within},
};
use crate::{
    config::{Endpoint, RunConfig},
    load::lanes::Protocol,
    protocol,
    report::ServerFacts,
};

/// A server that does not list its models within this is measured without.
const LIST_MS: u32 = 5_000;

impl ServerFacts {
    /// What is known before the server is asked.
    pub fn of(config: &RunConfig) -> Self {
        let base_url = match &config.endpoint {
            Endpoint::Simulated => "simulated".to_owned(),
            Endpoint::Http { base_url } => base_url.clone(),
        };
        Self {
            base_url,
            model: config.model.clone(),
            ..Self::default()
        }
    }
}

/// The entry of `/v1/models` for the model that will be asked, and whether the list could be read. A server without
/// that list gives few facts, not an error.
pub async fn server_facts(config: &RunConfig, headers: &[(String, String)]) -> (ServerFacts, bool) {
    let mut facts = ServerFacts::of(config);
    let Endpoint::Http { base_url } = &config.endpoint else {
        return (facts, false);
    };
    let Ok(abort) = AbortController::new() else {
        return (facts, false);
    };
    let listed = async {
        let url = protocol::join_url(base_url, "/v1/models");
        let request = Prepared::bare(gloo_net::http::Method::GET, &url, headers, &abort.signal()).ok()?;
        request.send().await.ok()?.json::<serde_json::Value>().await.ok()
    };
    let listed = within(LIST_MS, &abort, listed).await.flatten();
    let models = listed
        .as_ref()
        .and_then(|list| list["data"].as_array())
        .map(Vec::as_slice)
        .unwrap_or_default();
    if let Some(model) = models
        .iter()
        .find(|model| model["id"] == config.model.as_str())
        .or(models.first())
    {
        if facts.model.is_empty() {
            facts.model = model["id"].as_str().unwrap_or_default().to_owned();
        }
        facts.owned_by = model["owned_by"].as_str().map(str::to_owned);
        facts.demo = model["streamgauge_demo"] == true;
        facts.max_model_len = model["max_model_len"].as_u64();
    }
    (facts, listed.is_some())
}

/// The protocol of an answer already received, where the browser lets the page see it (same origin, or a server that
/// sends `Timing-Allow-Origin`).
pub fn seen_protocol(config: &RunConfig) -> Option<Protocol> {
    let Endpoint::Http { base_url } = &config.endpoint else {
        return None;
    };
    let entries = performance()?.get_entries_by_type("resource");
    let seen = entries.iter().rev().find_map(|entry| {
        let entry: PerformanceResourceTiming = entry.dyn_into().ok()?;
        let protocol = entry.next_hop_protocol();
        (entry.name().starts_with(base_url.as_str()) && !protocol.is_empty()).then_some(protocol)
    })?;
    Some(if seen.starts_with("h2") || seen.starts_with("h3") {
        Protocol::Http2
    } else {
        Protocol::Http1
    })
}
