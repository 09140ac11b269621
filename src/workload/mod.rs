//! What is asked: the prompts.

mod random;

pub use random::random_prompt;
