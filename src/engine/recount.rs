//! How many tokens the answers have, asked of the server after the run, when it disturbs nothing.

use std::cell::Cell;

use futures_util::future::join_all;
use serde_json::json;

use super::tokens::post;
use crate::protocol::join_url;

/// A server that does not count within this is asked no more.
const LIMIT_MS: u32 = 10_000;
/// Questions at a time.
const AT_A_TIME: usize = 4;

/// Counts the tokens of texts, each with the index of its request, until `stopped`. A server that fails once is asked no
/// more, and what it counted until then is returned.
pub async fn count_tokens(
    base_url: &str,
    headers: &[(String, String)],
    model: &str,
    texts: &[(u32, String)],
    stopped: impl Fn() -> bool,
) -> Vec<(u32, u64)> {
    let url = join_url(base_url, "/tokenize");
    let (next, failed) = (Cell::new(0), Cell::new(false));
    let counts = join_all((0..AT_A_TIME).map(|_| async {
        let mut counts = Vec::new();
        while let Some((index, text)) = texts.get(next.get()) {
            next.set(next.get() + 1);
            if failed.get() || stopped() {
                break;
            }
            let body = json!({"model": model, "prompt": text, "add_special_tokens": false});
            match post(&url, headers, &body, LIMIT_MS)
                .await
                .and_then(|told| told["count"].as_u64())
            {
                Some(tokens) => counts.push((*index, tokens)),
                None => failed.set(true),
            }
        }
        counts
    }))
    .await;
    counts.concat()
}
