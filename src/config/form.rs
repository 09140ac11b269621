//! The setup form as text, and what it takes for the text to become a [`RunConfig`].

use std::str::FromStr;

use super::{
    Api, Endpoint, LanePolicy, RunConfig, Timeouts, TokenLimit, link,
    load::{Arrival, Load, MAX_DURATION_S, Rate},
    series::{SeriesConfig, SeriesDraft},
    server_side::ServerSide,
    slo::Slo,
    workload::{Kind, WorkloadDraft},
};
use crate::{
    demo::{DemoConfig, FaultShare},
    load::lanes,
};

/// Most measured requests of one run: every record stays in the tab's memory.
pub const MAX_REQUESTS: u32 = 100_000;
/// Most requests in flight: a renderer process rejects fetches past 1,350, and a browser has at most about 250 sockets.
pub const MAX_CONCURRENCY: u32 = 1_000;

/// The fields of the form, as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Whether the simulated server is chosen; then `base_url` is kept but not used.
    pub simulated: bool,
    /// Base URL.
    pub base_url: String,
    /// API.
    pub api: Api,
    /// Model name.
    pub model: String,
    /// Streamed answers.
    pub stream: bool,
    /// Go on past the end of the sequence.
    pub ignore_eos: bool,
    /// Count answers again after the run.
    pub recount: bool,
    /// What is done to the server besides.
    pub server_side: ServerSide,
    /// Measured requests.
    pub requests: String,
    /// Requests in flight.
    pub concurrency: String,
    /// Name of the arrival process.
    pub arrival: String,
    /// Burstiness, for gamma arrivals.
    pub burstiness: String,
    /// Rate, as [`super::load::Rate`] is written.
    pub rate: String,
    /// Whether the concurrency caps an open loop.
    pub capped: bool,
    /// Whether the run ends by time.
    pub timed: bool,
    /// Its duration, s.
    pub duration_s: String,
    /// Grace after it, s.
    pub grace_s: String,
    /// Warm-up requests.
    pub warmup: String,
    /// Prompt length, tokens.
    pub input_tokens: String,
    /// Longest answer, tokens.
    pub output_tokens: String,
    /// Key of the longest answer's length.
    pub token_limit: TokenLimit,
    /// Seed.
    pub seed: String,
    /// First-byte time-out, s.
    pub first_byte_s: String,
    /// Stall time-out, s.
    pub stall_s: String,
    /// Total time-out, s.
    pub total_s: String,
    /// JSON object merged into request bodies.
    pub extra_body: String,
    /// Headers, one `Name: value` a line.
    pub extra_headers: String,
    /// Whether further names of a loopback server are used by themselves.
    pub auto_lanes: bool,
    /// Further base URLs, one a line; if there are any, they are used instead of the automatic ones.
    pub lanes: String,
    /// Requests on the wire per base URL; empty for automatic.
    pub streams_per_lane: String,
    /// Objective for TTFT, ms; empty for none.
    pub slo_ttft_ms: String,
    /// Objective for TPOT, ms; empty for none.
    pub slo_tpot_ms: String,
    /// Objective for E2E, ms; empty for none.
    pub slo_e2e_ms: String,
    /// What the prompts are made of.
    pub workload: WorkloadDraft,
    /// One run or several.
    pub series: SeriesDraft,
    /// Simulated server: time to first token, ms.
    pub sim_ttft_ms: String,
    /// Simulated server: added per 1,000 prompt tokens, ms.
    pub sim_prefill_ms: String,
    /// Simulated server: time between tokens, ms.
    pub sim_itl_ms: String,
    /// Simulated server: relative spread.
    pub sim_jitter: String,
    /// Simulated server: slow-down by a full batch.
    pub sim_slowdown: String,
    /// Simulated server: requests at a time.
    pub sim_batch: String,
    /// Simulated server: share of reasoning.
    pub sim_reasoning: String,
    /// Simulated server: faults, as `http_503=0.02, cut=0.01`.
    pub sim_faults: String,
}

