//! One finished request, as it stands in the result document.

use serde::{Deserialize, Serialize};

use super::{Failure, Outcome};

/// One finished request. All times are ms since the run began, on one monotonic clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Position in its part of the run, from 0; warm-up and measured requests count apart.
    pub index: u32,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
    /// What was asked of it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub asked: Option<Asked>,
    /// Which lane (base URL) carried it, from 0.
    pub lane: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not succeed; absent for a success.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<Failure>,
    /// When it happened.
    pub times: Times,
    /// HTTP status, if headers came.
    pub status: Option<u16>,
    /// The server's name for the request (`id` of its first chunk), to find it in the server's log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_id: Option<String>,
    /// Finish reason as sent, if any.
    pub finish_reason: Option<String>,
    /// The frames that carried tokens.
    pub marks: Marks,
    /// How many tokens, and how that is known.
    pub tokens: TokenCounts,
    /// What came over the wire.
    pub wire: WireCounts,
    /// The bytes that prove a failure, within the run's bounds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evidence: Option<Evidence>,
}

/// What a request asked for. Lengths are as asked: what came is in [`TokenCounts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Length of the prompt, tokens; absent where nobody asked for one (typed, from a file, with answers before it).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input_tokens: Option<u32>,
    /// Longest answer, tokens.
    pub output_tokens: u32,
    /// Which conversation it belongs to, from 0; absent for a request of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conversation: Option<u32>,
    /// Which turn of that conversation it is, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<u32>,
}

/// The moments of a request, ms since the run began. What did not happen is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// When the load wanted it sent.
    pub scheduled_ms: f64,
    /// When `fetch` was called. `dispatched_ms - scheduled_ms` is time in the client's own queue.
    pub dispatched_ms: f64,
    /// When the response headers were there.
    pub headers_ms: Option<f64>,
    /// The read that brought the first byte of the body.
    pub first_byte_ms: Option<f64>,
    /// The read that brought the role chunk of a chat stream.
    pub role_ms: Option<f64>,
    /// The read that brought the first token of any kind.
    pub first_token_ms: Option<f64>,
    /// The read that brought the first token of the answer (not reasoning).
    pub first_answer_ms: Option<f64>,
    /// The read that brought the last token.
    pub last_token_ms: Option<f64>,
    /// The read that brought `[DONE]`.
    pub done_ms: Option<f64>,
    /// When the verdict fell: `[DONE]`, the end of the body, the break, the time-out.
    pub ended_ms: f64,
}

/// The frames (events) that carried tokens, as columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marks {
    /// Arrival of each frame, µs after `dispatched_ms`. Frames of one read share it.
    pub at_us: Vec<u32>,
    /// Tokens each frame brought, where the server tells (continuous usage or native counts); else empty.
    pub tokens: Vec<u32>,
}

/// How the number of output tokens is known, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The server's `usage.completion_tokens`.
    Usage,
    /// Native `meta_info.completion_tokens`.
    Native,
    /// Counted by the server's `/tokenize` after the run.
    Tokenize,
    /// One per content frame: an estimate.
    Frames,
    /// Not known.
    #[default]
    None,
}

/// Token counts of one request. What the server did not tell is absent, never the requested value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// Output tokens (reasoning included) by the best source.
    pub output: Option<u64>,
    /// That source.
    pub source: TokenSource,
    /// Prompt tokens as the server counted them.
    pub prompt: Option<u64>,
    /// Reasoning tokens as the server counted them.
    pub reasoning: Option<u64>,
    /// Prompt tokens the server had cached.
    pub cached: Option<u64>,
    /// Output tokens by the server's `/tokenize` of the answer's text, asked after the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retokenized: Option<u64>,
    /// Draft tokens accepted per verification step of speculative decoding, where the server told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spec_accept_length: Option<f64>,
    /// Share of draft tokens accepted, where the server told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spec_accept_rate: Option<f64>,
    /// `usage.completion_tokens` as sent, believed or not.
    pub usage_output: Option<u64>,
    /// Frames that carried tokens.
    pub frames: u32,
    /// Why the server's figure was not believed, if it was not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suspect: Option<String>,
}

