//! Second looks at a server that a fetch did not reach: a browser says only "Failed to fetch".

use futures_util::future::join;
use gloo_net::http::RequestBuilder;
use web_sys::{AbortController, RequestCache, RequestCredentials, RequestMode};

use super::{clock::Clock, transport::within};
use crate::{
    load::reach::{Fetched, Touch},
    protocol::join_url,
};

/// A GET, answered or not within the limit.
pub async fn get(url: &str, key: Option<&str>, limit_ms: u32) -> Fetched {
    fetch(url, key, RequestMode::Cors, limit_ms).await
}

/// Looks again after a rejected fetch: whether anything answers at all, in a way that the page may not read (or how
/// soon it did not), and whether a path that needs no key can be read.
pub async fn look_again(base_url: &str, limit_ms: u32) -> (Touch, bool) {
    let (models, health) = (join_url(base_url, "/v1/models"), join_url(base_url, "/health"));
    let clock = Clock::start();
    let began_ms = clock.now_ms();
    let touch = async {
        match fetch(&models, None, RequestMode::NoCors, limit_ms).await {
            Fetched::Answer { .. } => Touch::Answered,
            Fetched::Silent => Touch::Silent,
            Fetched::Rejected => Touch::Rejected {
                after_ms: clock.now_ms() - began_ms,
            },
        }
    };
    let (touched, open) = join(touch, fetch(&health, None, RequestMode::Cors, limit_ms)).await;
    (touched, matches!(open, Fetched::Answer { .. }))
}

async fn fetch(url: &str, key: Option<&str>, mode: RequestMode, limit_ms: u32) -> Fetched {
    let Ok(abort) = AbortController::new() else {
        return Fetched::Rejected;
    };
    let mut request = RequestBuilder::new(url)
        .mode(mode)
        .credentials(RequestCredentials::Omit)
        .cache(RequestCache::NoStore)
        .abort_signal(Some(&abort.signal()));
    if let Some(key) = key {
        request = request.header("Authorization", &format!("Bearer {key}"));
    }
    let asked = async {
        match request.send().await {
            Ok(response) => Fetched::Answer {
                status: response.status(),
                body: response.text().await.unwrap_or_default(),
            },
            Err(_) => Fetched::Rejected,
        }
    };
    within(limit_ms, &abort, asked).await.unwrap_or(Fetched::Silent)
}
