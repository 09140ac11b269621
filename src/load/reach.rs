//! *Check connection*: from what the browser let the page see to what is likely wrong, and what to do.

use serde_json::Value;

use super::lanes::{host, is_loopback, is_private};

/// What came of one fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// An answer that the page may read.
    Answer {
        /// HTTP status.
        status: u16,
        /// Its body.
        body: String,
    },
    /// Rejected; a browser does not say why.
    Rejected,
    /// No answer in time.
    Silent,
}

/// What came of a request whose answer the page may not read: it shows whether anything is there at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// Something answered.
    Answered,
    /// The browser gave it up.
    Rejected {
        /// After how long. A port on which nothing listens turns a connection down within a round trip; a machine that
        /// is off, a wrong address or a firewall shows only when the system loses patience.
        after_ms: f64,
    },
    /// No answer in time.
    Silent,
}

/// A rejection quicker than this came from the other machine, from the browser, or from a name server, not from patience
/// that ran out. (Windows tries a refused connection again for two seconds.)
const TURNED_DOWN_MS: f64 = 2_500.0;
/// A request that was rejected later than this had been on its way: something ended it.
const HELD_MS: f64 = 5_000.0;

/// What the time to its rejection says about a request of a run; empty if nothing.
pub fn held(after_ms: f64) -> String {
    if after_ms < HELD_MS {
        return String::new();
    }
    format!(
        " This request was cut off after {}: likely a time limit of the server or of a proxy before it.",
        crate::report::format::wait(after_ms / 1000.0)
    )
}

/// What the page saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The base URL.
    pub base_url: String,
    /// The page's origin.
    pub page_origin: String,
    /// Whether a key was sent.
    pub with_key: bool,
    /// The model that will be asked; may be empty.
    pub model: String,
    /// `GET /v1/models` with the key.
    pub models: Fetched,
    /// A request whose answer the page may not read; not tried if `models` was answered.
    pub touched: Option<Touch>,
    /// `GET /health` without a key could be read; not tried if `models` was answered.
    pub open_path_readable: Option<bool>,
}

/// What it comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whether a run can be expected to work.
    pub works: bool,
    /// What happened and the likely cause.
    pub words: String,
    /// What to do; empty if nothing.
    pub advice: String,
    /// Models the server lists.
    pub models: Vec<String>,
}

/// Whether SGLang answered: only it is known to tell of its settings and its load.
pub fn told_by_sglang(models: &Fetched) -> bool {
    let Fetched::Answer { status: 200, body } = models else {
        return false;
    };
    let list: Value = serde_json::from_str(body).unwrap_or_default();
    list["data"]
        .as_array()
        .is_some_and(|models| models.iter().any(|model| model["owned_by"] == "sglang"))
}

/// Judges what was seen.
pub fn judge(seen: &Seen) -> Finding {
    match &seen.models {
        Fetched::Answer { status, body } => answered(seen, *status, body),
        Fetched::Silent => wrong(
            format!(
                "{} took the connection, but did not answer within the limit.",
                seen.base_url
            ),
            "The server may still be loading its model. Wait, then check again.".into(),
        ),
        Fetched::Rejected => rejected(seen),
    }
}

fn wrong(words: String, advice: String) -> Finding {
    Finding {
        works: false,
        words,
        advice,
        models: Vec::new(),
    }
}

fn answered(seen: &Seen, status: u16, body: &str) -> Finding {
    match status {
        401 | 403 => wrong(
            format!("The server refused the key ({status})."),
            if seen.with_key {
                "Check the API key."
            } else {
                "This server wants an API key: type it above."
            }
            .into(),
        ),
        200..=299 => match listed(body) {
            Some(listed) => with_models(seen, listed),
            None => wrong(
                "Something answers there, but not as an OpenAI-compatible server: /v1/models gave no list of models."
                    .into(),
                "Check the port and the path. The base URL is what stands before /v1, such as http://localhost:30000."
                    .into(),
            ),
        },
        404 | 405 => wrong(
            format!(
                "There is no /v1/models at this address ({status}), so this is likely no OpenAI-compatible server, or the path is wrong."
            ),
            "The base URL is what stands before /v1, such as http://localhost:30000.".into(),
        ),
        _ => {
            let told = crate::protocol::describe_http_error(status, body.as_bytes());
            wrong(
                format!(
                    "The server answers, but with an error: {}.",
                    told.message.trim_end_matches('.')
                ),
                "Look at the server's log; if it is still starting, wait and check again.".into(),
            )
        }
    }
}

/// What `/v1/models` tells.
struct Listed {
    /// Names of the models.
    models: Vec<String>,
    /// Their longest contexts in tokens, where told, in the same order.
    contexts: Vec<Option<u64>>,
    /// What kind of server says to own them (`sglang`, `vllm` …; empty if it does not say).
    kind: String,
}

