//! One request's life: what was read when, how it ended, and the bytes that prove it.
//!
//! [`Machine`] is the state machine; its module tells every transition. [`explain()`] runs the same machine over kept
//! bytes and tells what each event meant to it.

mod alike;
mod answer;
mod captured;
pub mod case;
mod explain;
mod foreign;
mod frames;
mod kept;
mod machine;
mod native;
mod outcome;
mod reading;
mod record;
#[cfg(not(target_arch = "wasm32"))]
pub mod replay;
mod usage;
mod words;

pub use answer::ToolCall;
pub use captured::{Captured, CapturedEnd};
pub use explain::{ExplainedEvent, explain};
pub use frames::{Meaning, Seen};
pub use machine::{Flow, Machine};
pub use outcome::{Failure, FailurePhase, Outcome, Rule, TimeoutKind};
pub use reading::{Reading, Spec};
pub use record::{Asked, Evidence, Marks, ReadEvidence, RequestRecord, Times, TokenCounts, TokenSource, WireCounts};
