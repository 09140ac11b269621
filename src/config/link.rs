//! The configuration as a URL query, so that a link reproduces the form. The API key is never in it.
//!
//! Only what differs from [`RunConfig::default`] is written; what is absent is the default.

use std::{borrow::Cow, fmt::Write as _, str::FromStr};

use form_urlencoded::Serializer;

use super::{
    Api, Endpoint, LanePolicy, RunConfig, TokenLimit,
    load::Arrival,
    secret_names::{is_secret_header, is_secret_name, looks_like_a_key},
};
use crate::demo::FaultShare;

/// Name of the simulated server in links and in the form.
pub const SIMULATED: &str = "simulated";

/// Names that a link may hold a key under by mistake; their values are dropped and this is said.
const SECRET_NAMES: [&str; 5] = ["key", "api_key", "apikey", "token", "authorization"];

/// The query string without `?`; empty for the default configuration.
///
/// Headers and body keys whose names look secret are left out: links are passed around.
pub fn to_query(config: &RunConfig) -> String {
    let base = RunConfig::default();
    let mut query = Serializer::new(String::new());
    let mut put = |name: &str, value: &str| {
        query.append_pair(name, value);
    };
    if let Endpoint::Http { base_url } = &config.endpoint {
        put("url", base_url);
    }
    if config.api != base.api {
        put("api", config.api.name());
    }
    if !config.model.is_empty() {
        put("model", &config.model);
    }
    if config.stream != base.stream {
        put("stream", flag(config.stream));
    }
    if config.ignore_eos != base.ignore_eos {
        put("ignore_eos", flag(config.ignore_eos));
    }
    if config.recount != base.recount {
        put("recount", flag(config.recount));
    }
    for (name, value, default) in [
        ("n", config.requests, base.requests),
        ("c", config.concurrency, base.concurrency),
        ("warmup", config.warmup, base.warmup),
        ("in", config.input_tokens, base.input_tokens),
        ("out", config.output_tokens, base.output_tokens),
        ("sim_batch", config.demo.batch_limit, base.demo.batch_limit),
    ] {
        if value != default {
            put(name, &value.to_string());
        }
    }
    if config.token_limit != base.token_limit {
        put("limit", config.token_limit.name());
    }
    let load = &config.load;
    if load.arrival != base.load.arrival {
        put("load", load.arrival.name());
    }
    if let Arrival::Gamma { burstiness } = load.arrival {
        put("burstiness", &burstiness.to_string());
    }
    if load.rate != base.load.rate {
        put("rate", &load.rate.to_string());
    }
    if load.capped != base.load.capped {
        put("capped", flag(load.capped));
    }
    if let Some(duration_s) = load.duration_s {
        put("for_s", &duration_s.to_string());
    }
    if load.grace_s != base.load.grace_s {
        put("grace_s", &load.grace_s.to_string());
    }
    if config.seed != base.seed {
        put("seed", &config.seed.to_string());
    }
    for (name, value, default) in [
        ("first_byte_s", config.timeouts.first_byte_s, base.timeouts.first_byte_s),
        ("stall_s", config.timeouts.stall_s, base.timeouts.stall_s),
        ("total_s", config.timeouts.total_s, base.timeouts.total_s),
        ("sim_ttft_ms", config.demo.ttft_ms, base.demo.ttft_ms),
        (
            "sim_prefill_ms",
            config.demo.prefill_ms_per_1k,
            base.demo.prefill_ms_per_1k,
        ),
        ("sim_itl_ms", config.demo.itl_ms, base.demo.itl_ms),
        ("sim_jitter", config.demo.jitter, base.demo.jitter),
        ("sim_slowdown", config.demo.load_slowdown, base.demo.load_slowdown),
        ("sim_reasoning", config.demo.reasoning_share, base.demo.reasoning_share),
    ] {
        if value != default {
            put(name, &value.to_string());
        }
    }
    for (name, limit) in [
        ("slo_ttft_ms", config.slo.ttft_ms),
        ("slo_tpot_ms", config.slo.tpot_ms),
        ("slo_e2e_ms", config.slo.e2e_ms),
    ] {
        if let Some(limit) = limit {
            put(name, &limit.to_string());
        }
    }
    for (name, value) in config.server_side.to_pairs() {
        put(name, flag(value));
    }
    for (name, value) in config.workload.to_pairs().into_iter().chain(config.series.to_pairs()) {
        put(name, &value);
    }
    if !config.demo.faults.is_empty() {
        put("sim_faults", &FaultShare::format_list(&config.demo.faults));
    }
    match &config.lanes {
        LanePolicy::Auto => {}
        LanePolicy::Single => put("lanes", "single"),
        LanePolicy::List { base_urls } => base_urls.iter().for_each(|url| put("lane", url)),
    }
    if let Some(streams) = config.streams_per_lane {
        put("streams_per_lane", &streams.to_string());
    }
    let body: serde_json::Map<_, _> = config
        .extra_body
        .iter()
        .filter(|(name, value)| !is_secret_name(name) && !value.as_str().is_some_and(looks_like_a_key))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !body.is_empty() {
        put("body", &serde_json::Value::Object(body).to_string());
    }
    for (name, value) in config
        .extra_headers
        .iter()
        .filter(|(name, value)| !is_secret_header(name) && !looks_like_a_key(value))
    {
        put("header", &format!("{name}: {value}"));
    }
    query.finish()
}

