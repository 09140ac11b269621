//! The document as JSON text, and back.

use std::fmt;

use serde::Deserialize;
use serde_json::{Value, error::Category};

use super::{Document, FORMAT_VERSION, document::FORMAT_NAME};
use crate::{
    config::Endpoint,
    metrics::summarize,
    request::{RequestRecord, Times},
};

/// Why a file is not a document that can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentError {
    /// No JSON at all; with the parser's words.
    NotJson(String),
    /// JSON that ends too early.
    Cut {
        /// How many bytes there are.
        bytes: usize,
    },
    /// JSON, but not a Streamgauge result.
    NotAResult,
    /// Written by a newer program.
    TooNew {
        /// Its version.
        version: u64,
    },
    /// A Streamgauge result with a part missing or wrong; with the parser's words.
    Broken(String),
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentError::NotJson(why) => write!(
                f,
                "This is not a result file: it is not JSON ({why}). Choose the .json file that Streamgauge saved."
            ),
            DocumentError::Cut { bytes } => write!(
                f,
                "The file ends too early, after {bytes} bytes: it was probably cut while it was saved or sent. \
                 Get it again from where it came from."
            ),
            DocumentError::NotAResult => write!(
                f,
                "This is JSON, but not a result of Streamgauge. Choose a file that Streamgauge saved."
            ),
            DocumentError::TooNew { version } => write!(
                f,
                "This result has format version {version}; this page reads versions up to {FORMAT_VERSION}. \
                 Open it with a newer Streamgauge."
            ),
            DocumentError::Broken(why) => write!(
                f,
                "This result of Streamgauge has a part that is missing or wrong ({why}). \
                 It was probably changed after it was saved; get the original again."
            ),
        }
    }
}

impl std::error::Error for DocumentError {}

impl Document {
    /// JSON for people and programs: one line per setting and per request.
    pub fn to_json(&self) -> String {
        // Every map of the document has text for keys, so it is always serialisable.
        in_lines(&serde_json::to_string(self).expect("a document is always serialisable"))
    }

    /// Reads a document, upgrades older versions and recomputes the summary from the requests.
    ///
    /// # Errors
    /// If the text is no JSON, cut, not a result, of a newer version, or contradicts itself: a request that claims to have
    /// succeeded without a token or in spite of a failure, marks without their times, a simulated run that denies it.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let text = text.trim_start_matches('\u{feff}');
        check_version(text, FORMAT_NAME)?;
        let mut document: Document = serde_json::from_str(text).map_err(|e| broken(text, &e))?;
        recompute(&mut document).map_err(DocumentError::Broken)?;
        Ok(document)
    }
}

/// What is wrong with a text that begins as one of this program's.
pub(super) fn broken(text: &str, error: &serde_json::Error) -> DocumentError {
    match error.classify() {
        Category::Eof => DocumentError::Cut { bytes: text.len() },
        _ => DocumentError::Broken(error.to_string()),
    }
}

/// Checks a document that was read, and computes what is not taken from the file.
pub(super) fn recompute(document: &mut Document) -> Result<(), String> {
    check(document)?;
    document.summary = summarize(&document.requests, document.duration_ms);
    document.client.judge();
    Ok(())
}

/// Tells whether the text is a document of that name, of a version that can be read, without reading the rest of it.
pub(super) fn check_version(text: &str, name: &str) -> Result<(), DocumentError> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<Value>,
    }
    let head: Head = serde_json::from_str(text).map_err(|e| match e.classify() {
        Category::Eof if text.trim().is_empty() => DocumentError::NotJson("the file is empty".to_owned()),
        Category::Eof => DocumentError::Cut { bytes: text.len() },
        Category::Syntax if at_the_end(text, &e) => DocumentError::Cut { bytes: text.len() },
        Category::Data => DocumentError::NotAResult,
        Category::Syntax | Category::Io => DocumentError::NotJson(e.to_string()),
    })?;
    let format = head
        .format
        .filter(|f| f["name"] == name)
        .ok_or(DocumentError::NotAResult)?;
    match format["version"].as_u64() {
        Some(version) if version > u64::from(FORMAT_VERSION) => Err(DocumentError::TooNew { version }),
        Some(version) if version > 0 => Ok(()),
        _ => Err(DocumentError::Broken(
            "format.version is not a whole number from 1 on".to_owned(),
        )),
    }
}

/// Whether the parser came to the very end before it was at odds: a cut number (`20.`) is wrong, not short, to it.
fn at_the_end(text: &str, error: &serde_json::Error) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    text.starts_with('{') && error.line() > text.matches('\n').count() && error.column() >= last.len()
}

