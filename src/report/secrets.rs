//! Keeps secrets out of documents: what looks like one is replaced before a document is built.
//!
//! The API key has no place in a document at all. But a person may put one into an extra header, into the extra keys of
//! the body, or into a URL; these are recognised by their names, and by the shapes of well-known keys.

use serde_json::{Map, Value};

use super::{Document, ServerFacts, Slots};
use crate::{
    config::secret_names::{is_secret_header, is_secret_name, looks_like_a_key},
    config::{Endpoint, LanePolicy, RunConfig},
    request::RequestRecord,
};

/// What stands where a secret was.
pub const HIDDEN: &str = "(hidden)";

/// The configuration with the values of secret-looking headers and body keys, and secrets in URLs, hidden.
pub fn without_secrets(config: &RunConfig) -> RunConfig {
    let mut config = config.clone();
    if let Endpoint::Http { base_url } = &mut config.endpoint {
        *base_url = url_without_secrets(base_url);
    }
    if let LanePolicy::List { base_urls } = &mut config.lanes {
        for url in base_urls {
            *url = url_without_secrets(url);
        }
    }
    config.series.other_url = url_without_secrets(&config.series.other_url);
    for (name, value) in &mut config.extra_headers {
        if is_secret_header(name) || looks_like_a_key(value) {
            *value = HIDDEN.to_owned();
        }
    }
    mask_map(&mut config.extra_body);
    config
}

impl Document {
    /// The document with secrets hidden everywhere: configuration, URLs, and the requests and headers kept as evidence.
    /// Called on every document that is built.
    pub fn without_secrets(mut self) -> Self {
        self.config = without_secrets(&self.config);
        hide_in_connection(&mut self.slots, &mut self.server);
        for record in self.requests.iter_mut().chain(&mut self.warmup) {
            mask_evidence(record);
        }
        self
    }
}

/// Hides secrets in the URLs of the connections and of the server.
pub(super) fn hide_in_connection(slots: &mut Slots, server: &mut ServerFacts) {
    server.base_url = url_without_secrets(&server.base_url);
    if let Some(details) = &mut server.details {
        details.hide_secrets();
    }
    for lane in &mut slots.lanes {
        *lane = url_without_secrets(lane);
    }
}

/// Hides secrets in the request and the headers that are kept as evidence.
pub(super) fn mask_evidence(record: &mut RequestRecord) {
    let Some(evidence) = &mut record.evidence else {
        return;
    };
    evidence.url = url_without_secrets(&evidence.url);
    for (name, value) in &mut evidence.headers {
        if is_secret_header(name) || looks_like_a_key(value) {
            *value = HIDDEN.to_owned();
        }
    }
    // The body stays as sent, to the byte, unless something in it must go.
    if let Ok(mut body) = serde_json::from_str::<Value>(&evidence.request_body)
        && mask(&mut body)
    {
        evidence.request_body = body.to_string();
    }
}

/// Masks secrets in a value; tells whether there were any.
fn mask(value: &mut Value) -> bool {
    match value {
        Value::Object(map) => mask_map(map),
        Value::Array(items) => items.iter_mut().fold(false, |any, item| mask(item) | any),
        Value::String(text) if looks_like_a_key(text) => {
            *text = HIDDEN.to_owned();
            true
        }
        _ => false,
    }
}

pub(super) fn mask_map(map: &mut Map<String, Value>) -> bool {
    let mut any = false;
    for (name, value) in map {
        if is_secret_name(name) && !matches!(value, Value::Null | Value::Bool(_)) {
            *value = Value::String(HIDDEN.to_owned());
            any = true;
        } else {
            any |= mask(value);
        }
    }
    any
}

/// Whether a word is the name of a command line's flag that takes a secret.
pub(super) fn is_secret_flag(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|name| !name.contains('=') && is_secret_name(name.trim_start_matches('-')))
}

