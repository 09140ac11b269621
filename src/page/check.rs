//! *Check connection*: a few requests, and what came of them; [`crate::load::reach::judge`] says what it means.

use futures_util::future::join;
use leptos::prelude::*;

use super::{
    browser,
    frame::{Check, Frame},
};
use crate::{
    config::Secret,
    engine::{probe, server_side},
    load::reach::{self, Fetched, Seen},
    protocol::join_url,
};

const LIMIT_MS: u32 = 10_000;

/// Asks the server and puts what was seen into the page's state.
pub async fn check(frame: Frame) {
    let draft = frame.draft.get_untracked();
    let base_url = draft.base_url.trim().to_owned();
    let key = Secret::new(&frame.key.get_untracked());
    frame.check.set(Check::Asking);
    frame.told.set(None);
    let models = probe::get(&join_url(&base_url, "/v1/models"), key.reveal(), LIMIT_MS).await;
    let (touched, open_path_readable) = if models == Fetched::Rejected {
        let (touched, open) = probe::look_again(&base_url, LIMIT_MS).await;
        (Some(touched), Some(open))
    } else {
        (None, None)
    };
    let seen = Seen {
        base_url,
        page_origin: browser::origin(),
        with_key: key.reveal().is_some(),
        model: draft.model.trim().to_owned(),
        models,
        touched,
        open_path_readable,
    };
    let server = reach::told_by_sglang(&seen.models).then(|| (seen.base_url.clone(), key.clone()));
    frame.check.set(Check::Seen(seen, key));
    if let Some((base_url, key)) = server {
        let headers: Vec<_> = key
            .reveal()
            .map(|key| ("Authorization".to_owned(), format!("Bearer {key}")))
            .into_iter()
            .collect();
        let told = join(
            server_side::details(&base_url, &headers),
            server_side::load(&base_url, &headers),
        );
        frame.told.set(Some(told.await));
    }
}