fn listed(body: &str) -> Option<Listed> {
    let list: Value = serde_json::from_str(body).ok()?;
    let list = list["data"].as_array()?;
    let kind = list.first().and_then(|model| model["owned_by"].as_str());
    let (models, contexts) = list
        .iter()
        .filter_map(|model| Some((model["id"].as_str()?.to_owned(), model["max_model_len"].as_u64())))
        .unzip();
    Some(Listed {
        models,
        contexts,
        kind: kind.unwrap_or_default().to_owned(),
    })
}

fn with_models(seen: &Seen, listed: Listed) -> Finding {
    let Listed { models, contexts, kind } = listed;
    let server = if kind.is_empty() {
        "The server".to_owned()
    } else {
        format!("The server ({kind})")
    };
    let unknown = !seen.model.is_empty() && !models.is_empty() && !models.contains(&seen.model);
    let names = models.join(", ");
    if unknown {
        return Finding {
            works: false,
            words: format!(
                "The server works, but does not list the model \"{}\". It lists: {names}.",
                seen.model
            ),
            advice: "Pick one of these. (SGLang answers under any name, other servers refuse unknown ones.)".into(),
            models,
        };
    }
    let words = match models.len() {
        0 => format!("Listing models works. {server} lists no models; type the name it expects."),
        1 => {
            let context = contexts[0].map_or_else(String::new, |tokens| {
                format!(", with a context of {} tokens", crate::report::format::count(tokens))
            });
            format!("Listing models works. {server} has the model {names}{context}.")
        }
        n => format!("Listing models works. {server} has {n} models: {names}."),
    };
    Finding {
        works: true,
        words,
        advice: String::new(),
        models,
    }
}

