//! SGLang's native `/generate`, whose text is cumulative by default and incremental by a server flag; a response does
//! not say which.

use crate::protocol::{Chunk, MetaInfo, raw_text};

/// What one event adds to what came before.
#[derive(Clone, Debug, Default)]
pub struct Native {
    text: Vec<u8>,
    mode: Mode,
    tokens: u64,
    events: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Unknown,
    Cumulative,
    Incremental,
}

/// What an event brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brought {
    /// Whether there is a new token.
    pub token: bool,
    /// The cumulative count, if told.
    pub running: Option<u64>,
}

impl Native {
    /// Takes one event.
    pub fn take(&mut self, chunk: &Chunk<'_>, meta: &MetaInfo<'_>) -> Brought {
        let running = meta.usage().completion.and_then(|count| count.tokens());
        let text = raw_text(chunk.text);
        let ids = chunk.output_ids();
        self.events += 1;
        if self.mode == Mode::Unknown {
            self.settle(text.as_deref(), ids, running);
        }
        let grown = match (&text, self.mode) {
            (None, _) => false,
            // An abort in incremental mode repeats the whole text; so may any event that brings no new token.
            (Some(text), Mode::Incremental) => {
                let repeats = running.is_some_and(|running| running <= self.tokens) && self.events > 1;
                if !repeats {
                    self.text.extend_from_slice(text);
                }
                !repeats && !text.is_empty()
            }
            (Some(text), _) => {
                let grown = text.len() > self.text.len();
                if grown {
                    self.text.clear();
                    self.text.extend_from_slice(text);
                }
                grown
            }
        };
        let counted = running.is_some_and(|running| running > self.tokens);
        // Without text (a server that keeps no tokenizer) the ids are the output.
        let token = grown || (text.is_none() && (counted || ids.is_some_and(|ids| ids > 0 && running.is_none())));
        if let Some(running) = running {
            self.tokens = self.tokens.max(running);
        }
        Brought { token, running }
    }

    /// Decides the mode as soon as an event can tell.
    fn settle(&mut self, text: Option<&[u8]>, ids: Option<u64>, running: Option<u64>) {
        if self.events == 1 {
            return;
        }
        if let (Some(ids), Some(running)) = (ids, running) {
            self.mode = if ids < running {
                Mode::Incremental
            } else {
                Mode::Cumulative
            };
        } else if let Some(text) = text.filter(|_| !self.text.is_empty()) {
            self.mode = if text.starts_with(&self.text) {
                Mode::Cumulative
            } else {
                Mode::Incremental
            };
        }
    }

    /// The text so far.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[&str]) -> (String, Vec<bool>) {
        let mut native = Native::default();
        let tokens = events.iter().map(|event| {
            let chunk = Chunk::parse(event).expect("JSON");
            native.take(&chunk, &chunk.meta_info().unwrap_or_default()).token
        });
        let tokens = tokens.collect();
        (String::from_utf8_lossy(native.text()).into_owned(), tokens)
    }

    #[test]
    fn cumulative_text_replaces() {
        let events = [
            r#"{"text":"Hi","output_ids":[1],"meta_info":{"completion_tokens":1}}"#,
            r#"{"text":"Hi there","output_ids":[1,2],"meta_info":{"completion_tokens":2}}"#,
            r#"{"text":"Hi there","output_ids":[1,2,3],"meta_info":{"completion_tokens":3}}"#,
        ];
        assert_eq!(read(&events), ("Hi there".into(), vec![true, true, false]));
    }

    #[test]
    fn incremental_text_adds_and_an_aborts_repetition_does_not() {
        let events = [
            r#"{"text":"Hi","output_ids":[1],"meta_info":{"completion_tokens":1}}"#,
            r#"{"text":" there","output_ids":[2],"meta_info":{"completion_tokens":2}}"#,
            r#"{"text":"Hi there","output_ids":[1],"meta_info":{"completion_tokens":2}}"#,
        ];
        assert_eq!(read(&events), ("Hi there".into(), vec![true, true, false]));
    }

    #[test]
    fn the_mode_is_told_by_the_text_where_there_are_no_ids() {
        assert_eq!(read(&[r#"{"text":"a"}"#, r#"{"text":"ab"}"#]).0, "ab");
        assert_eq!(read(&[r#"{"text":"a"}"#, r#"{"text":"b"}"#]).0, "ab");
    }

    #[test]
    fn without_text_the_ids_are_the_output() {
        let events = [r#"{"output_ids":[1],"meta_info":{"completion_tokens":1}}"#];
        assert_eq!(read(&events).1, [true]);
    }
}
