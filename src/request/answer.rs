//! The text of an answer, put together from its pieces.

use crate::protocol::{Choice, ToolDelta, Wtf8Buffer};

/// One tool call of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Name of the function.
    pub name: String,
    /// Its arguments as sent.
    pub arguments: String,
}

/// Text, reasoning and tool calls of one choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub text: Wtf8Buffer,
    pub reasoning: Wtf8Buffer,
    calls: Vec<CallBuffer>,
}

#[derive(Clone, Debug, Default)]
struct CallBuffer {
    index: u32,
    id: Vec<u8>,
    name: Wtf8Buffer,
    arguments: Wtf8Buffer,
}

impl Answer {
    pub fn push(&mut self, choice: &Choice<'_>) {
        self.text.push(&choice.answer);
        self.reasoning.push(&choice.reasoning);
        choice.tools.iter().for_each(|piece| self.push_tool(piece));
    }

    fn push_tool(&mut self, piece: &ToolDelta<'_>) {
        let id = piece.id.as_deref().unwrap_or_default();
        let name = piece.name.as_deref().unwrap_or_default();
        let arguments = piece.arguments.as_deref().unwrap_or_default();
        // A piece belongs to the call of its index, or else to the latest one. Some servers number every call 0: a new
        // id with a name begins a new call.
        let found = self
            .calls
            .iter_mut()
            .rev()
            .find(|call| piece.index.is_none_or(|index| index == call.index));
        let is_new = |call: &CallBuffer| !id.is_empty() && !call.id.is_empty() && id != call.id && !name.is_empty();
        let call = match found {
            Some(call) if !is_new(call) => call,
            _ => {
                let index = piece.index.unwrap_or(self.calls.len() as u32);
                self.calls.push(CallBuffer {
                    index,
                    ..CallBuffer::default()
                });
                self.calls.last_mut().expect("just pushed")
            }
        };
        if call.id.is_empty() {
            call.id = id.to_vec();
        }
        // A name that is repeated with every piece is still one name.
        if call.name.as_bytes() != name {
            call.name.push(name);
        }
        call.arguments.push(arguments);
    }

    pub fn into_tool_calls(self) -> Vec<ToolCall> {
        let calls = self.calls.into_iter();
        calls
            .map(|call| ToolCall {
                name: call.name.into_string(),
                arguments: call.arguments.into_string(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Chunk;

    fn calls(pieces: &[&str]) -> Vec<(String, String)> {
        let mut answer = Answer::default();
        for piece in pieces {
            let json = format!("{{\"choices\":[{{\"delta\":{{\"tool_calls\":[{piece}]}}}}]}}");
            answer.push(Chunk::parse(&json).unwrap().choices.iter().next().unwrap());
        }
        answer
            .into_tool_calls()
            .into_iter()
            .map(|call| (call.name, call.arguments))
            .collect()
    }

    #[test]
    fn pieces_are_put_together_by_index() {
        let pieces = [
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":""}}"#,
            r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}"#,
            r#"{"index":0,"function":{"arguments":"x"}}"#,
            r#"{"index":1,"function":{"name":"g","arguments":"}"}}"#,
        ];
        assert_eq!(calls(&pieces), [("f".into(), "x".into()), ("g".into(), "{}".into())]);
    }

    #[test]
    fn a_new_id_begins_a_new_call_even_under_the_same_index() {
        let pieces = [
            r#"{"index":0,"id":"a","function":{"name":"f","arguments":"1"}}"#,
            r#"{"index":0,"id":"b","function":{"name":"f","arguments":"2"}}"#,
        ];
        assert_eq!(calls(&pieces), [("f".into(), "1".into()), ("f".into(), "2".into())]);
    }

    #[test]
    fn pieces_without_an_index_go_to_the_latest_call() {
        let pieces = [
            r#"{"id":"a","function":{"name":"f","arguments":"1"}}"#,
            r#"{"function":{"arguments":"2"}}"#,
        ];
        assert_eq!(calls(&pieces), [("f".into(), "12".into())]);
    }
}
