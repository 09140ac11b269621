//! *Check connection*: a few requests, and [`reach::judge`] on what came of them.

use std::pin::pin;

use futures_util::future::{Either, select};
use gloo_net::http::RequestBuilder;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use web_sys::{AbortController, RequestCache, RequestCredentials, RequestMode};

use super::{
    browser,
    state::{Check, Page},
};
use crate::{
    config::Secret,
    load::reach::{self, Fetched, Seen},
    protocol::join_url,
};

const LIMIT_MS: u32 = 10_000;

/// Asks the server and puts the finding into the page's state.
pub async fn check(page: Page) {
    let draft = page.draft.get_untracked();
    let base_url = draft.base_url.trim().to_owned();
    let key = Secret::new(&page.key.get_untracked());
    page.check.set(Check::Asking);
    let (page_origin, page_is_https) = browser::origin();
    let models = fetch(&join_url(&base_url, "/v1/models"), key.reveal(), RequestMode::Cors).await;
    let blind = models == Fetched::Rejected;
    let (touched, open_path_readable) = if blind {
        let readable = fetch(&join_url(&base_url, "/health"), None, RequestMode::Cors).await;
        let touched = fetch(&join_url(&base_url, "/v1/models"), None, RequestMode::NoCors).await;
        (
            Some(touched != Fetched::Rejected),
            Some(matches!(readable, Fetched::Answer { .. })),
        )
    } else {
        (None, None)
    };
    let finding = reach::judge(&Seen {
        base_url,
        page_is_https,
        page_origin,
        with_key: key.reveal().is_some(),
        model: draft.model.trim().to_owned(),
        models,
        touched,
        open_path_readable,
    });
    // What was typed meanwhile is not what was checked.
    let same = page
        .draft
        .with_untracked(|now| now.base_url == draft.base_url && now.simulated == draft.simulated);
    page.check
        .set(if same { Check::Found(finding) } else { Check::Unasked });
}

async fn fetch(url: &str, key: Option<&str>, mode: RequestMode) -> Fetched {
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
    match select(pin!(asked), TimeoutFuture::new(LIMIT_MS)).await {
        Either::Left((fetched, _)) => fetched,
        Either::Right(_) => {
            abort.abort();
            Fetched::Silent
        }
    }
}
