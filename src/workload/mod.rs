//! What is asked: the prompts.

mod random;

pub use random::{FIRST_PROMPT_OF_SEED_1, random_prompt};
