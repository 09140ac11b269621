//! When, and over which connections, requests are sent.

mod progress;

pub use progress::{EngineEvent, Progress, RunEnd, TokenBucket};
