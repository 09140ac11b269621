//! What a response says, for those who want to read it: kept only on request.

use crate::protocol::{Choice, append_wtf8, raw_text};

/// Text, reasoning and tool calls of the first choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    text: Vec<u8>,
    reasoning: Vec<u8>,
    tool_calls: Vec<Call>,
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Call {
    index: u64,
    name: Vec<u8>,
    arguments: Vec<u8>,
}

impl Transcript {
    /// Adds what a choice brings, if it is the first choice.
    pub fn add(&mut self, choice: &Choice<'_>) {
        if choice.index() != 0 {
            return;
        }
        for text in [choice.text, choice.delta.content] {
            append_wtf8(&mut self.text, &raw_text(text).unwrap_or_default());
        }
        append_wtf8(
            &mut self.reasoning,
            &raw_text(choice.delta.reasoning()).unwrap_or_default(),
        );
        for (index, function) in choice.delta.tool_calls() {
            let position = self
                .tool_calls
                .iter()
                .position(|call| call.index == index)
                .unwrap_or_else(|| {
                    self.tool_calls.push(Call {
                        index,
                        ..Call::default()
                    });
                    self.tool_calls.len() - 1
                });
            let call = &mut self.tool_calls[position];
            append_wtf8(&mut call.name, &raw_text(function.name).unwrap_or_default());
            match function.arguments.filter(|arguments| arguments.get().starts_with('{')) {
                Some(object) => call.arguments.extend_from_slice(object.get().as_bytes()),
                None => append_wtf8(&mut call.arguments, &raw_text(function.arguments).unwrap_or_default()),
            }
        }
    }

    /// Adds text alone.
    pub fn add_text(&mut self, text: &[u8]) {
        append_wtf8(&mut self.text, text);
    }

    /// Replaces the text so far, as a cumulative stream does.
    pub fn set_text(&mut self, text: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(text);
    }

    /// The answer. Half a surrogate pair that found no other half is U+FFFD.
    pub fn text(&self) -> String {
        lossy(&self.text)
    }

    /// The reasoning.
    pub fn reasoning(&self) -> String {
        lossy(&self.reasoning)
    }

    /// The tool calls as `(name, arguments)`.
    pub fn tool_calls(&self) -> Vec<(String, String)> {
        self.tool_calls
            .iter()
            .map(|call| (lossy(&call.name), lossy(&call.arguments)))
            .collect()
    }
}

/// WTF-8 as text: each lone half becomes one replacement character.
fn lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for part in bytes.utf8_chunks() {
        text.push_str(part.valid());
        // A lone half is three bytes that the standard splits into three invalid parts; only the first counts.
        if part.invalid().first().is_some_and(|byte| !(0x80..=0xbf).contains(byte)) {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Chunk;

    #[test]
    fn tool_calls_are_put_together_from_their_parts() {
        let mut transcript = Transcript::default();
        for json in [
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"f","arguments":""}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":null,"arguments":"{\"a\":"}}]}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"1}"}},{"index":2,"function":{"name":"g","arguments":{"b":2}}}]}}]}"#,
            r#"{"choices":[{"index":1,"delta":{"content":"not of the first choice"}}]}"#,
        ] {
            Chunk::parse(json)
                .expect("JSON")
                .choices()
                .for_each(|choice| transcript.add(choice));
        }
        let call = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
        assert_eq!(
            transcript.tool_calls(),
            [call("f", r#"{"a":1}"#), call("g", r#"{"b":2}"#)]
        );
        assert_eq!(transcript.text(), "");
    }

    #[test]
    fn a_half_that_stays_alone_is_one_replacement_character() {
        let mut transcript = Transcript::default();
        transcript.add_text(&[b'a', 0xed, 0xa0, 0xbd]);
        assert_eq!(transcript.text(), "a\u{fffd}");
    }
}
