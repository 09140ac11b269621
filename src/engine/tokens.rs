//! How many tokens the server makes of words, asked before a run.

use serde_json::{Map, Value, json};
use web_sys::AbortController;

use super::transport::{Prepared, within};
use crate::{
    config::{Api, Endpoint, RunConfig},
    protocol::{self, Concessions, Prompt},
    workload::{WordRate, calibration_text},
};

/// A server that does not count within this is measured without.
const TOKENIZE_MS: u32 = 3_000;
/// The same for one that has to answer a request for it.
const ANSWER_MS: u32 = 5_000;

/// What was learnt of a server's tokenizer.
pub struct Tokenizer {
    /// Tokens per word, and those around a prompt.
    pub rate: WordRate,
    /// Ids that it has; empty if not known.
    pub ids: Vec<u32>,
    /// How it was learnt, in words.
    pub by: &'static str,
}

/// Asks the server to count two texts: by `/tokenize` where it has it, else by two requests for one token.
pub async fn learn(config: &RunConfig, headers: &[(String, String)]) -> Option<Tokenizer> {
    let Endpoint::Http { base_url } = &config.endpoint else {
        return None;
    };
    if let Some((once, ids)) = tokenize(config, base_url, headers, 1).await {
        let (twice, _) = tokenize(config, base_url, headers, 2).await?;
        return Some(Tokenizer {
            rate: WordRate::of_counts(once, twice)?,
            ids,
            by: "its /tokenize",
        });
    }
    let once = answered(config, base_url, headers, 1).await?;
    let twice = answered(config, base_url, headers, 2).await?;
    Some(Tokenizer {
        rate: WordRate::of_counts(once, twice)?,
        ids: Vec::new(),
        by: "the usage of two requests",
    })
}

/// The count, and the distinct ids.
async fn tokenize(
    config: &RunConfig,
    base_url: &str,
    headers: &[(String, String)],
    times: u32,
) -> Option<(u64, Vec<u32>)> {
    let text = calibration_text(times);
    let body = match config.api {
        Api::Chat => json!({"model": config.model, "messages": [{"role": "user", "content": text}]}),
        Api::Completions | Api::Generate => json!({"model": config.model, "prompt": text}),
    };
    let url = protocol::join_url(base_url, "/tokenize");
    let told = post(&url, headers, &body, TOKENIZE_MS).await?;
    let mut ids: Vec<u32> = told["tokens"]
        .as_array()
        .map(|ids| ids.iter().filter_map(|id| u32::try_from(id.as_u64()?).ok()).collect())
        .unwrap_or_default();
    ids.sort_unstable();
    ids.dedup();
    Some((told["count"].as_u64()?, ids))
}

/// The prompt's length as a request's usage tells it.
async fn answered(config: &RunConfig, base_url: &str, headers: &[(String, String)], times: u32) -> Option<u64> {
    let config = RunConfig {
        stream: false,
        ..config.clone()
    };
    let text = calibration_text(times);
    let body = protocol::request_body(&config, Prompt::Text(&text), 1, &Map::new(), Concessions::default()).ok()?;
    let url = protocol::api_url(base_url, config.api);
    let answer = post(&url, headers, &body, ANSWER_MS).await?;
    answer["usage"]["prompt_tokens"]
        .as_u64()
        .or(answer["meta_info"]["prompt_tokens"].as_u64())
}

/// Posts JSON and reads JSON; `None` for whatever goes wrong.
pub(super) async fn post(url: &str, headers: &[(String, String)], body: &Value, limit_ms: u32) -> Option<Value> {
    let abort = AbortController::new().ok()?;
    let asked = async {
        let request = Prepared::post(url, headers, &body.to_string(), &abort.signal()).ok()?;
        let response = request.send().await.ok()?;
        if !response.ok() {
            return None;
        }
        response.json::<Value>().await.ok()
    };
    within(limit_ms, &abort, asked).await.flatten()
}