/// A field of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the field of the same name in `Draft`")]
pub enum Field {
    BaseUrl,
    Api,
    Model,
    Requests,
    Concurrency,
    Burstiness,
    Rate,
    Duration,
    Grace,
    Warmup,
    InputTokens,
    OutputTokens,
    Seed,
    FirstByte,
    Stall,
    Total,
    ExtraBody,
    ExtraHeaders,
    Lanes,
    StreamsPerLane,
    SloTtft,
    SloTpot,
    SloE2e,
    RangeRatio,
    TokenIds,
    Groups,
    SystemTokens,
    ZipfAlpha,
    TypedPrompt,
    WorkloadFile,
    ContextTokens,
    Turns,
    TraceSpeed,
    TraceStart,
    TraceEnd,
    SeriesLoads,
    SeriesAttainment,
    SeriesUrl,
    SeriesRounds,
    SeriesPause,
    SimTtft,
    SimPrefill,
    SimItl,
    SimJitter,
    SimSlowdown,
    SimBatch,
    SimReasoning,
    SimFaults,
}

/// What is wrong with a field and what would be right, for the person who typed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field.
    pub field: Field,
    /// One sentence.
    pub message: String,
}

impl From<&RunConfig> for Draft {
    fn from(config: &RunConfig) -> Self {
        let (simulated, base_url) = match &config.endpoint {
            Endpoint::Simulated => (true, String::new()),
            Endpoint::Http { base_url } => (false, base_url.clone()),
        };
        let (auto_lanes, lanes) = match &config.lanes {
            LanePolicy::Auto => (true, String::new()),
            LanePolicy::Single => (false, String::new()),
            LanePolicy::List { base_urls } => (false, base_urls.join("\n")),
        };
        Self {
            simulated,
            base_url,
            api: config.api,
            model: config.model.clone(),
            stream: config.stream,
            ignore_eos: config.ignore_eos,
            recount: config.recount,
            server_side: config.server_side.clone(),
            requests: config.requests.to_string(),
            concurrency: config.concurrency.to_string(),
            arrival: config.load.arrival.name().to_owned(),
            burstiness: match config.load.arrival {
                Arrival::Gamma { burstiness } => burstiness.to_string(),
                _ => "0.5".to_owned(),
            },
            rate: config.load.rate.to_string(),
            capped: config.load.capped,
            timed: config.load.duration_s.is_some(),
            duration_s: config.load.duration_s.unwrap_or(60.0).to_string(),
            grace_s: config.load.grace_s.to_string(),
            warmup: config.warmup.to_string(),
            input_tokens: config.input_tokens.to_string(),
            output_tokens: config.output_tokens.to_string(),
            token_limit: config.token_limit,
            seed: config.seed.to_string(),
            first_byte_s: config.timeouts.first_byte_s.to_string(),
            stall_s: config.timeouts.stall_s.to_string(),
            total_s: config.timeouts.total_s.to_string(),
            extra_body: if config.extra_body.is_empty() {
                String::new()
            } else {
                serde_json::to_string_pretty(&config.extra_body).unwrap_or_default()
            },
            extra_headers: config
                .extra_headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}"))
                .collect::<Vec<_>>()
                .join("\n"),
            auto_lanes,
            lanes,
            streams_per_lane: config.streams_per_lane.map(|n| n.to_string()).unwrap_or_default(),
            slo_ttft_ms: optional(config.slo.ttft_ms),
            slo_tpot_ms: optional(config.slo.tpot_ms),
            slo_e2e_ms: optional(config.slo.e2e_ms),
            workload: WorkloadDraft::from(&config.workload),
            series: SeriesDraft::from(&config.series),
            sim_ttft_ms: config.demo.ttft_ms.to_string(),
            sim_prefill_ms: config.demo.prefill_ms_per_1k.to_string(),
            sim_itl_ms: config.demo.itl_ms.to_string(),
            sim_jitter: config.demo.jitter.to_string(),
            sim_slowdown: config.demo.load_slowdown.to_string(),
            sim_batch: config.demo.batch_limit.to_string(),
            sim_reasoning: config.demo.reasoning_share.to_string(),
            sim_faults: FaultShare::format_list(&config.demo.faults),
        }
    }
}

