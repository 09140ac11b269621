//! What is asked: the prompts. [`Source`] makes them, from the seed or from what [`file`] read.

pub mod file;
mod lengths;
mod random;
mod source;

pub use lengths::{Lengths, lengths};
pub use random::{FIRST_PROMPT_OF_SEED_1, WordRate, calibration_text, random_prompt};
pub use source::{Item, OwnedPrompt, SHARED_PREFIX_OF_SEED_1, Source, Turn};

use crate::config::workload::Workload;

/// What to tell of prompt tokens that the server had in its cache, though no two prompts were alike. A few are no matter:
/// a block may begin alike by chance.
pub fn cache_note(workload: &Workload, prompt_tokens: u64, cached_tokens: u64) -> Option<String> {
    let share = cached_tokens as f64 / prompt_tokens as f64;
    (!workload.shares_prefixes() && prompt_tokens > 0 && share > 0.05).then(|| {
        format!(
            "The server had {:.0} % of the prompt tokens in its cache though no two prompts of a run are alike: most likely a run \
             with the same seed came before. Times to the first token are shorter than without. Flush the cache or change the seed.",
            share * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::workload::Kind;

    #[test]
    fn cached_tokens_of_unique_prompts_are_told() {
        let unique = Workload::default();
        assert!(cache_note(&unique, 1000, 500).is_some_and(|note| note.contains("50 %")));
        assert_eq!(cache_note(&unique, 1000, 20), None);
        assert_eq!(cache_note(&unique, 0, 0), None);
        let shared = Workload {
            kind: Kind::SharedPrefix,
            ..unique
        };
        assert_eq!(cache_note(&shared, 1000, 900), None);
    }
}
