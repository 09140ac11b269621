//! Results of this and of other tools, as subjects of a comparison.
//!
//! Two figures are compared only if they mean the same: each carries whose definition it follows.

mod json;
mod ours;
mod sglang;
mod vllm;

use std::{collections::BTreeMap, fmt};

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
}

impl By {
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
            _ => Some("is over requests that it took for successes, failures inside a 200 stream among them"),
        }
    }

    /// The tool's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Streamgauge => "Streamgauge",
            Self::Sglang => "sglang.benchmark.serving",
            Self::Vllm => "vllm bench serve",
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
                "This is no result that can be compared. It reads results of this page (JSON, HTML), JSONL of sglang.benchmark.serving and JSON of vllm bench serve."
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
    let subjects: Result<Vec<Option<Subject>>, ImportError> = lines
        .iter()
        .enumerate()
        .map(|(i, line)| {
            let name = if several {
                format!("{name}, line {}", i + 1)
            } else {
                name.to_owned()
            };
            if vllm::is_one(line) {
                vllm::read(&name, line).map(Some)
            } else if sglang::is_one(line) {
                sglang::read(&name, line).map(Some)
            } else {
                Ok(None)
            }
        })
        .collect();
    let subjects: Vec<Subject> = subjects?.into_iter().flatten().collect();
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
