//! Why a fetch of a run was rejected, as far as a second look can tell.

use super::{probe, run::Run};
use crate::{
    config::Endpoint,
    load::reach::{self, Fetched, Seen, Touch},
};

/// A server that does not answer the second look within this is taken as unreachable.
const LOOK_MS: u32 = 3_000;
/// A finding holds for the failures of this long.
const FRESH_MS: f64 = 2_000.0;

/// The browser's words and what they likely mean; `after_ms` is how long the request had been on its way. Failures close together share one look, so that a dead server is not
/// asked twice for each request of a run.
pub async fn diagnose(run: &Run, message: &str, after_ms: f64) -> String {
    let fresh = run
        .finding
        .borrow()
        .clone()
        .filter(|(at_ms, _)| run.clock.now_ms() - at_ms < FRESH_MS);
    let likely = match fresh {
        Some((_, likely)) => likely,
        None => {
            let likely = look(run).await;
            *run.finding.borrow_mut() = Some((run.clock.now_ms(), likely.clone()));
            likely
        }
    };
    format!("{message}. {likely}{}", reach::held(after_ms))
}

async fn look(run: &Run) -> String {
    let Endpoint::Http { base_url } = &run.config.endpoint else {
        return String::new();
    };
    let (touched, open_path_readable) = probe::look_again(base_url, LOOK_MS).await;
    let answers = touched == Touch::Answered;
    if !answers && run.answered.get() {
        return format!(
            "Nothing answers at {base_url} now, though it did before: likely the server went away during the run."
        );
    }
    if answers && run.listed.get() {
        return format!(
            "This page can read other answers of {base_url}, so likely the server closed this connection before it \
             answered, or sends no CORS headers with this path or this error."
        );
    }
    reach::judge(&Seen {
        base_url: base_url.clone(),
        page_origin: run.page_origin.clone(),
        with_key: run.has_key(),
        model: String::new(),
        models: Fetched::Rejected,
        touched: Some(touched),
        open_path_readable: Some(open_path_readable),
    })
    .words
}