impl Draft {
    /// The configuration this describes.
    ///
    /// # Errors
    /// Every field that is wrong, in the order of the form.
    pub fn check(&self) -> Result<RunConfig, Vec<FieldError>> {
        let mut errors = Errors::default();
        let base = RunConfig::default();
        let open = self.arrival != Arrival::Closed.name();
        let endpoint = if self.simulated {
            Endpoint::Simulated
        } else {
            let base_url = self.base_url.trim();
            errors.note(Field::BaseUrl, lanes::check_base_url(base_url).err());
            Endpoint::Http {
                base_url: base_url.to_owned(),
            }
        };
        let mut config = RunConfig {
            endpoint,
            api: self.api,
            model: self.model.trim().to_owned(),
            stream: self.stream,
            requests: if self.timed {
                // What is not in sight is not complained of.
                self.requests
                    .trim()
                    .parse()
                    .unwrap_or(base.requests)
                    .clamp(1, MAX_REQUESTS)
            } else {
                errors.count(Field::Requests, &self.requests, 1, MAX_REQUESTS)
            },
            concurrency: if open && !self.capped {
                self.concurrency
                    .trim()
                    .parse()
                    .unwrap_or(base.concurrency)
                    .clamp(1, MAX_CONCURRENCY)
            } else {
                errors.count(Field::Concurrency, &self.concurrency, 1, MAX_CONCURRENCY)
            },
            load: errors.load(self, open),
            warmup: errors.count(Field::Warmup, &self.warmup, 0, 1_000),
            input_tokens: errors.count(Field::InputTokens, &self.input_tokens, 1, 1_000_000),
            output_tokens: errors.count(Field::OutputTokens, &self.output_tokens, 1, 1_000_000),
            token_limit: self.token_limit,
            ignore_eos: self.ignore_eos,
            recount: self.recount,
            server_side: self.server_side.clone(),
            seed: errors.whole(Field::Seed, &self.seed),
            timeouts: Timeouts {
                first_byte_s: errors.amount(Field::FirstByte, &self.first_byte_s, 86_400.0),
                stall_s: errors.amount(Field::Stall, &self.stall_s, 86_400.0),
                total_s: errors.amount(Field::Total, &self.total_s, 86_400.0),
            },
            extra_body: errors.body(&self.extra_body),
            extra_headers: errors.headers(&self.extra_headers),
            lanes: errors.lanes(self.auto_lanes, &self.lanes),
            streams_per_lane: (!self.streams_per_lane.trim().is_empty()).then(|| {
                errors.count(
                    Field::StreamsPerLane,
                    &self.streams_per_lane,
                    1,
                    lanes::MAX_HTTP2_STREAMS,
                )
            }),
            slo: Slo {
                ttft_ms: errors.limit(Field::SloTtft, &self.slo_ttft_ms),
                tpot_ms: errors.limit(Field::SloTpot, &self.slo_tpot_ms),
                e2e_ms: errors.limit(Field::SloE2e, &self.slo_e2e_ms),
            },
            workload: self.workload.check(|field, message| errors.note(field, Some(message))),
            series: SeriesConfig::default(),
            demo: if self.simulated {
                errors.demo(self)
            } else {
                errors.demo_quietly(self)
            },
        };
        if config.api == Api::Chat && config.workload.sends_token_ids() {
            errors.note(
                Field::TokenIds,
                Some("The chat API takes no token ids. Choose completions or generate, or send words.".into()),
            );
        }
        if config.api != Api::Chat && config.workload.turns > 1 && config.workload.kind != Kind::Typed {
            errors.note(
                Field::Turns,
                Some("Conversations need the chat API. Choose it, or enter 1 turn.".into()),
            );
        }
        config.series = self
            .series
            .check(&config, |field, message| errors.note(field, Some(message)));
        if errors.0.is_empty() { Ok(config) } else { Err(errors.0) }
    }
}

/// A limit as it stands in its field.
fn optional(limit: Option<f64>) -> String {
    limit.map(|limit| limit.to_string()).unwrap_or_default()
}

#[derive(Default)]
struct Errors(Vec<FieldError>);

impl Errors {
    fn note(&mut self, field: Field, message: Option<String>) {
        if let Some(message) = message {
            self.0.push(FieldError { field, message });
        }
    }

    fn parsed<T: FromStr + Default>(&mut self, field: Field, text: &str, expected: &str, ok: impl Fn(&T) -> bool) -> T {
        match text.trim().parse::<T>() {
            Ok(value) if ok(&value) => value,
            _ => {
                self.note(field, Some(format!("Enter {expected}.")));
                T::default()
            }
        }
    }

    fn count(&mut self, field: Field, text: &str, min: u32, max: u32) -> u32 {
        let expected = format!("a whole number from {min} to {max}");
        self.parsed(field, &without_separators(text), &expected, |n| (min..=max).contains(n))
    }

    fn whole(&mut self, field: Field, text: &str) -> u64 {
        self.parsed(field, text, "a whole number, 0 or more", |_| true)
    }