/// Reads a query string, with or without its `?`. What is not understood keeps its default and is told in a
/// sentence each, never silently dropped.
pub fn from_query(query: &str) -> (RunConfig, Vec<String>) {
    let mut config = RunConfig::default();
    let mut notes = Vec::new();
    let mut lanes = Vec::new();
    let mut burstiness = None;
    let mut unknown: Vec<Cow<'_, str>> = Vec::new();
    for (name, value) in form_urlencoded::parse(query.trim_start_matches('?').as_bytes()) {
        let value = value.trim();
        let understood = match &*name {
            "url" if value == SIMULATED || value.is_empty() => {
                config.endpoint = Endpoint::Simulated;
                Ok(())
            }
            "url" => {
                config.endpoint = Endpoint::Http {
                    base_url: value.to_owned(),
                };
                Ok(())
            }
            "api" => Api::from_name(value)
                .map(|api| config.api = api)
                .ok_or("chat, completions or generate"),
            "model" => {
                config.model = value.to_owned();
                Ok(())
            }
            "stream" => read_flag(value, &mut config.stream),
            "ignore_eos" => read_flag(value, &mut config.ignore_eos),
            "recount" => read_flag(value, &mut config.recount),
            "n" => number(value, &mut config.requests),
            "c" => number(value, &mut config.concurrency),
            "warmup" => number(value, &mut config.warmup),
            "in" => number(value, &mut config.input_tokens),
            "out" => number(value, &mut config.output_tokens),
            "limit" => TokenLimit::from_name(value)
                .map(|limit| config.token_limit = limit)
                .ok_or("auto, max_tokens or max_completion_tokens"),
            "load" => Arrival::from_name(value, burstiness.unwrap_or(1.0))
                .map(|arrival| config.load.arrival = arrival)
                .ok_or("closed, poisson, constant, gamma or trace"),
            "burstiness" => {
                let mut shape = 0.0;
                positive(value, &mut shape).map(|()| burstiness = Some(shape))
            }
            "rate" => value.parse().map(|rate| config.load.rate = rate),
            "capped" => read_flag(value, &mut config.load.capped),
            "for_s" => {
                let mut duration_s = 0.0;
                positive(value, &mut duration_s).map(|()| config.load.duration_s = Some(duration_s))
            }
            "grace_s" => amount(value, &mut config.load.grace_s),
            "seed" => number(value, &mut config.seed),
            "first_byte_s" => amount(value, &mut config.timeouts.first_byte_s),
            "stall_s" => amount(value, &mut config.timeouts.stall_s),
            "total_s" => amount(value, &mut config.timeouts.total_s),
            "slo_ttft_ms" => limit(value, &mut config.slo.ttft_ms),
            "slo_tpot_ms" => limit(value, &mut config.slo.tpot_ms),
            "slo_e2e_ms" => limit(value, &mut config.slo.e2e_ms),
            "sim_batch" => number(value, &mut config.demo.batch_limit),
            "sim_ttft_ms" => amount(value, &mut config.demo.ttft_ms),
            "sim_prefill_ms" => amount(value, &mut config.demo.prefill_ms_per_1k),
            "sim_itl_ms" => amount(value, &mut config.demo.itl_ms),
            "sim_jitter" => amount(value, &mut config.demo.jitter),
            "sim_slowdown" => amount(value, &mut config.demo.load_slowdown),
            "sim_reasoning" => amount(value, &mut config.demo.reasoning_share),
            "sim_faults" => match FaultShare::parse_list(value) {
                Ok(faults) => {
                    config.demo.faults = faults;
                    Ok(())
                }
                Err(message) => {
                    notes.push(format!("The link's sim_faults was left out: {message}"));
                    continue;
                }
            },
            "lanes" if value == "single" => {
                config.lanes = LanePolicy::Single;
                Ok(())
            }
            "lanes" if value == "auto" => Ok(()),
            "lanes" => Err("auto or single"),
            "streams_per_lane" => {
                let mut streams = 0;
                number(value, &mut streams).map(|()| config.streams_per_lane = Some(streams))
            }
            "lane" => {
                lanes.push(value.to_owned());
                Ok(())
            }
            "body" => match serde_json::from_str(value) {
                Ok(serde_json::Value::Object(body)) => {
                    config.extra_body = body;
                    Ok(())
                }
                _ => Err("a JSON object"),
            },
            "header" => match split_header(value) {
                Some(header) => {
                    config.extra_headers.push(header);
                    Ok(())
                }
                None => Err("Name: value"),
            },
            other if SECRET_NAMES.contains(&other.to_ascii_lowercase().as_str()) => {
                notes.push(format!(
                    "The link holds a \"{other}\". It was not used, because keys do not belong in links: \
                     anybody who gets the link has it. Type the key into its field."
                ));
                continue;
            }
            other => match config
                .server_side
                .named(other)
                .map(|target| read_flag(value, target))
                .or_else(|| config.workload.take_pair(other, value))
                .or_else(|| config.series.take_pair(other, value))
            {
                Some(understood) => understood,
                None => {
                    if !unknown.contains(&name) {
                        unknown.push(name);
                    }
                    continue;
                }
            },
        };
        if let Err(expected) = understood {
            notes.push(format!(
                "The link's {name} is \"{}\", but should be {expected}. The default is used.",
                shorten(value)
            ));
        }
    }
    let secret_header = config
        .extra_headers
        .iter()
        .find(|(name, value)| is_secret_header(name) || looks_like_a_key(value));
    let secret_key = config
        .extra_body
        .iter()
        .find(|(name, value)| is_secret_name(name) || value.as_str().is_some_and(looks_like_a_key));
    if let Some(name) = secret_header.map(|(name, _)| name).or(secret_key.map(|(name, _)| name)) {
        notes.push(format!(
            "The link holds a secret (\"{}\"). It is used for this visit and then left out of the URL; anybody who has the link \
             has the secret.",
            shorten(name)
        ));
    }
    if !unknown.is_empty() {
        let shown: Vec<String> = unknown
            .iter()
            .take(5)
            .map(|name| format!("\"{}\"", shorten(name)))
            .collect();
        let more = unknown.len() - shown.len();
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        notes.push(format!(
            "The link holds what is unknown here and was left out: {}{more}.",
            shown.join(", ")
        ));
    }
    if let (Arrival::Gamma { burstiness: shape }, Some(told)) = (&mut config.load.arrival, burstiness) {
        *shape = told;
    }
    if !lanes.is_empty() {
        config.lanes = LanePolicy::List { base_urls: lanes };
    }
    (config, notes)
}

