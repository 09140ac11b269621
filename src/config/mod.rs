//! What a person asked for: the endpoint, the load, the workload, the limits.

pub mod commands;
pub mod form;
pub mod link;
pub mod load;
pub mod presets;
pub mod secret_names;
pub mod series;
pub mod server_side;
pub mod shell;
pub mod slo;
pub mod workload;

use serde::{Deserialize, Serialize};

use crate::demo::DemoConfig;

/// Everything that defines a run, but for the API key, which is a [`Secret`] and travels apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunConfig {
    /// The server to measure.
    pub endpoint: Endpoint,
    /// Which of its APIs.
    pub api: Api,
    /// Model name as the server lists it; may be empty for servers that ignore it.
    pub model: String,
    /// Whether the answers are streamed.
    pub stream: bool,
    /// Measured requests, warm-up not included.
    pub requests: u32,
    /// Requests in flight at a time (closed loop).
    pub concurrency: u32,
    /// When requests are sent.
    pub load: load::Load,
    /// Requests sent before the measured ones, in no aggregate.
    pub warmup: u32,
    /// Prompt length in tokens, as asked.
    pub input_tokens: u32,
    /// Longest answer in tokens, as asked.
    pub output_tokens: u32,
    /// Which key carries it on the OpenAI routes.
    pub token_limit: TokenLimit,
    /// Asks the server to go on past its end-of-sequence token, so that answers have the asked length.
    pub ignore_eos: bool,
    /// Asks the server's `/tokenize` after the run how many tokens each answer has.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recount: bool,
    /// Seed of everything random: prompts and, for the simulated server, its latencies and faults.
    pub seed: u64,
    /// When to give up on a request.
    pub timeouts: Timeouts,
    /// Keys merged last into every request body.
    pub extra_body: serde_json::Map<String, serde_json::Value>,
    /// Headers added to every request, as `(name, value)`.
    pub extra_headers: Vec<(String, String)>,
    /// Which further names reach the same server.
    pub lanes: LanePolicy,
    /// Requests the browser can have on the wire to one base URL. Automatic if absent: 6 for HTTP/1.1, 100 for HTTP/2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams_per_lane: Option<u32>,
    /// What a request must keep to count as a good one.
    #[serde(skip_serializing_if = "slo::Slo::is_empty")]
    pub slo: slo::Slo,
    /// What the prompts are made of.
    #[serde(skip_serializing_if = "workload::Workload::is_default")]
    pub workload: workload::Workload,
    /// What is done to the server besides.
    #[serde(skip_serializing_if = "server_side::ServerSide::is_default")]
    pub server_side: server_side::ServerSide,
    /// Whether it is one run or several.
    #[serde(skip_serializing_if = "series::SeriesConfig::is_default")]
    pub series: series::SeriesConfig,
    /// The simulated server's behaviour; unused with a real one.
    pub demo: DemoConfig,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self {
            endpoint: Endpoint::Simulated,
            api: Api::Chat,
            model: String::new(),
            stream: true,
            requests: 100,
            concurrency: 6,
            load: load::Load::default(),
            warmup: 2,
            input_tokens: 128,
            output_tokens: 64,
            token_limit: TokenLimit::Auto,
            ignore_eos: true,
            recount: false,
            seed: 1,
            timeouts: Timeouts::default(),
            extra_body: serde_json::Map::new(),
            extra_headers: Vec::new(),
            lanes: LanePolicy::Auto,
            streams_per_lane: None,
            slo: slo::Slo::default(),
            workload: workload::Workload::default(),
            server_side: server_side::ServerSide::default(),
            series: series::SeriesConfig::default(),
            demo: DemoConfig::default(),
        }
    }
}

impl RunConfig {
    /// Most requests that the load lets be in flight at a time; `None` if it knows no limit but the browser's.
    pub fn most_in_flight(&self) -> Option<u32> {
        (!self.load.is_open() || self.load.capped).then_some(self.concurrency)
    }
}

/// The server to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    /// The scripted server inside the engine: no socket is opened, results are labelled *simulated*.
    Simulated,
    /// A server reached over HTTP.
    Http {
        /// Base URL as typed, e.g. `http://127.0.0.1:30000`; a trailing `/v1` is understood.
        base_url: String,
    },
}

