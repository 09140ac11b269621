//! The worker that sends and times requests, and the page's handle on it.
//!
//! Load runs in a dedicated worker, so that drawing never delays a timestamp or a send and a hidden tab does not slow
//! its timers. The page gets batches ([`crate::load::EngineEvent`]) four times a second, never single tokens.

mod burst;
mod client;
mod clock;
mod command;
mod diagnose;
mod exchange;
mod lanes;
pub mod probe;
mod recount;
mod run;
mod server;
pub mod server_side;
mod simulated;
mod tokens;
mod transport;
mod worker;

pub use client::Engine;
pub use clock::Clock;
pub use worker::serve;
