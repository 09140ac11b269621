//! One request's life: what was read when, how it ended, and the bytes that prove it.

mod evidence;
mod machine;
mod native;
mod outcome;
mod record;
mod tally;
mod transcript;

pub use machine::{Flow, Machine, Meaning, Reading, Spec};
pub use outcome::{Failure, FailurePhase, Outcome, Rule, TimeoutKind};
pub use record::{Evidence, Marks, ReadEvidence, RequestRecord, Times, TokenCounts, TokenSource, WireCounts};
pub use transcript::Transcript;
