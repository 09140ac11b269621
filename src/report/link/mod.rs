//! A result in a link: the fragment carries it, no server sees it.
//!
//! A chat link fits what chat and mail programs keep whole, a full one has a row for each request too. Both leave out
//! what does not fit, and say so.

mod bytes;
mod payload;
mod sketch;

use std::fmt;

use super::{Document, Keep};
use crate::{
    metrics::{self, FailureGroup, Sample, Timeline},
    request::Outcome,
};
pub use bytes::PREFIX;
use payload::{Detail, Payload};

/// Letters of a chat link: what chat programs and mail keep whole.
pub const CHAT_LETTERS: usize = 2_000;
/// Letters of a full link.
pub const FULL_LETTERS: usize = 30_000;

/// No number of a result is larger; what a link says beyond is not believed.
const MOST: f64 = 1e15;

/// A link, and what is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The whole URL.
    pub url: String,
    /// What it leaves out, in words.
    pub left_out: Vec<String>,
}

/// A result as a link holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Header, configuration and figures; without any request. Figures have five significant digits.
    pub document: Document,
    /// TTFT, TTFO, TPOT, ITL and E2E, ms, as a sketch knows them; empty if they are left out.
    pub samples: Vec<Sample>,
    /// The run over time, if the link has it.
    pub timeline: Option<Timeline>,
    /// Groups of failures; their members are not in it.
    pub groups: Vec<FailureGroup>,
    /// The requests, if the link has them.
    pub rows: Vec<Row>,
    /// What it leaves out, in words.
    pub left_out: Vec<String>,
}

/// A request in a link; times to a tenth of a millisecond.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its index.
    pub index: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// When it was dispatched, ms since the run began.
    pub dispatched_ms: f64,
    /// Time to first token, ms.
    pub ttft_ms: Option<f64>,
    /// End to end, ms.
    pub e2e_ms: Option<f64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
}

/// Why a link cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// There is no result in it.
    NoResult,
    /// Its end is missing.
    Cut {
        /// Letters that came.
        letters: usize,
        /// Letters that it had.
        of: usize,
    },
    /// Its letters were changed, or it was not made by this page.
    Damaged,
    /// A newer page made it.
    Version(u8),
    /// It is longer than any link of this page.
    TooLong,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoResult => write!(f, "There is no result in this link."),
            Self::Cut { letters, of } if letters < of => write!(
                f,
                "This link was cut on its way: {letters} letters of its result came, of {of} or more. Ask for it again, or for the result as a file."
            ),
            Self::Cut { .. } | Self::Damaged => write!(
                f,
                "This link is damaged: its checksum does not fit. Ask for it again, or for the result as a file."
            ),
            Self::Version(version) => write!(
                f,
                "This link has version {version}, which this page does not know. Open it with a newer copy of the page."
            ),
            Self::TooLong => write!(
                f,
                "This link is longer than any that this page makes, and was not read."
            ),
        }
    }
}

impl std::error::Error for LinkError {}

/// From the most to the least: what does not fit is stepped down.
const STEPS: [Detail; 7] = [
    step(1.04, 60, 12, 200, true),
    step(1.08, 40, 8, 120, true),
    step(1.15, 30, 5, 100, true),
    step(1.3, 20, 3, 80, true),
    step(1.5, 10, 2, 60, true),
    step(0.0, 0, 1, 40, true),
    step(0.0, 0, 0, 12, false),
];

const fn step(factor: f64, buckets: usize, groups: usize, letters: usize, config: bool) -> Detail {
    Detail {
        factor,
        buckets,
        groups,
        letters,
        rows: 0,
        config,
    }
}

/// A link of at most [`CHAT_LETTERS`] letters. `page_url` is the page's own, without query and fragment.
pub fn chat_link(document: &Document, keep: &Keep, page_url: &str) -> Link {
    Maker::of(document, keep, page_url).fit(CHAT_LETTERS)
}

/// A link without rows, of as much detail as [`FULL_LETTERS`] letters hold.
pub fn figures_link(document: &Document, keep: &Keep, page_url: &str) -> Link {
    Maker::of(document, keep, page_url).fit(FULL_LETTERS)
}

/// A link of at most [`FULL_LETTERS`] letters, with the requests as rows, or as many of them as fit.
pub fn full_link(document: &Document, keep: &Keep, page_url: &str) -> Link {
    let maker = Maker::of(document, keep, page_url);
    let mut rows = maker.document.requests.len();
    while rows > 0 {
        let link = maker.link(&Detail { rows, ..STEPS[0] });
        if link.url.len() <= FULL_LETTERS {
            return link;
        }
        // Letters grow with the rows, but for what is there without them.
        let share = FULL_LETTERS as f64 / link.url.len() as f64;
        rows = ((rows as f64 * share * 0.97) as usize).min(rows - 1);
    }
    maker.fit(FULL_LETTERS)
}

struct Maker<'a> {
    document: Document,
    timeline: Timeline,
    groups: Vec<FailureGroup>,
    samples: metrics::Samples,
    page_url: &'a str,
}

impl<'a> Maker<'a> {
    fn of(document: &Document, keep: &Keep, page_url: &'a str) -> Self {
        let document = document.to_share(keep);
        Self {
            timeline: document.course(),
            groups: metrics::failure_groups(&document.requests),
            samples: metrics::samples(&document.requests),
            document,
            page_url,
        }
    }

    fn link(&self, detail: &Detail) -> Link {
        let payload = Payload::of(&self.document, &self.timeline, &self.groups, &self.samples, detail);
        let text = serde_json::to_string(&payload).expect("plain data");
        Link {
            url: format!("{}{}", self.page_url, bytes::seal(&text)),
            left_out: payload.left_out().to_vec(),
        }
    }

    fn fit(&self, letters: usize) -> Link {
        let mut links = STEPS.iter().map(|detail| self.link(detail));
        let fits = links.find(|link| link.url.len() <= letters);
        fits.unwrap_or_else(|| self.link(&STEPS[STEPS.len() - 1]))
    }
}

/// The result in a link or in a fragment.
///
/// # Errors
/// If it was cut or changed on its way, or was never one: nothing in it is believed that is beyond reason.
pub fn open(link: &str) -> Result<Snapshot, LinkError> {
    let text = bytes::open(link)?;
    let payload: Payload = serde_json::from_str(&text).map_err(|_| LinkError::Damaged)?;
    payload.open()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
