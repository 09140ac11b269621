//! Emptying a server's prefix cache.

use super::excerpt;

/// How long the server may take to become idle for it, s.
pub const FLUSH_WAIT_S: u32 = 10;

/// Where a server is asked for it: SGLang's route, or vLLM's.
pub fn flush_path(owned_by: Option<&str>) -> String {
    match owned_by {
        Some("vllm") => "/reset_prefix_cache".to_owned(),
        _ => format!("/flush_cache?timeout={FLUSH_WAIT_S}"),
    }
}

/// What a refusal means and what to do, in sentences. `status`: `None` if no answer could be read.
pub fn flush_refused(status: Option<u16>, body: &str) -> String {
    const OR_WITHOUT: &str = "or run without “Flush the cache”";
    match status {
        None => format!(
            "The server did not answer when it was asked to flush its cache. Check the connection, {OR_WITHOUT}."
        ),
        Some(401 | 403) => format!(
            "The server wants another key to flush its cache ({}). SGLang with --admin-api-key takes that key alone: type it in, {OR_WITHOUT}.",
            status.unwrap_or_default()
        ),
        Some(404 | 405) => format!(
            "The server cannot flush its cache on request ({}). vLLM does with VLLM_SERVER_DEV_MODE=1. Restart it for an empty cache, {OR_WITHOUT}.",
            status.unwrap_or_default()
        ),
        Some(400) => format!(
            "The server did not flush its cache, because it was not idle within {FLUSH_WAIT_S} s: somebody else uses it. Wait, {OR_WITHOUT}."
        ),
        Some(status) => format!(
            "The server did not flush its cache ({status}: {}). Try again, {OR_WITHOUT}.",
            excerpt(body)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_says_what_to_do() {
        let said = |status, body| flush_refused(status, body);
        assert!(said(Some(401), "").contains("--admin-api-key"));
        assert!(said(Some(404), "").contains("cannot flush its cache on request (404)"));
        assert!(said(Some(400), "busy").contains("not idle within 10 s"));
        assert!(said(Some(500), "it broke").contains("500: it broke"));
        for status in [None, Some(400), Some(401), Some(405), Some(500)] {
            assert!(said(status, "").contains("run without"), "{status:?}");
        }
    }

    #[test]
    fn each_kind_has_its_route() {
        assert_eq!(flush_path(Some("sglang")), "/flush_cache?timeout=10");
        assert_eq!(flush_path(Some("vllm")), "/reset_prefix_cache");
        assert_eq!(flush_path(None), "/flush_cache?timeout=10");
    }
}
