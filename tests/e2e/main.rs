//! The page in a real browser, against real sockets, compared with what the demo endpoint says it truly did.

mod access;
mod charts;
mod checks;
mod compare;
mod harness;
mod health;
mod history;
mod links;
mod looks;
mod reading;
mod report;
mod runs;
mod series;
mod server_side;
mod share;
mod workloads;