/// The API of the server that is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `/v1/chat/completions`
    #[default]
    Chat,
    /// `/v1/completions`
    Completions,
    /// SGLang's native `/generate`
    Generate,
}

impl Api {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Api; 3] = [Api::Chat, Api::Completions, Api::Generate];

    /// The name in links and in the result document.
    pub fn name(self) -> &'static str {
        match self {
            Api::Chat => "chat",
            Api::Completions => "completions",
            Api::Generate => "generate",
        }
    }

    /// The API of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }
}

/// Which key carries the longest answer's length on the OpenAI routes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenLimit {
    /// `max_completion_tokens` for chat, and `max_tokens` once a server refuses that; `max_tokens` for completions.
    #[default]
    Auto,
    /// `max_tokens`, for servers that pass over `max_completion_tokens` in silence.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl TokenLimit {
    /// All of them, in the order in which they are offered.
    pub const ALL: [TokenLimit; 3] = [TokenLimit::Auto, TokenLimit::MaxTokens, TokenLimit::MaxCompletionTokens];

    /// The name in links.
    pub fn name(self) -> &'static str {
        match self {
            TokenLimit::Auto => "auto",
            TokenLimit::MaxTokens => "max_tokens",
            TokenLimit::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    /// The choice of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}

/// When to give up on a request. Seconds; 0 means never.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeouts {
    /// From dispatch to the first byte of the body.
    pub first_byte_s: f64,
    /// Between two reads of the body.
    pub stall_s: f64,
    /// From dispatch to the end.
    pub total_s: f64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first_byte_s: 120.0,
            stall_s: 60.0,
            total_s: 600.0,
        }
    }
}

/// How many names the engine uses for the one server. A browser opens 6 HTTP/1.1 connections per name and port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LanePolicy {
    /// As many `*.localhost` names as the concurrency needs if the server is on loopback; else the one given.
    #[default]
    Auto,
    /// Only the base URL.
    Single,
    /// The base URL and these.
    List {
        /// Further base URLs of the same server.
        base_urls: Vec<String>,
    },
}

/// An API key. Never serialised, never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; surrounding white space is dropped.
    pub fn new(key: &str) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, or `None` if there is none.
    pub fn reveal(&self) -> Option<&str> {
        (!self.0.is_empty()).then_some(self.0.as_str())
    }

    /// Whether a header can carry it: `fetch` takes visible text in Latin-1 alone.
    pub fn is_sendable(&self) -> bool {
        self.0
            .chars()
            .all(|c| ('\u{20}'..='\u{ff}').contains(&c) && c != '\u{7f}')
    }

    /// Overwrites it with asterisks wherever it stands: servers repeat a wrong key in their message.
    pub fn mask(&self, bytes: &mut [u8]) {
        let key = self.0.as_bytes();
        if key.is_empty() {
            return;
        }
        let places: Vec<usize> = memchr::memmem::find_iter(bytes, key).collect();
        for at in places {
            bytes[at..at + key.len()].fill(b'*');
        }
    }

    /// As [`Secret::mask`], for text.
    pub fn mask_text(&self, text: &mut String) {
        if !self.0.is_empty() && text.contains(&self.0) {
            *text = text.replace(&self.0, &"*".repeat(self.0.len()));
        }
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_empty() {
            "Secret(none)"
        } else {
            "Secret(***)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn a_key_that_a_server_repeats_is_masked_to_its_length() {
        let key = Secret::new(" hunter2 ");
        let mut bytes = b"Incorrect API key: hunter2, hunter2.".to_vec();
        key.mask(&mut bytes);
        assert_eq!(bytes, b"Incorrect API key: *******, *******.");
        let mut text = "hunter2".to_owned();
        key.mask_text(&mut text);
        assert_eq!(text, "*******");
        Secret::new("").mask(&mut bytes);
    }

    #[test]
    fn only_latin_1_can_be_sent_and_a_key_is_never_printed() {
        assert!(Secret::new("sk-é").is_sendable() && !Secret::new("日本").is_sendable());
        assert!(!format!("{:?}", Secret::new("hunter2")).contains("hunter2"));
    }
}
