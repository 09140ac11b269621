//! What an API says: request bodies out; events, whole answers and error bodies in.
//!
//! Reading is lenient where servers differ (unknown keys, `null`, other types than expected, repeated keys) and strict
//! where a failure could hide: JSON that is no JSON, an error under any of its names.

mod chunk;
mod error;
mod lenient;
mod request_body;
mod usage;

pub use chunk::{Choice, Chunk, Delta, ErrorIn, Finish, Function, MetaInfo, ToolCall};
pub(crate) use error::error_in_json;
pub use error::{ServerError, error_in_body};
pub use lenient::{append_wtf8, raw_text, text_is_empty};
pub use request_body::{StreamOptions, models_url, request_body, request_url};
pub use usage::{Count, Usage};
