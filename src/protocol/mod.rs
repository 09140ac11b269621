//! What an API says, and nothing about when or whether to believe it: where a request goes and what it asks
//! ([`join_url`], [`request_body`]), what one event or one whole answer contains ([`Chunk`]), and what message an
//! error carries in any of the dialects met in the field ([`ErrorInfo`]).
//!
//! Reading is lenient on purpose: unknown keys are skipped, a value of the wrong type counts as absent, `null` is
//! absent, of two equal keys the last one wins. Only what is no JSON at all is refused. Judging what was read is the
//! task of [`crate::request`].

mod body;
mod chunk;
mod concede;
mod error_body;
mod flush;
mod lenient;
mod parts;
mod server_load;
mod url;
mod wtf8;

pub use body::{Prompt, PromptKindError, request_body};
pub use chunk::{Choice, Choices, Chunk, ErrorSign, NativeFrame};
pub use concede::{Concessions, UsageAsk};
pub use error_body::{ErrorInfo, describe_http_error, error_by_shape, error_in_json, excerpt, message_in_text};
pub use flush::{FLUSH_WAIT_S, flush_path, flush_refused};
pub use lenient::{Count, Text};
pub use parts::{Finish, ServerReport, ToolDelta, Usage};
pub use server_load::ServerLoad;
pub use url::{api_path, api_url, join_url};
pub use wtf8::Wtf8Buffer;
