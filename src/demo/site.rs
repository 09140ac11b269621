//! The built page on a port of its own, with the headers for cross-origin isolation.

use std::path::Path;

use axum::{
    Router,
    http::{HeaderName, HeaderValue, header},
};
use tower_http::{services::ServeDir, set_header::SetResponseHeaderLayer};

/// Headers that make the page cross-origin isolated, which gives it the finer clock; and no stale pages.
/// `credentialless` and not `require-corp`: under that, a request whose answer the page may not read fails like one that
/// nobody answers, and *Check connection* could not tell the two apart.
const HEADERS: [(HeaderName, HeaderValue); 5] = [
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-embedder-policy"),
        HeaderValue::from_static("credentialless"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
];

/// Serves a folder.
pub fn router(folder: &Path) -> Router {
    HEADERS.into_iter().fold(
        Router::new().fallback_service(ServeDir::new(folder)),
        |router, (name, value)| router.layer(SetResponseHeaderLayer::overriding(name, value)),
    )
}
