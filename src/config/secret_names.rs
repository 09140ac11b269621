//! What gives a secret away: names of headers and keys, shapes of values. Links and documents leave such values out.

/// Headers are stricter than body keys: whatever ends in `key` or `token` carries one.
pub fn is_secret_header(name: &str) -> bool {
    let words = words(name);
    is_secret_name(name)
        || words
            .last()
            .is_some_and(|last| last.ends_with("key") || last.ends_with("token"))
}

/// Whether a name says that its value is a secret. `max_tokens`, `stop_token` and `prompt_cache_key` are none.
pub fn is_secret_name(name: &str) -> bool {
    const ALONE: [&str; 12] = [
        "auth",
        "authorization",
        "authentication",
        "bearer",
        "cookie",
        "apikey",
        "credential",
        "credentials",
        "passphrase",
        "password",
        "passwd",
        "secret",
    ];
    const KEYS_OF: [&str; 8] = [
        "api",
        "access",
        "auth",
        "private",
        "secret",
        "subscription",
        "function",
        "functions",
    ];
    const TOKENS_OF: [&str; 10] = [
        "access", "api", "auth", "bearer", "csrf", "hf", "id", "refresh", "secret", "session",
    ];
    let words = words(name);
    let pair = |pair: &[String]| match pair[1].as_str() {
        "key" | "keys" => KEYS_OF.contains(&pair[0].as_str()),
        "token" => TOKENS_OF.contains(&pair[0].as_str()),
        _ => false,
    };
    words.iter().any(|w| ALONE.contains(&w.as_str()))
        || words.windows(2).any(pair)
        || matches!(&words[..], [only] if matches!(only.as_str(), "key" | "token"))
}

/// A name in words, in lower case: `X-Api-Key`, `x_api_key` and `xApiKey` are `x`, `api`, `key`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("never empty").extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    words.retain(|w| !w.is_empty());
    words
}

/// Whether a value has the shape of a well-known kind of key, whatever its name.
pub fn looks_like_a_key(value: &str) -> bool {
    const PREFIXES: [&str; 8] = ["sk-", "sk_", "pk_", "hf_", "gsk_", "xai-", "ghp_", "nvapi-"];
    let value = value.trim();
    let scheme = |scheme: &str| {
        value
            .get(..scheme.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    };
    let solid = value.len() >= 20 && value.bytes().all(|b| b.is_ascii_graphic());
    scheme("bearer ")
        || scheme("basic ") && !value[6..].contains(' ')
        || (solid && PREFIXES.iter().any(|p| value.starts_with(p)))
}
