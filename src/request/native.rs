//! SGLang's native stream: which part of a frame is new.
//!
//! By default `text` and `output_ids` hold everything so far; with the server's `--incremental-streaming-output` they
//! hold the newest piece only. The answer does not say which. Two signs tell them apart:
//!
//! 1. `output_ids` against `meta_info.completion_tokens`, which is cumulative in both modes: as many ids as tokens means
//!    cumulative, as many as tokens were added means incremental. This is certain from the second frame on.
//! 2. Without these counts: a text that does not extend the one before is incremental.

use crate::protocol::{NativeFrame, Wtf8Buffer};

/// How a server puts text in its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Unknown,
    Cumulative,
    Incremental,
}

/// What came so far of one native answer.
#[derive(Clone, Debug, Default)]
pub(super) struct NativeText {
    mode: Mode,
    text: Wtf8Buffer,
    ids: u64,
    completion: u64,
}

/// What a frame added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Added {
    /// Whether it brought a token: new text, or, where the server sends no text at all, new ids.
    pub token: bool,
    /// Bytes of new text.
    pub text_bytes: usize,
}

impl NativeText {
    pub fn push(&mut self, frame: &NativeFrame<'_>) -> Added {
        let completion = frame
            .usage
            .as_ref()
            .and_then(|usage| usage.completion.as_ref()?.whole());
        if let (Mode::Unknown, Some(ids), Some(completion)) = (self.mode, frame.output_ids, completion) {
            // Both hold for the first frame, and neither where the server counts tokens it does not send.
            let added = completion.saturating_sub(self.completion);
            self.mode = match (ids == completion, ids == added) {
                (true, false) => Mode::Cumulative,
                (false, true) => Mode::Incremental,
                _ => Mode::Unknown,
            };
        }
        self.completion = completion.unwrap_or(self.completion);
        let new_ids = self.push_ids(frame.output_ids);
        match &frame.text {
            Some(text) => {
                let text_bytes = self.push_text(text);
                Added {
                    token: text_bytes > 0,
                    text_bytes,
                }
            }
            None => Added {
                token: new_ids,
                text_bytes: 0,
            },
        }
    }

    fn push_ids(&mut self, ids: Option<u64>) -> bool {
        let Some(ids) = ids else { return false };
        let before = if self.mode == Mode::Incremental { 0 } else { self.ids };
        self.ids = ids;
        ids > before
    }

    /// Adds a frame's text and returns how many bytes of it are new.
    fn push_text(&mut self, text: &[u8]) -> usize {
        let so_far = self.text.as_bytes();
        if self.mode == Mode::Unknown && !text.starts_with(so_far) && !so_far.starts_with(text) {
            self.mode = Mode::Incremental;
        }
        if self.mode == Mode::Incremental {
            self.text.push(text);
            return text.len();
        }
        if let Some(new) = text.strip_prefix(so_far) {
            self.text.push(new);
            return new.len();
        }
        // The text was revised: a held-back stop string, or a character that became whole.
        let common = so_far.iter().zip(text).take_while(|(a, b)| a == b).count();
        self.text.replace(text);
        text.len() - common
    }

    pub fn into_text(self) -> Wtf8Buffer {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Chunk;

    /// Feeds frames of (text, number of ids, completion tokens); returns the text and which frames brought a token.
    fn read(frames: &[(Option<&str>, Option<u64>, u64)]) -> (String, Vec<bool>) {
        let mut native = NativeText::default();
        let added = frames.iter().map(|(text, ids, completion)| {
            let mut json = serde_json::json!({"meta_info": {"completion_tokens": completion}});
            if let Some(text) = text {
                json["text"] = (*text).into();
            }
            if let Some(ids) = ids {
                json["output_ids"] = vec![7; *ids as usize].into();
            }
            native.push(&Chunk::parse(&json.to_string()).unwrap().native).token
        });
        let added = added.collect();
        (native.into_text().into_string(), added)
    }

    #[test]
    fn cumulative_text_counts_once() {
        let frames = [
            (Some("Hi"), Some(1), 1),
            (Some("Hi the"), Some(2), 2),
            (Some("Hi there"), Some(3), 3),
        ];
        assert_eq!(read(&frames), ("Hi there".into(), vec![true; 3]));
    }

    #[test]
    fn incremental_text_is_joined() {
        let frames = [
            (Some("Hi"), Some(1), 1),
            (Some(" the"), Some(1), 2),
            (Some("re"), Some(2), 4),
        ];
        assert_eq!(read(&frames), ("Hi there".into(), vec![true; 3]));
    }

    #[test]
    fn an_incremental_piece_that_looks_like_an_extension_is_told_by_its_ids() {
        assert_eq!(read(&[(Some("a"), Some(1), 1), (Some("ab"), Some(1), 2)]).0, "aab");
        assert_eq!(read(&[(Some("ha"), Some(1), 1), (Some("ha"), Some(1), 2)]).0, "haha");
    }

    #[test]
    fn without_ids_the_text_itself_tells() {
        assert_eq!(
            read(&[(Some("Hi"), None, 1), (Some(" you"), None, 2), (Some("!"), None, 3)]).0,
            "Hi you!"
        );
        assert_eq!(read(&[(Some("Hi"), None, 1), (Some("Hi you"), None, 2)]).0, "Hi you");
    }

    #[test]
    fn a_frame_that_adds_no_text_brings_no_token() {
        let frames = [(Some(""), Some(1), 1), (Some("a"), Some(2), 2), (Some("a"), Some(3), 3)];
        assert_eq!(read(&frames), ("a".into(), vec![false, true, false]));
    }

    #[test]
    fn a_trimmed_stop_string_is_no_new_piece() {
        let frames = [(Some("foo ba"), Some(2), 2), (Some("foo"), Some(3), 3)];
        assert_eq!(read(&frames), ("foo".into(), vec![true, false]));
    }

    #[test]
    fn a_server_without_a_tokenizer_brings_tokens_by_their_ids() {
        assert_eq!(
            read(&[(None, Some(1), 1), (None, Some(2), 2), (None, Some(2), 2)]).1,
            [true, true, false]
        );
        assert_eq!(read(&[(None, Some(1), 1), (None, Some(1), 2)]).1, [true, true]);
    }
}
