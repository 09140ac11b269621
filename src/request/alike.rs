//! Frames that are like the one before them but for their text and their running counts: most of every stream.
//!
//! A frame that was read as JSON leaves its bytes behind as a template, with holes where its text and its counts stood.
//! If a later frame has the same bytes around the holes, text without escapes in the one and whole numbers in the
//! others, it is JSON of the same shape and means the same: it need not be read as JSON again, which costs ten times as
//! much. Whatever differs in any other byte is read in full.

use std::ops::Range;

use memchr::memmem;

use crate::protocol::{Choice, Count, Usage};

use super::frames::Meaning;

/// A count of more digits is read in full.
const MOST_DIGITS: usize = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hole {
    Text,
    Completion,
    Reasoning,
    /// A number that nobody uses.
    Total,
}

/// The template.
#[derive(Debug, Default)]
pub(super) struct Alike {
    bytes: Vec<u8>,
    /// In the order in which they lie; empty if there is no template.
    holes: Vec<(Range<usize>, Hole)>,
    meaning: Meaning,
}

/// What a frame like the template brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brought {
    pub meaning: Meaning,
    /// Bytes of text; at least one.
    pub text_bytes: usize,
    pub completion: Option<u64>,
    pub reasoning: Option<u64>,
}

impl Alike {
    /// There is no template any more.
    pub fn forget(&mut self) {
        self.holes.clear();
    }

