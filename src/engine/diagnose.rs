//! Why a fetch was rejected: a browser says only "Failed to fetch", a second look tells more.

use futures_util::future::{Either, select};
use gloo_timers::future::TimeoutFuture;
use std::pin::pin;
use web_sys::AbortController;

use super::{run::Run, transport::touch};

/// A server that does not answer the second look within this is taken as unreachable.
const LOOK_MS: u32 = 3_000;
/// A finding holds for the failures of this long.
const FRESH_MS: f64 = 2_000.0;

/// The browser's words and what they likely mean.
pub async fn diagnose(run: &Run, url: &str, message: &str) -> String {
    let fresh = run
        .finding
        .borrow()
        .clone()
        .filter(|(at_ms, _)| run.clock.now_ms() - at_ms < FRESH_MS);
    let likely = match fresh {
        Some((_, likely)) => likely,
        None => {
            let likely = look(url).await;
            *run.finding.borrow_mut() = Some((run.clock.now_ms(), likely.clone()));
            likely
        }
    };
    format!("{message}. {likely}")
}

async fn look(url: &str) -> String {
    let Ok(abort) = AbortController::new() else {
        return String::new();
    };
    let reached = match select(pin!(touch(url, &abort.signal())), TimeoutFuture::new(LOOK_MS)).await {
        Either::Left((reached, _)) => reached.is_ok(),
        Either::Right(_) => false,
    };
    abort.abort();
    if reached {
        "Something answers at this address, but the browser may not read it: likely the server sends no CORS headers, \
         or the key is wrong (SGLang answers 401 without them)."
            .into()
    } else {
        "Nothing answers at this address now: likely the server is not running, went away during the run, or cannot \
         be reached from here."
            .into()
    }
}
