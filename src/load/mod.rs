//! When, and over which connections, requests are sent.

pub mod estimate;
pub mod lanes;
mod progress;
pub mod reach;
pub mod schedule;
pub mod series;

pub use progress::{EngineEvent, Progress, RunEnd, TokenBucket};
