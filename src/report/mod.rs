//! The result document: the product. Pages, links, files and comparisons are renderings of it.

mod codec;
mod document;
pub mod format;
mod load_words;
mod markdown;
mod part;
mod secrets;
mod series;

pub use codec::DocumentError;
pub use document::{Document, Ending, FORMAT_VERSION, Format, ServerFacts, Slots};
pub use load_words::load_words;
pub use markdown::markdown;
pub use secrets::{HIDDEN, without_secrets};
pub use series::{Compared, Point, SERIES_NAME, Series};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
