//! Files of prompts, read piece by piece: bytes in, a bounded sample of items out.
//!
//! [`split`] finds the values in the bytes (the elements of one array, or one object a line), [`form`] tells by looking what
//! a value is, [`Reader`] samples. Nothing of the file is kept but the sample.

mod form;
mod reader;
mod split;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use form::Form;
pub use reader::{Found, LengthBucket, Reader, Summary};

/// One prompt of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileItem {
    /// Position in the file, from 0.
    pub position: u64,
    /// What is asked.
    pub content: Content,
    /// Longest answer, tokens, where the file tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u32>,
    /// Keys for the request's body.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// When a trace had it, s since the trace's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_s: Option<f64>,
}

/// What a file's prompt is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Text.
    Text(String),
    /// Chat messages, as they stand.
    Messages(Vec<Value>),
    /// A conversation: question, answer, question, …
    Conversation(Vec<String>),
    /// Hashes of blocks of 512 tokens, and the length of the whole: a trace without its text.
    Blocks {
        /// The hashes.
        hashes: Vec<u64>,
        /// Length of the prompt, tokens.
        input_tokens: u32,
    },
}

impl FileItem {
    /// Length of the prompt, tokens: told by a trace, else estimated.
    pub fn prompt_tokens(&self) -> u32 {
        match &self.content {
            Content::Text(text) => estimate(text),
            Content::Messages(messages) => messages.iter().map(message_tokens).sum(),
            Content::Conversation(said) => said.first().map_or(0, |text| estimate(text)),
            Content::Blocks { input_tokens, .. } => *input_tokens,
        }
    }

    /// Length of the prompt and of its answer, tokens; `usual` for an answer of which the file tells nothing.
    pub fn tokens(&self, usual: u32) -> u32 {
        self.prompt_tokens().saturating_add(self.output_tokens.unwrap_or(usual))
    }

    /// The beginning of the prompt, for a preview.
    pub fn excerpt(&self, chars: usize) -> String {
        let whole = match &self.content {
            Content::Text(text) => text.clone(),
            Content::Messages(messages) => messages.iter().map(message_text).collect::<Vec<_>>().join(" "),
            Content::Conversation(said) => said.first().cloned().unwrap_or_default(),
            Content::Blocks { hashes, input_tokens } => format!("{} blocks, {input_tokens} tokens", hashes.len()),
        };
        match whole.char_indices().nth(chars) {
            Some((end, _)) => format!("{}…", &whole[..end]),
            None => whole,
        }
    }

    /// About how many bytes of memory it takes.
    fn bytes(&self) -> usize {
        let text = match &self.content {
            Content::Text(text) => text.len(),
            Content::Messages(messages) => messages.iter().map(|message| message.to_string().len() * 2).sum(),
            Content::Conversation(said) => said.iter().map(|text| text.len() + 24).sum(),
            Content::Blocks { hashes, .. } => hashes.len() * 8,
        };
        text + self
            .extra
            .values()
            .map(|value| value.to_string().len() * 2)
            .sum::<usize>()
            + 160
    }
}

/// Tokens of a text, estimated without a tokenizer: one for four bytes, as English has it with the usual vocabularies.
pub fn estimate(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX)
}

fn message_text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn message_tokens(message: &Value) -> u32 {
    estimate(&message_text(message))
}

/// Whether the beginning of a file holds prompts in one of the forms that are understood.
pub fn holds_prompts(head: &[u8]) -> bool {
    let mut reader = Reader::default();
    reader.read(head);
    !reader.finish().summary.form.is_empty()
}
