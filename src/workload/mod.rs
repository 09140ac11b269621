//! What is asked: the prompts. [`Source`] makes them, from the seed or from what [`file`] read.

pub mod file;
mod random;
mod source;

pub use random::{FIRST_PROMPT_OF_SEED_1, WordRate, calibration_text, random_prompt};
pub use source::{Item, OwnedPrompt, Source, Turn};
