//! Results of this and of other tools, as subjects of a comparison.
//!
//! Two figures are compared only if they mean the same: each carries whose definition it follows.

mod aiperf;
mod guidellm;
mod inference_perf;
mod json;
mod ours;
mod sglang;
mod vllm;

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use crate::{
    health::Verdict,
    metrics::Samples,
    report::{DocumentError, Embedded, embedded, link},
};

/// Whose definition a figure follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// That of the glossary.
    Streamgauge,
    /// That of `sglang.benchmark.serving`.
    Sglang,
    /// That of `vllm bench serve`.
    Vllm,
    /// That of AIPerf.
    Aiperf,
    /// That of GuideLLM.
    Guidellm,
    /// That of inference-perf.
    InferencePerf,
}

impl By {
    /// All, the glossary's first: of two that both runs follow the first is taken.
    pub const ALL: [Self; 6] = [
        Self::Streamgauge,
        Self::Sglang,
        Self::Vllm,
        Self::Aiperf,
        Self::Guidellm,
        Self::InferencePerf,
    ];

    /// How it differs from the glossary's, where it does.
    pub fn difference(self, id: &str) -> Option<&'static str> {
        match (self, id) {
            (Self::Streamgauge, _) => None,
            (Self::Sglang, "e2e_ms") => Some("runs to the last line of the body, [DONE] included"),
            (Self::Sglang, "tpot_ms") => Some("is taken from its E2E, which runs to the last line"),
            (Self::Sglang, "itl_ms") => Some("is the gap between messages, whatever tokens each brought"),
            (Self::Vllm, "ttft_ms") => Some("ends at the first message with choices, even an empty one"),
            (Self::Vllm, "e2e_ms") => Some("runs to the last message"),
            (Self::Vllm, "tpot_ms") => Some("is taken from its own TTFT and E2E"),
            (Self::Vllm, "itl_ms") => Some("is the gap between messages, whatever tokens each brought"),
            (Self::Aiperf, "itl_ms") => {
                Some("is its inter-chunk latency: the gap between messages, whatever tokens each brought")
            }
            (Self::Guidellm, "tpot_ms") => Some("is what it calls ITL, with each request weighed by its tokens"),
            (Self::Guidellm | Self::InferencePerf, "e2e_ms") => Some("runs to the end of the body"),
            (Self::InferencePerf, "itl_ms") => Some("is 0 between the tokens of one message"),
            _ => Some("is over requests that it took for successes, failures inside a 200 stream among them"),
        }
    }

    /// The tool's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Streamgauge => "Streamgauge",
            Self::Sglang => "sglang.benchmark.serving",
            Self::Vllm => "vllm bench serve",
            Self::Aiperf => "AIPerf",
            Self::Guidellm => "GuideLLM",
            Self::InferencePerf => "inference-perf",
        }
    }
}

/// Which figure: the glossary's id, and the statistic of it (`""` if it is none).
pub type Key = (&'static str, &'static str, By);

/// What there is to know of one run.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its name: of the file or of the model.
    pub name: String,
    /// Which tool wrote it.
    pub tool: By,
    /// Model, if it is told.
    pub model: Option<String>,
    /// Facts that must agree for a fair comparison, as (what, value): load, lengths, API …
    pub facts: Vec<(&'static str, String)>,
    /// The figures: ms for latencies, per second for rates.
    pub figures: BTreeMap<Key, f64>,
    /// Requests that succeeded and failed, where failures are told.
    pub outcomes: Option<(u64, u64)>,
    /// The samples behind latencies, where there are records.
    pub samples: Option<Samples>,
    /// Output tokens per second in equal steps of the run, where there are records.
    pub rates: Vec<f64>,
    /// The client's verdict on itself, where it gave one.
    pub verdict: Option<Verdict>,
    /// What stands against trusting it, in sentences.
    pub cautions: Vec<String>,
}

/// Why a file is no subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    /// None of the formats.
    Unknown,
    /// One of this page's own, but broken.
    Ours(DocumentError),
    /// A line is no JSON: its number from 1, and why.
    Line(usize, String),
    /// A figure is missing without which there is nothing to compare.
    Missing(By, &'static str),
    /// A report or link of this page that was damaged.
    Link(link::LinkError),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(
                f,
                "This is no result that can be compared. It reads results of this page (JSON, HTML), JSONL of sglang.benchmark.serving, JSON of vllm bench serve, profile_export_aiperf.json of AIPerf, the JSON report of GuideLLM and lifecycle reports of inference-perf."
            ),
            Self::Ours(error) => error.fmt(f),
            Self::Line(line, why) => write!(f, "Line {line} is no JSON ({why}). Is the file whole?"),
            Self::Missing(tool, key) => write!(
                f,
                "This looks like a result of {}, but \"{key}\" is not in it. Is the file whole?",
                tool.name()
            ),
            Self::Link(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ImportError {}

/// How a format with one run to an object is told, and how it is read.
type Format = (fn(&Value) -> bool, fn(&str, &Value) -> Result<Subject, ImportError>);

const ONE_RUN: [Format; 4] = [
    (vllm::is_one, vllm::read),
    (sglang::is_one, sglang::read),
    (aiperf::is_one, aiperf::read),
    (inference_perf::is_one, inference_perf::read),
];

/// The runs in a file. What it is is told by looking; `name` is the file's.
///
/// # Errors
/// If it is none of the formats, or broken.
pub fn read(name: &str, text: &str) -> Result<Vec<Subject>, ImportError> {
    match embedded(text) {
        Some(Embedded::Document(json)) => return ours::read(name, &json).map_err(ImportError::Ours),
        Some(Embedded::Link(fragment)) => return from_link(name, &fragment).map(|subject| vec![subject]),
        None => {}
    }
    match ours::read(name, text) {
        // It is of another program, or of none.
        Err(DocumentError::NotAResult | DocumentError::NotJson(_)) => {}
        other => return other.map_err(ImportError::Ours),
    }
    let lines = json::lines(text)?;
    let several = lines.len() > 1;
    let mut subjects = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let name = if several {
            format!("{name}, line {}", i + 1)
        } else {
            name.to_owned()
        };
        if let Some(benchmarks) = guidellm::benchmarks(line) {
            for (i, benchmark) in benchmarks.iter().enumerate() {
                let name = match benchmarks.len() {
                    1 => name.clone(),
                    _ => format!("{name}, benchmark {}", i + 1),
                };
                subjects.push(guidellm::read(&name, benchmark)?);
            }
            continue;
        }
        if let Some((_, read)) = ONE_RUN.into_iter().find(|(is_one, _)| is_one(line)) {
            subjects.push(read(&name, line)?);
        }
    }
    if subjects.is_empty() {
        return Err(ImportError::Unknown);
    }
    Ok(subjects)
}

/// The run in a link.
///
/// # Errors
/// If the link was cut or damaged.
pub fn from_link(name: &str, link: &str) -> Result<Subject, ImportError> {
    link::open(link)
        .map(|snapshot| ours::of_snapshot(name, &snapshot))
        .map_err(ImportError::Link)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
