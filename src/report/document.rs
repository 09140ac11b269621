//! The versioned JSON document.

use serde::{Deserialize, Serialize};

use super::ServerDetails;
use crate::{config::RunConfig, health::Health, metrics::Summary, protocol::ServerLoad, request::RequestRecord};

/// Version of the document that this program writes.
pub const FORMAT_VERSION: u32 = 1;

/// What a document calls itself.
pub(super) const FORMAT_NAME: &str = "streamgauge";

/// One run, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// What this file is.
    pub format: Format,
    /// Whether the server was the simulated one: then no figure says anything about a real server.
    pub simulated: bool,
    /// When the run began, ms since the Unix epoch.
    pub started_unix_ms: f64,
    /// Start of the measured window (the end of the warm-up), ms since the run began.
    pub measured_from_ms: f64,
    /// Length of the measured window: first dispatch to last verdict, ms.
    pub duration_ms: f64,
    /// How the run ended.
    pub ending: Ending,
    /// What the server told of itself.
    pub server: ServerFacts,
    /// What was asked.
    pub config: RunConfig,
    /// Connections asked for and had.
    pub slots: Slots,
    /// The client's verdict on itself.
    pub client: Health,
    /// What a reader should know besides: fields the server refused, names that did not answer …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the server told of its load along the way, where it tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_load: Vec<LoadSample>,
    /// The figures, as computed when the run ended; recomputed from the requests on reading.
    #[serde(skip_deserializing)]
    pub summary: Summary,
    /// The measured requests, by index.
    pub requests: Vec<RequestRecord>,
    /// The warm-up requests, by index.
    pub warmup: Vec<RequestRecord>,
}

/// What this file is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    /// Always `"streamgauge"`.
    pub name: String,
    /// [`FORMAT_VERSION`] of the program that wrote it.
    pub version: u32,
    /// Name and version of that program.
    pub generator: String,
}

/// How the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// All requests were sent and ended.
    Completed,
    /// The user stopped it.
    StoppedByUser,
    /// The page or the engine died; what had been measured was kept.
    Interrupted,
}

/// What the server told of itself before the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerFacts {
    /// Base URL, or `simulated`.
    pub base_url: String,
    /// Model asked for.
    pub model: String,
    /// Its kind, where recognised (`sglang`, `vllm`, `llama.cpp` …): `owned_by` of the model.
    pub owned_by: Option<String>,
    /// Longest context, tokens.
    pub max_model_len: Option<u64>,
    /// Whether it says that it is a demo endpoint.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub demo: bool,
    /// Its settings, if they were to be kept and it tells them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<ServerDetails>>,
}

/// The load of the server at a moment of a run, as it told it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSample {
    /// When its answer came, ms since the run began.
    pub at_ms: f64,
    /// What it told.
    #[serde(flatten)]
    pub load: ServerLoad,
}

impl ServerFacts {
    /// Whether it is of a kind that is known to have `/tokenize`. No other is sent requests beyond those asked for.
    pub fn counts_tokens(&self) -> bool {
        matches!(self.owned_by.as_deref(), Some("sglang" | "vllm"))
    }
}

/// Connections asked for and had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slots {
    /// Concurrency asked for.
    pub asked: u32,
    /// Requests that could be on the wire at a time.
    pub had: u32,
    /// Base URLs used, one per lane.
    pub lanes: Vec<String>,
}

impl Format {
    /// The mark of a document that this program writes now.
    pub fn current() -> Self {
        Self {
            name: FORMAT_NAME.to_owned(),
            version: FORMAT_VERSION,
            generator: concat!("streamgauge ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

#[cfg(test)]
impl Document {
    /// A run of that configuration in which nothing was sent.
    pub(crate) fn example(config: RunConfig) -> Self {
        Self {
            format: Format::current(),
            simulated: config.endpoint == crate::config::Endpoint::Simulated,
            started_unix_ms: 1_780_000_000_000.0,
            measured_from_ms: 0.0,
            duration_ms: 1000.0,
            ending: Ending::Completed,
            server: ServerFacts::default(),
            config,
            slots: Slots::default(),
            client: Health::default(),
            notes: Vec::new(),
            server_load: Vec::new(),
            summary: Summary::default(),
            requests: Vec::new(),
            warmup: Vec::new(),
        }
    }
}