fn rejected(seen: &Seen) -> Finding {
    let plain_http = seen.base_url.to_ascii_lowercase().starts_with("http:");
    let url = &seen.base_url;
    let page_is_https = seen.page_origin.starts_with("https:");
    if page_is_https && plain_http && !is_loopback(url) {
        return wrong(
            format!("The browser blocked this: a page that came over https may not ask {url} over http (mixed content)."),
            "Reach the server through a tunnel on this machine (ssh -L 30000:localhost:30000 HOST, then http://localhost:30000), \
             serve this page over http, or give the server a certificate."
                .into(),
        );
    }
    let private = |url: &str| host(url).is_some_and(|host| is_private(&host));
    let turned_down = matches!(seen.touched, Some(Touch::Rejected { after_ms }) if after_ms < TURNED_DOWN_MS);
    if turned_down && private(url) && !private(&seen.page_origin) {
        return wrong(
            format!(
                "Nothing could be reached at {url}. This page comes from the public network, and browsers ask before such a page \
                 may reach this machine or the local network: likely that was not allowed. Or the server is not running."
            ),
            "Allow this page access to the local network (in the browser's settings for this site), or serve the page from \
             localhost with script/server."
                .into(),
        );
    }
    match (seen.touched, seen.open_path_readable) {
        (_, Some(true)) => wrong(
            "The server is there and lets this page read its open paths, but not the answer to this request. Likely the key is \
             wrong or missing: SGLang sends its 401 without CORS headers, so that a browser shows only a failure."
                .into(),
            if seen.with_key { "Check the API key." } else { "Type the API key above." }.into(),
        ),
        (Some(Touch::Answered), _) => wrong(
            format!("Something answers at {url}, but the browser may not read it: likely it sends no CORS headers for {}.", seen.page_origin),
            "SGLang allows all origins by itself (its embedded Rust server does not). vLLM: --allowed-origins '[\"*\"]'. \
             Ollama: OLLAMA_ORIGINS=*. Or put a proxy in front that adds Access-Control-Allow-Origin."
                .into(),
        ),
        (Some(Touch::Silent), _) => wrong(
            format!("{url} did not answer within the limit: likely a firewall swallows the packets, the address is wrong, or the server hangs."),
            "Check the address and the firewall; look at the server's log.".into(),
        ),
        (Some(Touch::Rejected { after_ms }), _) if after_ms >= TURNED_DOWN_MS => wrong(
            format!(
                "{url} could not be reached; the attempt failed only after {}: likely the machine is off, the address is wrong, or \
                 a firewall swallows the packets.",
                crate::report::format::wait(after_ms / 1000.0)
            ),
            "Check the address and the firewall. Through a machine that reaches it: ssh -L 30000:localhost:30000 HOST.".into(),
        ),
        _ => wrong(
            format!(
                "Nothing answers at {url}: the attempt was turned down at once, so likely the server is not running, the port is \
                 wrong, or its name is unknown."
            ),
            if is_loopback(url) {
                "Start the server, and check the port. If it runs on another machine: ssh -L 30000:localhost:30000 HOST."
            } else {
                "Check host and port. A server that listens on 127.0.0.1 alone is reached by: ssh -L 30000:localhost:30000 HOST, \
                 then http://localhost:30000."
            }
            .into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(models: Fetched) -> Seen {
        Seen {
            base_url: "http://localhost:30000".into(),
            page_origin: "http://localhost:8080".into(),
            with_key: false,
            model: String::new(),
            models,
            touched: None,
            open_path_readable: None,
        }
    }

    fn answer(status: u16, body: &str) -> Fetched {
        Fetched::Answer {
            status,
            body: body.into(),
        }
    }

    const AT_ONCE: Touch = Touch::Rejected { after_ms: 4.0 };

    const LIST: &str = r#"{"object":"list","data":[{"id":"tiny"},{"id":"big"}]}"#;

    #[test]
    fn a_list_of_models_works_and_an_unlisted_model_is_named_with_those_there_are() {
        let finding = judge(&seen(answer(200, LIST)));
        assert!(finding.works && finding.models == ["tiny", "big"], "{finding:?}");
        let finding = judge(&Seen {
            model: "huge".into(),
            ..seen(answer(200, LIST))
        });
        assert!(
            !finding.works && finding.words.contains("huge") && finding.words.contains("tiny, big"),
            "{finding:?}"
        );
    }

    #[test]
    fn the_context_of_the_one_model_is_told_where_the_server_tells_it() {
        let told = |body: &str| judge(&seen(answer(200, body))).words;
        assert_eq!(
            told(r#"{"data":[{"id":"tiny","owned_by":"sglang","max_model_len":32768}]}"#),
            "Listing models works. The server (sglang) has the model tiny, with a context of 32,768 tokens."
        );
        assert_eq!(
            told(r#"{"data":[{"id":"tiny"}]}"#),
            "Listing models works. The server has the model tiny."
        );
    }

    #[test]
    fn each_cause_has_its_words() {
        let blind = |touched, open| Seen {
            touched: Some(if touched { Touch::Answered } else { AT_ONCE }),
            open_path_readable: Some(open),
            ..seen(Fetched::Rejected)
        };
        for (seen, words, advice) in [
            (seen(answer(401, "{}")), "refused the key", "type it above"),
            (
                seen(answer(200, "<html>")),
                "not as an OpenAI-compatible server",
                "before /v1",
            ),
            (
                seen(answer(404, "{}")),
                "likely no OpenAI-compatible server",
                "before /v1",
            ),
            (
                seen(answer(503, "{\"message\":\"loading\"}")),
                "HTTP 503: loading",
                "wait",
            ),
            (seen(Fetched::Silent), "did not answer", "Wait"),
            (blind(false, false), "Nothing answers", "Start the server"),
            (blind(true, false), "no CORS headers", "--allowed-origins"),
            (blind(true, true), "Likely the key is wrong", "API key"),
            (
                Seen {
                    page_origin: "https://tool.example".into(),
                    base_url: "http://gpu:1".into(),
                    ..blind(false, false)
                },
                "mixed content",
                "ssh -L",
            ),
        ] {
            let finding = judge(&seen);
            assert!(
                !finding.works && finding.words.contains(words) && finding.advice.contains(advice),
                "{finding:?}"
            );
        }
    }

    #[test]
    fn a_public_page_that_cannot_reach_this_machine_is_told_of_the_permission() {
        let finding = judge(&Seen {
            page_origin: "https://tool.example".into(),
            touched: Some(AT_ONCE),
            ..seen(Fetched::Rejected)
        });
        assert!(finding.words.contains("browsers ask before"), "{finding:?}");
    }

    #[test]
    fn localhost_from_an_https_page_is_no_mixed_content() {
        let finding = judge(&Seen {
            page_origin: "https://localhost:8080".into(),
            touched: Some(AT_ONCE),
            ..seen(Fetched::Rejected)
        });
        assert!(finding.words.contains("Nothing answers"), "{finding:?}");
    }

    #[test]
    fn the_time_to_failure_tells_a_closed_port_from_packets_that_are_lost() {
        let told = |touched| {
            let seen = Seen {
                base_url: "http://10.0.0.7:30000".into(),
                touched: Some(touched),
                open_path_readable: Some(false),
                ..seen(Fetched::Rejected)
            };
            judge(&seen).words
        };
        assert!(told(AT_ONCE).contains("not running"), "{}", told(AT_ONCE));
        let late = told(Touch::Rejected { after_ms: 21_000.0 });
        assert!(late.contains("21") && late.contains("firewall"), "{late}");
        let silent = told(Touch::Silent);
        assert!(
            silent.contains("within the limit") && !silent.contains("CORS"),
            "{silent}"
        );
    }

    #[test]
    fn only_a_request_that_was_held_is_told_of_a_time_limit() {
        assert_eq!(held(40.0), "");
        assert!(held(60_000.0).contains("time limit"), "{}", held(60_000.0));
    }
}