    /// Makes a template of a frame that was read in full, with its one `choice` and what it meant.
    pub fn learn(&mut self, frame: &str, choice: &Choice<'_>, usage: Option<&Usage>, meaning: Meaning) {
        self.forget();
        let text = match (&*choice.answer, &*choice.reasoning) {
            (text, b"") | (b"", text) if !text.is_empty() && choice.tools.is_empty() => text,
            _ => return,
        };
        // Text that had escapes is a copy and lies elsewhere.
        let Some(start) = (text.as_ptr() as usize).checked_sub(frame.as_ptr() as usize) else {
            return;
        };
        if frame.as_bytes().get(start..start + text.len()) != Some(text) {
            return;
        }
        self.holes.push((start..start + text.len(), Hole::Text));
        if let Some(usage) = usage {
            let known = |count: &Option<Count>| count.as_ref().and_then(Count::whole);
            let counts = [
                (
                    &b"\"completion_tokens\":"[..],
                    Hole::Completion,
                    known(&usage.completion),
                ),
                (b"\"reasoning_tokens\":", Hole::Reasoning, known(&usage.reasoning)),
                (b"\"total_tokens\":", Hole::Total, None),
            ];
            for (key, hole, value) in counts {
                let found = number_in_usage(frame.as_bytes(), key);
                self.holes.extend(
                    found
                        .filter(|(_, n)| hole == Hole::Total || value == Some(*n))
                        .map(|(at, _)| (at, hole)),
                );
            }
            self.holes.sort_by_key(|(at, _)| at.start);
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(frame.as_bytes());
        self.meaning = meaning;
    }

    /// What a frame brings if it is like the template.
    pub fn read(&self, frame: &[u8]) -> Option<Brought> {
        let mut brought = Brought {
            meaning: self.meaning,
            text_bytes: 0,
            completion: None,
            reasoning: None,
        };
        let (mut rest, mut from) = (frame, 0);
        for (at, hole) in &self.holes {
            rest = rest.strip_prefix(&self.bytes[from..at.start])?;
            from = at.end;
            let length = match hole {
                Hole::Text => {
                    let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
                    brought.text_bytes = length;
                    length
                }
                number => {
                    let (length, value) = whole_number(rest)?;
                    match number {
                        Hole::Completion => brought.completion = Some(value),
                        Hole::Reasoning => brought.reasoning = Some(value),
                        Hole::Text | Hole::Total => {}
                    }
                    length
                }
            };
            rest = &rest[length..];
        }
        (brought.text_bytes > 0 && rest == &self.bytes[from..]).then_some(brought)
    }
}

/// Length and value of the digits at the start, if JSON takes them for a number of its own.
fn whole_number(bytes: &[u8]) -> Option<(usize, u64)> {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = &bytes[..length];
    let sound = (1..=MOST_DIGITS).contains(&length) && (length == 1 || digits[0] != b'0');
    sound.then(|| {
        let value = digits
            .iter()
            .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
        (length, value)
    })
}

/// Place and value of a number that stands by `key` right in the frame's one `usage` object.
fn number_in_usage(frame: &[u8], key: &[u8]) -> Option<(Range<usize>, u64)> {
    const USAGE: &[u8] = b"\"usage\":";
    let only = |needle: &[u8]| {
        let mut found = memmem::find_iter(frame, needle);
        found.next().filter(|_| found.next().is_none())
    };
    let inside = only(USAGE)? + USAGE.len();
    let at = only(key)?;
    let before = frame.get(inside..at)?.trim_ascii_start().strip_prefix(b"{")?;
    if before.iter().any(|byte| matches!(byte, b'{' | b'}' | b'[' | b']')) {
        return None;
    }
    let value_at = at + key.len();
    let start = value_at + frame[value_at..].iter().position(|byte| *byte != b' ')?;
    let (length, value) = whole_number(&frame[start..])?;
    let ends = matches!(frame.get(start + length), Some(b',' | b'}'));
    ends.then_some((start..start + length, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Chunk;

    fn learned(frame: &str) -> Alike {
        let chunk = Chunk::parse(frame).expect("a chunk");
        let mut alike = Alike::default();
        let meaning = Meaning {
            answer: true,
            ..Meaning::default()
        };
        alike.learn(
            frame,
            chunk.choices.iter().next().expect("a choice"),
            chunk.usage.as_ref(),
            meaning,
        );
        alike
    }

    const FRAME: &str = r#"{"id":"r","choices":[{"delta":{"content":" a"}}],"usage":{"prompt_tokens":7,"total_tokens":9,"completion_tokens":2}}"#;

    #[test]
    fn text_and_counts_may_differ() {
        let alike = learned(FRAME);
        let next = FRAME
            .replace(" a", "日本{}")
            .replace(":9,", ":1010,")
            .replace(":2}", ":1003}");
        let brought = alike.read(next.as_bytes()).expect("like the template");
        assert_eq!(
            (brought.text_bytes, brought.completion, brought.reasoning),
            (8, Some(1003), None)
        );
        assert!(brought.meaning.answer);
    }

    #[test]
    fn anything_else_is_read_in_full() {
        let alike = learned(FRAME);
        let others = [
            ("\" a\"", r#"" \n""#),
            ("\" a\"", r#""""#),
            ("\" a\"", "\"\u{1}\""),
            ("\" a\"", r#""x","finish_reason":"stop""#),
            (":2}", ":-2}"),
            (":2}", ":02}"),
            (":2}", ":2.0}"),
            (":2}", ":}"),
            (":2}", ":1234567890123456}"),
            (":2}", ":2,\"reasoning_tokens\":1}"),
            (":7,", ":8,"),
            ("\"r\"", "\"s\""),
            ("}}", "}} "),
            ("}}", "}"),
        ];
        for (from, to) in others {
            let other = FRAME.replacen(from, to, 1);
            assert_ne!(other, FRAME);
            assert_eq!(alike.read(other.as_bytes()), None, "{other}");
        }
        assert_eq!(Alike::default().read(FRAME.as_bytes()), None);
        assert_eq!(Alike::default().read(b""), None);
    }

    #[test]
    fn a_count_elsewhere_is_no_hole() {
        for frame in [
            r#"{"choices":[{"text":"a"}],"usage":{"output_tokens":2},"timings":{"completion_tokens":2}}"#,
            r#"{"choices":[{"text":"a","usage":{"completion_tokens":2}}],"usage":{"completion_tokens":2}}"#,
            r#"{"choices":[{"text":"a"}],"usage":{"details":{"completion_tokens":2},"output_tokens":2}}"#,
        ] {
            let alike = learned(frame);
            assert_eq!(alike.holes.len(), 1, "{frame}");
            assert!(alike.read(frame.replace("\"a\"", "\"bc\"").as_bytes()).is_some());
        }
    }

    #[test]
    fn text_with_escapes_makes_no_template() {
        assert!(learned(r#"{"choices":[{"delta":{"content":"a\n"}}]}"#).holes.is_empty());
        assert!(learned(r#"{"choices":[{"delta":{"content":""}}]}"#).holes.is_empty());
    }
}
