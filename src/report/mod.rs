//! The result document: the product. Pages, links, files and comparisons are renderings of it.

mod codec;
mod course;
mod csv;
mod document;
mod dump;
pub mod format;
pub mod history;
mod html;
pub mod journal;
mod jsonl;
pub mod link;
mod load_words;
mod markdown;
mod measured;
mod part;
mod secrets;
mod series;
mod series_words;
mod server_details;
mod sharing;

pub use codec::DocumentError;
pub use csv::csv;
pub use document::{Document, Ending, FORMAT_VERSION, Format, LoadSample, ServerFacts, Slots};
pub use dump::dump;
pub use html::{Embedded, embedded, html, series_html};
pub use jsonl::{OWN_KEY, jsonl};
pub use load_words::load_words;
pub use markdown::{markdown, series_markdown};
pub use measured::Measured;
pub use secrets::{HIDDEN, without_secrets};
pub use series::{Compared, Point, SERIES_NAME, Series};
pub use server_details::ServerDetails;
pub use sharing::{Content, Keep};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod schema_tests;
#[cfg(all(test, not(target_arch = "wasm32")))]
pub(crate) mod tests;
