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

/// A prompt of about `tokens` tokens: one word each. The seed and the index decide it, so that no two requests of a
/// run share a prefix that a server could have cached. The server's own count of the prompt is what gets reported.
pub fn random_prompt(seed: u64, warmup: bool, index: u32, tokens: u32) -> String {
    let stream = (u64::from(warmup) << 32) | u64::from(index);
    let mut rng = Pcg64Mcg::seed_from_u64(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut prompt = String::with_capacity(tokens as usize * 6);
    for i in 0..tokens {
        if i > 0 {
            prompt.push(' ');
        }
        prompt.push_str(WORDS[rng.random_range(0..WORDS.len() as u32) as usize]);
    }
    prompt
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
}
