//! The numbers, each defined once.

mod adjusted;
mod distribution;
mod floors;
mod glossary;
mod goodput;
mod groups;
mod latencies;
mod series;
pub mod sglang;
mod summary;
mod timeline;
mod tokens;
mod window;

pub use adjusted::{Adjusted, AdjustedPercentile, adjusted};
pub use distribution::{Distribution, Sample};
pub use floors::{FLOORS, floor};
pub use glossary::{Term, glossary, glossary_markdown, term};
pub use goodput::{Goodput, goodput};
pub use groups::{FailureGroup, failure_groups};
pub use latencies::{e2e_ms, tpot_ms, ttft_ms};
pub use series::{PairedDifference, knee, paired_difference};
pub use summary::{OutcomeCounts, Samples, Summary, samples, summarize, summarize_window};
pub use timeline::{Timeline, timeline, timeline_of_part};
pub use window::{Window, steady_window};

#[cfg(test)]
mod tests;
