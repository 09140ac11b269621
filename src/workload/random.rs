//! Random text.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Words that common tokenizers hold as one token each, with the space before them.
const WORDS: [&str; 96] = [
    "about", "above", "across", "after", "again", "air", "all", "along", "always", "and", "answer", "any", "area",
    "back", "been", "below", "best", "better", "between", "black", "body", "book", "both", "bring", "call", "came",
    "car", "case", "change", "city", "clear", "close", "cold", "color", "come", "could", "country", "cut", "dark",
    "day", "does", "done", "door", "down", "draw", "early", "earth", "east", "easy", "end", "even", "every", "eye",
    "face", "fact", "family", "far", "fast", "feel", "field", "find", "fire", "first", "food", "force", "form",
    "found", "four", "free", "friend", "from", "full", "game", "gave", "girl", "give", "gold", "good", "great",
    "green", "ground", "group", "grow", "half", "hand", "hard", "head", "hear", "heat", "help", "here", "high", "home",
    "horse", "hour", "house",
];

/// What seed 1 gives first: the same natively and in the browser.
pub const FIRST_PROMPT_OF_SEED_1: &str = "half black found call four book";

/// What a stream of random numbers is for. Streams of different parts share nothing, whatever the seed and the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Measured prompts, by request.
    Measured = 0,
    /// Warm-up prompts, by request.
    WarmUp = 1,
    /// Shared prefixes, by group.
    Prefix = 2,
    /// Lengths of measured requests.
    Lengths = 3,
    /// Lengths of warm-up requests.
    WarmUpLengths = 4,
    /// Which group a request belongs to, and the order of a file's items.
    Order = 5,
    /// Blocks of a trace, by their hash.
    Block = 6,
}

/// The random numbers of a part. `number` is the request, the group, the block.
pub(super) fn stream(seed: u64, part: Part, number: u64) -> Pcg64Mcg {
    let stream = ((part as u64) << 32) ^ number;
    Pcg64Mcg::seed_from_u64(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Random words with a space between them.
pub(super) fn words(rng: &mut Pcg64Mcg, count: u32) -> String {
    let mut text = String::with_capacity(count as usize * 6);
    for i in 0..count {
        if i > 0 {
            text.push(' ');
        }
        text.push_str(WORDS[rng.random_range(0..WORDS.len() as u32) as usize]);
    }
    text
}

/// A prompt of so many random words. The seed and the index decide it, so that no two requests of a run share a prefix
/// that a server could have cached.
pub fn random_prompt(seed: u64, warmup: bool, index: u32, count: u32) -> String {
    let part = if warmup { Part::WarmUp } else { Part::Measured };
    words(&mut stream(seed, part, index.into()), count)
}

/// Text with each word `times` times, so that its tokens per word are those of random words in the long run.
pub fn calibration_text(times: u32) -> String {
    let once = WORDS.join(" ");
    vec![once; times as usize].join(" ")
}

/// How many tokens a server makes of words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WordRate {
    /// Tokens per word.
    pub tokens_per_word: f64,
    /// Tokens around a prompt: the chat template, the token that begins a sequence.
    pub around: f64,
}

impl Default for WordRate {
    /// One token each, as with most large vocabularies.
    fn default() -> Self {
        Self {
            tokens_per_word: 1.0,
            around: 0.0,
        }
    }
}

impl WordRate {
    /// Words in [`calibration_text`] per time.
    const ONCE: f64 = WORDS.len() as f64;

    /// From what a server counted in [`calibration_text`] of 1 and of 2 times. `None` if the counts make no sense.
    pub fn of_counts(once: u64, twice: u64) -> Option<Self> {
        let tokens_per_word = (twice as f64 - once as f64) / Self::ONCE;
        let around = once as f64 - tokens_per_word * Self::ONCE;
        // More than a token per letter and space, or less than a token for ten words, is no tokenizer.
        (0.1..=10.0).contains(&tokens_per_word).then_some(Self {
            tokens_per_word,
            around: around.max(0.0),
        })
    }

    /// Words for a whole prompt of so many tokens; at least one.
    pub fn words_for(self, tokens: u32) -> u32 {
        self.words_within((f64::from(tokens) - self.around).max(0.0))
    }

    /// Words for so many tokens in the middle of a prompt; at least one.
    pub fn words_within(self, tokens: f64) -> u32 {
        ((tokens / self.tokens_per_word).round() as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_prompt_of_a_seed_never_changes() {
        assert_eq!(random_prompt(1, false, 0, 6), FIRST_PROMPT_OF_SEED_1);
    }

    #[test]
    fn the_same_seed_gives_the_same_prompt() {
        assert_eq!(random_prompt(1, false, 3, 50), random_prompt(1, false, 3, 50));
    }

    #[test]
    fn requests_warm_up_and_seeds_have_prompts_of_their_own() {
        let prompts = [
            random_prompt(1, false, 0, 8),
            random_prompt(1, false, 1, 8),
            random_prompt(1, true, 0, 8),
            random_prompt(2, false, 0, 8),
        ];
        for (i, prompt) in prompts.iter().enumerate() {
            assert!(!prompts[..i].contains(prompt), "{prompt}");
        }
    }

    #[test]
    fn the_length_is_the_asked_number_of_words() {
        assert_eq!(random_prompt(1, false, 0, 128).split(' ').count(), 128);
        assert_eq!(random_prompt(1, false, 0, 1).split(' ').count(), 1);
    }

    #[test]
    fn two_counts_give_the_rate_and_what_is_around() {
        let rate = WordRate::of_counts(9 + 3 * 96, 9 + 6 * 96).unwrap();
        assert_eq!((rate.tokens_per_word, rate.around), (3.0, 9.0));
        assert_eq!((rate.words_for(309), rate.words_for(1)), (100, 1));
        assert_eq!(calibration_text(2).split(' ').count(), 192);
        assert_eq!(WordRate::of_counts(96, 96), None);
        assert_eq!(WordRate::of_counts(96, 5000), None);
    }
}
