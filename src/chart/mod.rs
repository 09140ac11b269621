//! Drawings of the result document: SVG by plotters, the same code for the page and for reports.

use crate::metrics::{FailureGroup, Sample, Timeline};

/// Colours of a drawing, as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark ink on white.
    Light,
    /// Light ink on near-black.
    Dark,
}

/// One chart: the picture, what it says in a sentence, and its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// `<svg …>` with role, title and description; scales to its container's width.
    pub svg: String,
    /// The finding, in a sentence.
    pub finding: String,
    /// The table twin: column heads.
    pub head: Vec<String>,
    /// The table twin: rows of formatted cells.
    pub rows: Vec<Vec<String>>,
}

/// Size of a drawing in CSS px.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

/// Output tokens per second over time (successes; discarded frames as a second series if there are any).
pub fn throughput_over_time(_timeline: &Timeline, _size: Size, _theme: Theme) -> Drawing {
    todo!()
}

/// Requests that ended per bucket, stacked by outcome.
pub fn outcomes_over_time(_timeline: &Timeline, _size: Size, _theme: Theme) -> Drawing {
    todo!()
}

/// How often each failure group occurred, as horizontal bars.
pub fn failure_breakdown(_groups: &[FailureGroup], _size: Size, _theme: Theme) -> Drawing {
    todo!()
}

/// Distribution of one latency in ms as a histogram; `name` is the metric's (`"TTFT"`).
pub fn histogram(_name: &str, _sample: &Sample, _size: Size, _theme: Theme) -> Drawing {
    todo!()
}
