//! How many requests this browser really has on the wire to one name: asked of a server that says a burst costs it nothing.
//!
//! All requests of a burst are held by the server for the same time. Those that the browser queues are held later, so
//! the first wave of answers are as many as it can have on the wire at a time.

use futures_util::future::join_all;
use gloo_net::http::Method;
use web_sys::AbortController;

use super::{
    clock::Clock,
    transport::{Prepared, within},
};
use crate::{load::lanes, protocol::join_url};

/// How long the server holds each request, ms: much longer than the spread of a wave.
const HOLD_MS: f64 = 150.0;
/// A burst that takes longer than this says nothing.
const LIMIT_MS: u32 = 3_000;

/// Sends `count` requests at once; returns how many were answered in the first wave, `None` if any failed.
pub async fn first_wave(base_url: &str, count: u32, clock: &Clock) -> Option<u32> {
    let abort = AbortController::new().ok()?;
    let abort = &abort;
    let sent_ms = clock.now_ms();
    let all = join_all((0..count).map(|n| async move {
        // A URL each: the browser's cache lets requests of one URL wait for one another.
        let url = join_url(base_url, &format!("/demo/hold?ms={HOLD_MS}&n={n}"));
        // Without headers of its own, so that no preflight goes first.
        let request = Prepared::bare(Method::GET, &url, &[], &abort.signal()).ok()?;
        let response = request.send().await.ok()?;
        let answered_ms = clock.now_ms();
        response.binary().await.ok()?;
        response.ok().then_some(answered_ms)
    }));
    let answered_ms: Vec<f64> = within(LIMIT_MS, abort, all).await?.into_iter().collect::<Option<_>>()?;
    Some(lanes::first_wave(&answered_ms, sent_ms, HOLD_MS))
}