impl TokenCounts {
    /// Takes what the server's `/tokenize` made of the answer. It counts where the server told nothing else: a count of
    /// frames is an estimate, this is none but for what the text does not show (special tokens, a stop word).
    pub fn retokenize(&mut self, tokens: u64) {
        self.retokenized = Some(tokens);
        if matches!(self.source, TokenSource::Frames | TokenSource::None) && tokens > 0 {
            self.output = Some(tokens);
            self.source = TokenSource::Tokenize;
        }
    }

    /// Whether two of the three counts are further apart than one in ten and than two tokens, or there are
    /// more frames than tokens (a frame may hold several tokens, but no token takes two frames), or usage was not believed.
    pub fn disagree(&self) -> bool {
        let usage = self.usage_output;
        let far = |a: u64, b: u64| a.abs_diff(b) > 2 && a.abs_diff(b) * 10 > a.max(b);
        let too_many_frames = usage.is_some_and(|usage| u64::from(self.frames) > usage.saturating_add(2));
        let text_differs = usage
            .zip(self.retokenized)
            .is_some_and(|(usage, text)| far(usage, text));
        self.suspect.is_some() || too_many_frames || text_differs
    }
}

/// What came over the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireCounts {
    /// Reads of the body that brought bytes.
    pub reads: u32,
    /// Bytes of the body.
    pub bytes: u64,
    /// Events with data, `[DONE]` included.
    pub events: u32,
    /// Token frames that shared their read with an earlier token frame.
    pub coalesced_frames: u32,
}

/// The bytes that prove a failure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// URL the request went to.
    pub url: String,
    /// Body of the request as sent.
    pub request_body: String,
    /// Response headers a browser may read, as `(name, value)`.
    pub headers: Vec<(String, String)>,
    /// The reads, in order, as far as kept.
    pub reads: Vec<ReadEvidence>,
    /// Bytes that came but were not kept, because of the bound per request or per run.
    pub dropped_bytes: u64,
}

/// One read of the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadEvidence {
    /// When it came, ms since the run began.
    pub at_ms: f64,
    /// The bytes (base64 in the document).
    #[serde(with = "base64_bytes")]
    pub bytes: Vec<u8>,
}

mod base64_bytes {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(d)?;
        STANDARD.decode(text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(usage: Option<u64>, frames: u32) -> TokenCounts {
        TokenCounts {
            output: usage.or(Some(frames.into())),
            source: if usage.is_some() {
                TokenSource::Usage
            } else {
                TokenSource::Frames
            },
            usage_output: usage,
            frames,
            ..TokenCounts::default()
        }
    }

    #[test]
    fn the_text_counts_where_the_server_told_nothing() {
        let mut told = counts(Some(64), 20);
        told.retokenize(63);
        assert_eq!((told.output, told.source), (Some(64), TokenSource::Usage));
        let mut silent = counts(None, 20);
        silent.retokenize(63);
        assert_eq!((silent.output, silent.source), (Some(63), TokenSource::Tokenize));
        silent = counts(None, 20);
        silent.retokenize(0);
        assert_eq!(
            silent.source,
            TokenSource::Frames,
            "a text of no token is no count of tool calls"
        );
    }

    #[test]
    fn counts_that_are_far_apart_disagree() {
        let with = |usage, frames, text: Option<u64>| TokenCounts {
            retokenized: text,
            ..counts(usage, frames)
        };
        assert!(!with(Some(64), 64, Some(62)).disagree());
        assert!(
            !with(Some(64), 10, None).disagree(),
            "several tokens a frame are nothing odd"
        );
        assert!(!with(None, 10, Some(64)).disagree());
        assert!(with(Some(64), 64, Some(32)).disagree());
        assert!(with(Some(10), 64, None).disagree());
        assert!(
            !with(Some(3), 3, Some(1)).disagree(),
            "two tokens are an end of sequence and a stop word"
        );
    }
}
