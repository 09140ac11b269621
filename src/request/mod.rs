//! One request's life: what was read when, how it ended, and the bytes that prove it.

mod outcome;
mod record;

pub use outcome::{Failure, FailurePhase, Outcome, Rule, TimeoutKind};
pub use record::{Evidence, Marks, ReadEvidence, RequestRecord, Times, TokenCounts, TokenSource, WireCounts};
