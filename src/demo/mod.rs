//! A scripted endpoint: a seeded plan of timed frames and faults, without I/O.
//! Hosted by the native `demo_server` on real sockets, and inside the engine as the *simulated* server.

mod config;
mod fault_list;

pub use config::{DemoConfig, FaultKind, FaultShare};
