//! A scripted endpoint that speaks as SGLang does: a seeded plan of timed frames and faults, without I/O.
//! Hosted by the native `demo_server` on real sockets, and inside the engine as the *simulated* server.

mod batch;
mod config;
mod faults;
#[cfg(not(target_arch = "wasm32"))]
pub mod host;
mod plan;
mod shapes;
#[cfg(not(target_arch = "wasm32"))]
pub mod site;
pub mod truth;

pub use config::{DemoConfig, FaultKind, FaultShare};
pub use plan::{Ask, FrameKind, Pace, Plan, PlanEnding, Server, TimedFrame};
pub use shapes::http_error;