/// A text without the secrets in it: values of flags and variables as they stand in a command line, URLs with a user part,
/// words with the shape of a key. `None` if there are none.
pub(super) fn text_without_secrets(text: &str) -> Option<String> {
    let mut flagged = false;
    let words: Vec<String> = text
        .split(' ')
        .map(|word| {
            let after_flag = std::mem::replace(&mut flagged, is_secret_flag(word)) && !word.is_empty();
            let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            match word.split_once('=') {
                _ if after_flag || looks_like_a_key(bare) => HIDDEN.to_owned(),
                Some((name, value)) if !value.is_empty() && is_secret_name(name.trim_start_matches('-')) => {
                    format!("{name}={HIDDEN}")
                }
                _ if word.contains("://") => url_without_secrets(word),
                _ => word.to_owned(),
            }
        })
        .collect();
    let clean = words.join(" ");
    (clean != text).then_some(clean)
}

/// A URL without its user part, and with the values of secret-looking query parameters hidden.
fn url_without_secrets(url: &str) -> String {
    let (base, query) = match url.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (url, None),
    };
    let mut out = match base.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => base.to_owned(),
    };
    if let Some(query) = query {
        let parts: Vec<String> = query
            .split('&')
            .map(|part| match part.split_once('=') {
                Some((name, value)) if is_secret_header(name) || looks_like_a_key(value) => format!("{name}={HIDDEN}"),
                _ => part.to_owned(),
            })
            .collect();
        out = format!("{out}?{}", parts.join("&"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_headers_are_hidden_and_others_are_kept() {
        let names = [
            ("Authorization", true),
            ("proxy-authorization", true),
            ("api-key", true),
            ("X-Api-Key", true),
            ("x-goog-api-key", true),
            ("apikey", true),
            ("Ocp-Apim-Subscription-Key", true),
            ("X-Auth-Token", true),
            ("Cookie", true),
            ("X-Client-Secret", true),
            ("Content-Type", false),
            ("X-Request-Id", false),
            ("X-SMG-Routing-Key-Policy", false),
        ];
        let config = RunConfig {
            extra_headers: names
                .iter()
                .map(|(n, _)| ((*n).to_owned(), "value".to_owned()))
                .collect(),
            ..RunConfig::default()
        };
        for ((name, value), (_, secret)) in without_secrets(&config).extra_headers.iter().zip(names) {
            assert_eq!(value == HIDDEN, secret, "{name}");
        }
    }

    #[test]
    fn secret_keys_of_the_body_are_hidden_at_any_depth_and_parameters_are_kept() {
        let Value::Object(extra_body) = serde_json::json!({
            "max_tokens": 5, "stop_token_ids": [1], "prompt_cache_key": "abc", "skip_special_tokens": true, "top_k": 3,
            "author": "me", "key": "x",
            "apiKey": "x", "nested": [{ "access_token": "x", "password": 12, "note": "Bearer abc" }],
            "other": "sk-0123456789abcdefghij",
        }) else {
            unreachable!()
        };
        let config = RunConfig {
            extra_body,
            ..RunConfig::default()
        };
        let masked = Value::Object(without_secrets(&config).extra_body);
        let wanted = serde_json::json!({
            "max_tokens": 5, "stop_token_ids": [1], "prompt_cache_key": "abc", "skip_special_tokens": true, "top_k": 3,
            "author": "me", "key": HIDDEN,
            "apiKey": HIDDEN, "nested": [{ "access_token": HIDDEN, "password": HIDDEN, "note": HIDDEN }],
            "other": HIDDEN,
        });
        assert_eq!(masked, wanted);
    }

    #[test]
    fn a_url_keeps_its_host_and_loses_its_secrets() {
        let cases = [
            ("http://127.0.0.1:30000", "http://127.0.0.1:30000"),
            ("https://me:pw@host/v1", "https://host/v1"),
            (
                "https://host/v1?api_key=abc&model=m",
                "https://host/v1?api_key=(hidden)&model=m",
            ),
            ("https://host?token=abc", "https://host?token=(hidden)"),
            ("simulated", "simulated"),
            ("", ""),
        ];
        for (url, shown) in cases {
            assert_eq!(url_without_secrets(url), shown);
        }
    }
}