/// Finds what the types allow but a run cannot produce.
fn check(document: &Document) -> Result<(), String> {
    if document.simulated != (document.config.endpoint == Endpoint::Simulated) {
        return Err("\"simulated\" and the endpoint contradict each other".to_owned());
    }
    if document.duration_ms < 0.0 {
        return Err("duration_ms is negative".to_owned());
    }
    if !(0.0..1e14).contains(&document.started_unix_ms) {
        return Err("started_unix_ms is no date".to_owned());
    }
    let window_ms = document.measured_from_ms + document.duration_ms;
    if document
        .requests
        .iter()
        .any(|record| record.times.ended_ms > window_ms + 1.0)
    {
        return Err("duration_ms is shorter than its requests".to_owned());
    }
    let mut indexes: Vec<u32> = document.requests.iter().map(|record| record.index).collect();
    indexes.sort_unstable();
    if indexes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("a request stands in it twice".to_owned());
    }
    for (name, warmup, records) in [
        ("requests", false, &document.requests),
        ("warmup", true, &document.warmup),
    ] {
        for (position, record) in records.iter().enumerate() {
            check_record(record, warmup, document.config.stream).map_err(|why| format!("{name}[{position}]: {why}"))?;
        }
    }
    Ok(())
}

/// No answer of a model is longer, tokens.
const MOST_TOKENS: u64 = 10_000_000;

/// Whether what happened to a request happened in the order in which it can.
fn in_order(times: &Times) -> bool {
    let order = [
        Some(times.dispatched_ms),
        times.headers_ms,
        times.first_byte_ms,
        times.first_token_ms,
        times.last_token_ms,
    ];
    // What came after a failure was decided is evidence, so the end may lie before the last bytes, but not tokens.
    let ended = times.last_token_ms.is_none_or(|last_ms| last_ms <= times.ended_ms);
    times.scheduled_ms >= 0.0
        && times.scheduled_ms <= times.dispatched_ms
        && ended
        && order.into_iter().flatten().is_sorted()
}

fn check_record(record: &RequestRecord, warmup: bool, streamed: bool) -> Result<(), &'static str> {
    let marks = &record.marks;
    let succeeded = record.outcome == crate::request::Outcome::Succeeded;
    if record.warmup != warmup {
        Err("\"warmup\" contradicts the list it is in")
    } else if record.outcome.is_failure() && record.failure.is_none() {
        Err("it failed, but does not say why")
    } else if record.outcome == crate::request::Outcome::Succeeded && record.failure.is_some() {
        Err("it claims to have succeeded in spite of a failure")
    } else if streamed && record.outcome == crate::request::Outcome::Succeeded && record.times.first_token_ms.is_none()
    {
        Err("it claims to have succeeded without a token")
    } else if succeeded && !record.status.is_none_or(|status| (200..300).contains(&status)) {
        Err("it claims to have succeeded with a status that is no success")
    } else if succeeded
        && record
            .finish_reason
            .as_deref()
            .is_some_and(|reason| matches!(reason, "abort" | "error"))
    {
        Err("it claims to have succeeded with an aborted answer")
    } else if record.times.ended_ms < record.times.dispatched_ms {
        Err("it ended before it was dispatched")
    } else if !in_order(&record.times) || !marks.at_us.is_sorted() {
        Err("its times are out of order")
    } else if record.tokens.output.is_some_and(|tokens| tokens > MOST_TOKENS) {
        Err("it has more tokens than any answer")
    } else if !marks.tokens.is_empty() && marks.tokens.len() != marks.at_us.len() {
        Err("marks.tokens and marks.at_us differ in length")
    } else {
        Ok(())
    }
}

/// Breaks compact JSON into lines in the outer two levels alone, so that a request is one line, however many frames it
/// had. (A formatter of serde's would compile the writing of every type a second time.)
pub(super) fn in_lines(compact: &str) -> String {
    const BROKEN: usize = 2;
    let bytes = compact.as_bytes();
    let mut out = String::with_capacity(compact.len() + compact.len() / 8);
    let (mut depth, mut in_text, mut start) = (0, false, 0);
    let mut i = 0;
    while i < bytes.len() {
        let byte = bytes[i];
        i += 1;
        match byte {
            b'\\' if in_text => i += 1,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'{' | b'[' => {
                depth += 1;
                let empty = matches!(bytes.get(i), Some(b'}' | b']'));
                if depth <= BROKEN && !empty {
                    out.push_str(&compact[start..i]);
                    start = i;
                    line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                let empty = matches!(bytes[i - 2], b'{' | b'[');
                depth -= 1;
                if depth < BROKEN && !empty {
                    out.push_str(&compact[start..i - 1]);
                    start = i - 1;
                    line(&mut out, depth);
                }
            }
            b',' | b':' if depth <= BROKEN => {
                out.push_str(&compact[start..i]);
                start = i;
                if byte == b',' {
                    line(&mut out, depth)
                } else {
                    out.push(' ')
                }
            }
            _ => {}
        }
    }
    out.push_str(&compact[start..]);
    out.push('\n');
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    (0..depth).for_each(|_| out.push_str("  "));
}