    fn amount(&mut self, field: Field, text: &str, max: f64) -> f64 {
        self.parsed(field, text, &format!("a number from 0 to {max}"), |n: &f64| {
            (0.0..=max).contains(n)
        })
    }

    fn load(&mut self, draft: &Draft, open: bool) -> Load {
        let base = Load::default();
        let burstiness = if draft.arrival == "gamma" {
            let expected = "a number above 0, such as 0.5; below 1 is bursty";
            self.parsed(Field::Burstiness, &draft.burstiness, expected, |b: &f64| {
                (0.01..=1000.0).contains(b)
            })
        } else {
            1.0
        };
        let rate = match draft.rate.parse::<Rate>() {
            Ok(rate) => rate,
            Err(expected) => {
                if open && draft.arrival != "trace" {
                    self.note(Field::Rate, Some(format!("Enter {expected}.")));
                }
                base.rate
            }
        };
        let seconds = |expected: &str| format!("a number of seconds {expected}");
        Load {
            arrival: Arrival::from_name(&draft.arrival, burstiness).unwrap_or_default(),
            rate,
            capped: draft.capped,
            duration_s: draft.timed.then(|| {
                let ok = |s: &f64| *s > 0.0 && *s <= MAX_DURATION_S;
                self.parsed(
                    Field::Duration,
                    &draft.duration_s,
                    &seconds("above 0, at most a day"),
                    ok,
                )
            }),
            grace_s: if draft.timed {
                self.amount(Field::Grace, &draft.grace_s, 3_600.0)
            } else {
                draft.grace_s.trim().parse().unwrap_or(base.grace_s)
            },
        }
    }

    /// A limit in ms that may be left empty.
    fn limit(&mut self, field: Field, text: &str) -> Option<f64> {
        let expected = "a number of milliseconds above 0, or nothing";
        let ok = |ms: &f64| *ms > 0.0 && *ms <= 86_400_000.0;
        (!text.trim().is_empty()).then(|| self.parsed(field, text, expected, ok))
    }

    fn body(&mut self, text: &str) -> serde_json::Map<String, serde_json::Value> {
        if text.trim().is_empty() {
            return serde_json::Map::new();
        }
        match serde_json::from_str(text) {
            Ok(serde_json::Value::Object(body)) => body,
            Ok(_) => {
                self.note(
                    Field::ExtraBody,
                    Some("Enter a JSON object, such as {\"top_p\": 0.9}.".into()),
                );
                serde_json::Map::new()
            }
            Err(error) => {
                let at = format!("line {}, column {}", error.line(), error.column());
                self.note(
                    Field::ExtraBody,
                    Some(format!("This is no JSON: {error} (look at {at}).")),
                );
                serde_json::Map::new()
            }
        }
    }

    fn headers(&mut self, text: &str) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let header = link::split_header(line).filter(|(name, value)| is_token(name) && is_field_value(value));
            match header {
                Some((name, _)) if is_forbidden(&name) => self.note(
                    Field::ExtraHeaders,
                    Some(format!(
                        "A browser does not let a page send the header {name}; leave it out."
                    )),
                ),
                Some(header) => headers.push(header),
                None => self.note(
                    Field::ExtraHeaders,
                    Some(format!("\"{line}\" is no header. Write one a line, as Name: value.")),
                ),
            }
        }
        headers
    }

    fn lanes(&mut self, auto: bool, text: &str) -> LanePolicy {
        let base_urls: Vec<String> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        for url in &base_urls {
            self.note(
                Field::Lanes,
                lanes::check_base_url(url)
                    .err()
                    .map(|message| format!("{url}: {message}")),
            );
        }
        match (base_urls.is_empty(), auto) {
            (false, _) => LanePolicy::List { base_urls },
            (true, true) => LanePolicy::Auto,
            (true, false) => LanePolicy::Single,
        }
    }

    fn demo(&mut self, draft: &Draft) -> DemoConfig {
        DemoConfig {
            ttft_ms: self.amount(Field::SimTtft, &draft.sim_ttft_ms, 600_000.0),
            prefill_ms_per_1k: self.amount(Field::SimPrefill, &draft.sim_prefill_ms, 600_000.0),
            itl_ms: self.amount(Field::SimItl, &draft.sim_itl_ms, 60_000.0),
            jitter: self.amount(Field::SimJitter, &draft.sim_jitter, 2.0),
            load_slowdown: self.amount(Field::SimSlowdown, &draft.sim_slowdown, 100.0),
            batch_limit: self.count(Field::SimBatch, &draft.sim_batch, 1, 10_000),
            reasoning_share: self.amount(Field::SimReasoning, &draft.sim_reasoning, 1.0),
            faults: match FaultShare::parse_list(&draft.sim_faults) {
                Ok(faults) => faults,
                Err(message) => {
                    self.note(Field::SimFaults, Some(message.to_string()));
                    Vec::new()
                }
            },
        }
    }

    /// The simulated server's fields while they are out of use: kept where they are right, the default where not.
    fn demo_quietly(&self, draft: &Draft) -> DemoConfig {
        let mut apart = Errors::default();
        let demo = apart.demo(draft);
        if apart.0.is_empty() {
            demo
        } else {
            DemoConfig::default()
        }
    }
}

