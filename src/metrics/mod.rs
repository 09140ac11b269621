//! The numbers, each defined once.

mod distribution;
mod groups;
mod summary;
mod timeline;

pub use distribution::{Distribution, Sample};
pub use groups::{FailureGroup, failure_groups};
pub use summary::{OutcomeCounts, Summary, summarize};
pub use timeline::{Timeline, timeline};
