//! Where a request goes.

use crate::config::Api;

/// Path of an API below the server's root.
pub fn api_path(api: Api) -> &'static str {
    match api {
        Api::Chat => "/v1/chat/completions",
        Api::Completions => "/v1/completions",
        Api::Generate => "/generate",
    }
}

/// URL of an API, from a base URL as people type it.
pub fn api_url(base: &str, api: Api) -> String {
    join_url(base, api_path(api))
}

/// Joins a base URL and a path (`/v1/models`, `/generate`).
///
/// The base may end with slashes, with `/v1`, with another version (`/api/v3`, `/v1beta/openai`), with the whole path of
/// an API, and may have a query, which is kept. A path outside `/v1` goes below the base without its version.
pub fn join_url(base: &str, path: &str) -> String {
    let base = base.trim();
    let base = base.split_once('#').map_or(base, |(before, _)| before);
    let (base, query) = base.split_once('?').map_or((base, ""), |(base, query)| (base, query));
    let mut base = base.trim_end_matches('/');
    for api in [Api::Chat, Api::Completions, Api::Generate] {
        let tail = api_path(api).trim_start_matches("/v1");
        if let Some(root) = base.strip_suffix(tail) {
            base = root.trim_end_matches('/');
            break;
        }
    }
    let after_version = path.strip_prefix("/v1");
    let joined = match (version_root(base), after_version) {
        (Some(_), Some(rest)) => format!("{base}{rest}"),
        (Some(root), None) => format!("{root}{path}"),
        (None, _) => format!("{base}{path}"),
    };
    if query.is_empty() {
        joined
    } else {
        format!("{joined}?{query}")
    }
}

/// What stands before the version if the base ends with one.
fn version_root(base: &str) -> Option<&str> {
    let versioned = match base.strip_suffix("/openai") {
        Some(inner) if version_root(inner).is_some() => inner,
        _ => base,
    };
    let (root, last) = versioned.rsplit_once('/')?;
    let digits = last.strip_prefix('v')?;
    let is_version =
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.bytes().all(|b| b.is_ascii_alphanumeric());
    // `http://v1` is a host, not a version.
    (is_version && !root.ends_with('/')).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_understood_as_people_type_it() {
        let chat = |base| api_url(base, Api::Chat);
        for base in [
            "http://h:1",
            "http://h:1/",
            " http://h:1/v1 ",
            "http://h:1/v1//",
            "http://h:1/v1/chat/completions",
            "http://h:1/#x",
        ] {
            assert_eq!(chat(base), "http://h:1/v1/chat/completions", "{base:?}");
        }
        assert_eq!(chat("http://h/proxy/v1/"), "http://h/proxy/v1/chat/completions");
        assert_eq!(chat("http://h/proxy"), "http://h/proxy/v1/chat/completions");
        assert_eq!(chat("http://h/api/v3"), "http://h/api/v3/chat/completions");
        assert_eq!(
            chat("http://h/v1beta/openai/"),
            "http://h/v1beta/openai/chat/completions"
        );
        assert_eq!(
            chat("http://h/v1?api-version=2"),
            "http://h/v1/chat/completions?api-version=2"
        );
        assert_eq!(chat("http://v1"), "http://v1/v1/chat/completions");
    }

    #[test]
    fn a_path_outside_the_version_goes_beside_it() {
        assert_eq!(api_url("http://h/proxy/v1", Api::Generate), "http://h/proxy/generate");
        assert_eq!(api_url("http://h/generate", Api::Generate), "http://h/generate");
        assert_eq!(join_url("http://h/v1/completions", "/v1/models"), "http://h/v1/models");
        assert_eq!(join_url("http://h/v1", "/model_info"), "http://h/model_info");
        assert_eq!(join_url("", "/v1/models"), "/v1/models");
    }
}
