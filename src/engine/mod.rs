//! The worker that sends and times requests, and the page's handle on it.

mod client;

pub use client::Engine;
