//! *Check connection*: a few requests, and [`reach::judge`] on what came of them.

use leptos::prelude::*;

use super::{
    browser,
    state::{Check, Page},
};
use crate::{
    config::Secret,
    engine::probe,
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
    let models = probe::get(&join_url(&base_url, "/v1/models"), key.reveal(), LIMIT_MS).await;
    let (touched, open_path_readable) = if models == Fetched::Rejected {
        let (touched, open) = probe::look_again(&base_url, LIMIT_MS).await;
        (Some(touched), Some(open))
    } else {
        (None, None)
    };
    let finding = reach::judge(&Seen {
        base_url,
        page_origin: browser::origin(),
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
