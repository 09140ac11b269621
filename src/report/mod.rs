//! The result document: the product. Pages, links, files and comparisons are renderings of it.

mod document;
pub mod format;

pub use document::{Document, DocumentError, Ending, FORMAT_VERSION, Format, ServerFacts, Slots};
