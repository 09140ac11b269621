//! When, and over which connections, requests are sent.

pub mod lanes;
mod progress;

pub use progress::{EngineEvent, Progress, RunEnd, TokenBucket};
