//! The page in a real browser, against real sockets, compared with what the demo endpoint says it truly did.

mod checks;
mod harness;
mod health;
mod looks;
mod reading;
mod runs;
mod workloads;
