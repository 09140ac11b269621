//! The page and its worker: one binary, the role chosen by where it runs.
fn main() {}