/// Splits `Name: value`; `None` if there is no name.
pub fn split_header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

fn flag(on: bool) -> &'static str {
    if on { "1" } else { "0" }
}

fn read_flag(value: &str, target: &mut bool) -> Result<(), &'static str> {
    *target = match value {
        "1" | "true" | "yes" | "on" => true,
        "0" | "false" | "no" | "off" => false,
        _ => return Err("1 or 0"),
    };
    Ok(())
}

fn number<T: FromStr>(value: &str, target: &mut T) -> Result<(), &'static str> {
    *target = value.parse().map_err(|_| "a whole number")?;
    Ok(())
}

fn amount(value: &str, target: &mut f64) -> Result<(), &'static str> {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => {
            *target = number;
            Ok(())
        }
        _ => Err("a number, 0 or more"),
    }
}

fn positive(value: &str, target: &mut f64) -> Result<(), &'static str> {
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => {
            *target = number;
            Ok(())
        }
        _ => Err("a number above 0"),
    }
}

fn limit(value: &str, target: &mut Option<f64>) -> Result<(), &'static str> {
    let mut ms = 0.0;
    positive(value, &mut ms).map(|()| *target = Some(ms))
}

fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        None => text.into(),
        Some((end, _)) => {
            let mut short = text[..end].to_owned();
            let _ = write!(short, "…");
            short.into()
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{config::Timeouts, demo::FaultKind};

    /// Every field other than its default.
    pub(crate) fn unusual() -> RunConfig {
        let mut config = RunConfig {
            endpoint: Endpoint::Http {
                base_url: "http://127.0.0.1:30000/v1?x=a&b".into(),
            },
            api: Api::Completions,
            model: "org/model name+1".into(),
            stream: false,
            requests: 7,
            concurrency: 3,
            warmup: 0,
            input_tokens: 9,
            output_tokens: 11,
            token_limit: TokenLimit::MaxTokens,
            ignore_eos: false,
            recount: true,
            seed: u64::MAX,
            timeouts: Timeouts {
                first_byte_s: 1.5,
                stall_s: 0.25,
                total_s: 0.0,
            },
            extra_headers: vec![("X-Route".into(), "a: b".into())],
            lanes: LanePolicy::List {
                base_urls: vec!["http://a:1".into(), "http://b:1".into()],
            },
            ..RunConfig::default()
        };
        config.streams_per_lane = Some(100);
        config.load = crate::config::load::Load {
            arrival: Arrival::Gamma { burstiness: 0.25 },
            rate: "stages:5x30,0x5,10.5x30".parse().unwrap(),
            capped: true,
            duration_s: Some(12.5),
            grace_s: 3.0,
        };
        config.slo = crate::config::slo::Slo {
            ttft_ms: Some(250.5),
            tpot_ms: None,
            e2e_ms: Some(3000.0),
        };
        config.workload = crate::config::workload::tests::unusual();
        config.series = crate::config::series::tests::unusual();
        config.server_side = crate::config::server_side::ServerSide {
            flush_cache: true,
            keep_details: true,
            watch: false,
        };
        config.extra_body.insert("top_p".into(), serde_json::json!(0.5));
        config.demo.batch_limit = 2;
        config.demo.itl_ms = 0.5;
        config.demo.faults = vec![FaultShare {
            kind: FaultKind::Cut,
            share: 0.125,
        }];
        config
    }

    #[test]
    fn a_link_reproduces_the_form() {
        let config = unusual();
        assert_eq!(from_query(&to_query(&config)), (config, vec![]));
    }

    #[test]
    fn the_default_needs_no_query() {
        assert_eq!(to_query(&RunConfig::default()), "");
        assert_eq!(from_query("").0, RunConfig::default());
    }

    #[test]
    fn credentials_never_enter_a_link() {
        let mut config = RunConfig {
            extra_headers: vec![
                ("Authorization".into(), "Bearer s3cret".into()),
                ("X-API-Key".into(), "s3cret".into()),
            ],
            ..RunConfig::default()
        };
        config.extra_body.insert("access_token".into(), "s3cret".into());
        config.extra_body.insert("max_tokens".into(), 5.into());
        let query = to_query(&config);
        assert!(!query.contains("s3cret"), "{query}");
        assert!(query.contains("max_tokens"), "{query}");
    }

    #[test]
    fn what_a_link_gets_wrong_is_said_and_the_rest_is_kept() {
        let (config, notes) =
            from_query("?n=ten&c=4&api=telepathy&colour=blue&body=[1]&key=abc&stall_s=-1&sim_faults=nope=1");
        assert_eq!(
            config,
            RunConfig {
                concurrency: 4,
                ..RunConfig::default()
            }
        );
        assert_eq!(notes.len(), 7, "{notes:#?}");
        assert!(!notes.join(" ").contains("abc"));
    }
}