/// Whether a browser drops a header of this name without a word (Fetch standard, "forbidden request-header").
fn is_forbidden(name: &str) -> bool {
    const NAMES: [&str; 19] = [
        "accept-charset",
        "accept-encoding",
        "connection",
        "content-length",
        "cookie",
        "cookie2",
        "date",
        "dnt",
        "expect",
        "host",
        "keep-alive",
        "origin",
        "referer",
        "set-cookie",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    ];
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str())
        || ["proxy-", "sec-", "access-control-"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// Whether a header may have this name (RFC 9110, section 5.6.2).
fn is_token(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a header may have this value: what `fetch` takes is visible text in Latin-1.
fn is_field_value(value: &str) -> bool {
    value
        .chars()
        .all(|c| c == '\t' || ('\u{20}'..='\u{ff}').contains(&c) && c != '\u{7f}')
}

/// `1,000` and `1 000` as `1000`; anything else, such as `1,5`, as it is.
fn without_separators(text: &str) -> String {
    let groups: Vec<&str> = text.trim().split([',', ' ', '_', '\u{2009}', '\u{a0}']).collect();
    if groups.iter().skip(1).all(|group| group.len() == 3) {
        groups.concat()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong_fields(draft: &Draft) -> Vec<Field> {
        draft
            .check()
            .expect_err("the draft is wrong")
            .into_iter()
            .map(|error| error.field)
            .collect()
    }

    #[test]
    fn the_default_form_is_valid_and_gives_the_default_configuration() {
        let config = RunConfig::default();
        assert_eq!(Draft::from(&config).check(), Ok(config));
    }

    #[test]
    fn every_wrong_field_is_named_at_once() {
        let draft = Draft {
            simulated: false,
            base_url: "localhost:8000".into(),
            requests: "0".into(),
            concurrency: "many".into(),
            stall_s: "-1".into(),
            extra_body: "[1]".into(),
            extra_headers: "no colon\nHost: x".into(),
            lanes: "ftp://x".into(),
            ..Draft::from(&RunConfig::default())
        };
        let wrong = wrong_fields(&draft);
        assert_eq!(
            wrong,
            [
                Field::BaseUrl,
                Field::Requests,
                Field::Concurrency,
                Field::Stall,
                Field::ExtraBody,
                Field::ExtraHeaders,
                Field::ExtraHeaders,
                Field::Lanes
            ]
        );
    }

    #[test]
    fn thousands_separators_are_understood() {
        let draft = Draft {
            requests: "1,000".into(),
            ..Draft::from(&RunConfig::default())
        };
        assert_eq!(draft.check().expect("valid").requests, 1000);
        let decimal_comma = Draft {
            requests: "1,5".into(),
            stall_s: "1,5".into(),
            ..Draft::from(&RunConfig::default())
        };
        assert_eq!(wrong_fields(&decimal_comma), [Field::Requests, Field::Stall]);
    }

    #[test]
    fn fields_of_the_simulated_server_do_not_block_a_real_one() {
        let mut draft = Draft {
            sim_itl_ms: "x".into(),
            ..Draft::from(&RunConfig::default())
        };
        assert_eq!(wrong_fields(&draft), [Field::SimItl]);
        draft.simulated = false;
        draft.base_url = "http://127.0.0.1:30000".into();
        assert_eq!(draft.check().expect("valid").demo, DemoConfig::default());
    }

    #[test]
    fn infinity_is_no_time_out() {
        let draft = Draft {
            total_s: "inf".into(),
            ..Draft::from(&RunConfig::default())
        };
        assert_eq!(wrong_fields(&draft), [Field::Total]);
    }
}
