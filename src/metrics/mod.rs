//! The numbers, each defined once.

mod distribution;
mod glossary;
mod groups;
mod summary;
mod timeline;
mod tokens;

pub use distribution::{Distribution, Sample};
pub use glossary::{Term, glossary, term};
pub use groups::{FailureGroup, failure_groups};
pub use summary::{OutcomeCounts, Samples, Summary, samples, summarize};
pub use timeline::{Timeline, timeline};

#[cfg(test)]
mod tests;
