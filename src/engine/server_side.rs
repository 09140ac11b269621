//! What is asked of the server besides the requests that are measured: its load, its settings, an empty cache.

use futures_util::future::join;
use gloo_net::http::Method;
use serde_json::Value;
use web_sys::AbortController;

use super::transport::{Prepared, within};
use crate::{
    protocol::{FLUSH_WAIT_S, ServerLoad, flush_path, flush_refused, join_url},
    report::ServerDetails,
};

/// A server that does not tell its load within this is asked no more.
const LOAD_MS: u32 = 2_000;
/// One that does not tell its settings within this is measured without.
const DETAILS_MS: u32 = 5_000;

/// The server's load, where it has `/v1/loads`.
pub async fn load(base_url: &str, headers: &[(String, String)]) -> Option<ServerLoad> {
    let told = get(
        &format!("{}?include=core&format=json", join_url(base_url, "/v1/loads")),
        headers,
        LOAD_MS,
    )
    .await?;
    ServerLoad::from_loads(&told)
}

/// The server's settings, where it has `/model_info` or `/server_info`.
pub async fn details(base_url: &str, headers: &[(String, String)]) -> Option<ServerDetails> {
    let (model_url, server_url) = (join_url(base_url, "/model_info"), join_url(base_url, "/server_info"));
    let (model_info, server_info) = join(
        get(&model_url, headers, DETAILS_MS),
        get(&server_url, headers, DETAILS_MS),
    )
    .await;
    ServerDetails::new(model_info, server_info)
}

/// Empties the server's prefix cache.
///
/// # Errors
/// Sentences that say why not, and what to do.
pub async fn flush(base_url: &str, headers: &[(String, String)], owned_by: Option<&str>) -> Result<(), String> {
    let url = join_url(base_url, &flush_path(owned_by));
    let abort = AbortController::new().map_err(|_| flush_refused(None, ""))?;
    let asked = async {
        let request = Prepared::post(&url, headers, "", &abort.signal()).ok()?;
        let response = request.send().await.ok()?;
        Some((response.status(), response.text().await.unwrap_or_default()))
    };
    match within((FLUSH_WAIT_S + 5) * 1000, &abort, asked).await.flatten() {
        Some((200..=299, _)) => Ok(()),
        Some((status, body)) => Err(flush_refused(Some(status), &body)),
        None => Err(flush_refused(None, "")),
    }
}

/// Gets JSON; `None` for whatever goes wrong.
async fn get(url: &str, headers: &[(String, String)], limit_ms: u32) -> Option<Value> {
    // A type of content that is not there would cost a preflight.
    let headers: Vec<_> = headers
        .iter()
        .filter(|(name, _)| !name.eq_ignore_ascii_case("content-type"))
        .cloned()
        .collect();
    let abort = AbortController::new().ok()?;
    let asked = async {
        let request = Prepared::bare(Method::GET, url, &headers, &abort.signal()).ok()?;
        let response = request.send().await.ok()?;
        if !response.ok() {
            return None;
        }
        response.json::<Value>().await.ok()
    };
    within(limit_ms, &abort, asked).await.flatten()
}
