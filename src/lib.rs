//! Streamgauge measures how an LLM server streams, and never counts a failure as a success.
//!
//! The modules, in the order in which the data passes through them:
//!
//! - [`config`]: what a person asked for; its form in a link
//! - [`workload`]: what is asked (prompts)
//! - [`load`]: when, and over which connections, it is asked
//! - [`engine`]: (wasm) the worker that sends and times requests
//! - [`sse`]: bytes → events
//! - [`protocol`]: what an API says: request bodies; events → deltas, usage, finish, errors
//! - [`request`]: one request's life, its outcome and the bytes that prove it
//! - [`metrics`]: the numbers, each defined once
//! - [`health`]: the client's verdict on itself
//! - [`report`]: the result document
//! - [`import`]: results of this and of other tools, read
//! - [`compare`]: two of them beside each other
//! - [`chart`]: drawings of it
//! - [`page`]: (wasm) what a person sees
//!
//! Beside that line stands [`demo`]: a scripted endpoint, hosted by the native `demo_server` and by the engine.
//!
//! Everything but `engine` and `page` is plain Rust: no clock, no browser, no async. Time is a parameter.

#![warn(missing_docs)]

pub mod chart;
pub mod compare;
pub mod config;
pub mod demo;
#[cfg(target_arch = "wasm32")]
pub mod engine;
pub mod health;
pub mod import;
pub mod load;
pub mod metrics;
#[cfg(target_arch = "wasm32")]
pub mod page;
pub mod protocol;
pub mod report;
pub mod request;
pub mod sse;
pub mod workload;
