//! Failures of the same kind.

use crate::request::{Outcome, RequestRecord, Rule};

/// Failures with the same outcome, rule, code and message (numbers and ids generalised).
#[derive(Clone, Debug, PartialEq)]
pub struct FailureGroup {
    /// Their outcome.
    pub outcome: Outcome,
    /// The rule that decided.
    pub rule: Rule,
    /// The server's code.
    pub code: Option<String>,
    /// The message with numbers and ids replaced by `…`.
    pub pattern: String,
    /// The first message, as sent.
    pub example: String,
    /// How many.
    pub count: u32,
    /// Share of requests that ended by themselves.
    pub share: f64,
    /// When the first was seen, ms since the run began.
    pub first_ms: f64,
    /// When the last was seen.
    pub last_ms: f64,
    /// Positions in the slice of records given, in order.
    pub members: Vec<usize>,
}

/// Groups the failures, the largest group first.
pub fn failure_groups(_records: &[RequestRecord]) -> Vec<FailureGroup> {
    todo!()
}
