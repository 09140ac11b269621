//! What a value of a file is, told by looking at its keys.

use serde_json::{Map, Value};

use super::{Content, FileItem, estimate};

/// Keys by which files name the longest answer.
const OUTPUT_KEYS: [&str; 6] = [
    "output_tokens",
    "output_length",
    "output_len",
    "max_completion_tokens",
    "max_tokens",
    "osl",
];
/// Keys of a body that this program sets itself.
const OWN_KEYS: [&str; 5] = ["messages", "prompt", "model", "max_tokens", "max_completion_tokens"];
/// As SGLang's client: shorter prompts and answers of conversations are left out.
const LEAST_TOKENS: u32 = 2;

/// The forms that are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `{"conversations": [{"from", "value"}, …]}`
    Conversations,
    /// `{"messages": […], …}`: the body of a chat request.
    ChatBody,
    /// `{"prompt": …, "model" or "max_tokens", …}`: the body of a completions request.
    CompletionsBody,
    /// `{"prompt" or "text": …, "output_tokens": …}`
    Prompt,
    /// `{"timestamp", "input_length", "output_length", "hash_ids"}`
    Trace,
}

impl Form {
    /// What it is, in words.
    pub fn words(self, array: bool) -> &'static str {
        match self {
            Self::Conversations if array => "ShareGPT conversations",
            Self::Conversations => "conversations, one a line",
            Self::ChatBody => "bodies of chat requests",
            Self::CompletionsBody => "bodies of completions requests",
            Self::Prompt => "prompts with their answers' lengths",
            Self::Trace => "a Mooncake trace",
        }
    }

    /// The form of a value, if it is one.
    pub fn of(value: &Map<String, Value>) -> Option<Self> {
        let has = |key: &str| value.contains_key(key);
        Some(if has("conversations") || has("conversation") {
            Self::Conversations
        } else if has("messages") || has("body") {
            Self::ChatBody
        } else if has("timestamp") && has("input_length") {
            Self::Trace
        } else if has("prompt")
            && ["model", "max_tokens", "stream", "temperature"]
                .iter()
                .any(|key| has(key))
        {
            Self::CompletionsBody
        } else if ["prompt", "text", "text_input"].iter().any(|key| has(key)) {
            Self::Prompt
        } else {
            return None;
        })
    }

    /// The item that a value holds; `Ok(None)` if it is to be left out without fault, as SGLang's client leaves it out.
    pub fn read(self, mut value: Map<String, Value>, position: u64) -> Result<Option<FileItem>, String> {
        let mut item = FileItem {
            position,
            content: Content::Text(String::new()),
            output_tokens: output_tokens(&value)?,
            extra: Map::new(),
            at_s: None,
        };
        match self {
            Self::Conversations => {
                let said = said(value.get("conversations").or(value.get("conversation")))?;
                if said.len() < 2 || said.iter().take(2).any(|text| estimate(text) < LEAST_TOKENS) {
                    return Ok(None);
                }
                item.output_tokens = item.output_tokens.or(Some(estimate(&said[1])));
                item.content = Content::Conversation(said);
            }
            Self::ChatBody => {
                if let Some(Value::Object(body)) = value.remove("body") {
                    value = body;
                    item.output_tokens = output_tokens(&value)?;
                }
                let Some(Value::Array(messages)) = value.remove("messages") else {
                    return Err("\"messages\" is no list".into());
                };
                if messages.is_empty() || !messages.iter().all(Value::is_object) {
                    return Err("\"messages\" is no list of messages".into());
                }
                item.content = Content::Messages(messages);
                item.extra = rest(value);
            }
            Self::CompletionsBody => {
                item.content = Content::Text(text(&value, &["prompt"])?);
                item.extra = rest(value);
            }
            Self::Prompt => item.content = Content::Text(text(&value, &["prompt", "text", "text_input"])?),
            Self::Trace => {
                let at_ms = value.get("timestamp").and_then(Value::as_f64);
                let at_ms = at_ms.filter(|ms| ms.is_finite() && *ms >= 0.0);
                item.at_s = Some(at_ms.ok_or("\"timestamp\" is no number of milliseconds")? / 1000.0);
                let input_tokens = number(value.get("input_length")).ok_or("\"input_length\" is no whole number")?;
                let hashes = match value.get("hash_ids") {
                    None => Vec::new(),
                    Some(Value::Array(ids)) => ids
                        .iter()
                        .map(Value::as_u64)
                        .collect::<Option<_>>()
                        .ok_or("\"hash_ids\" holds what is no whole number")?,
                    Some(_) => return Err("\"hash_ids\" is no list".into()),
                };
                item.content = Content::Blocks { hashes, input_tokens };
            }
        }
        Ok(Some(item))
    }
}

/// What was said, in turn.
fn said(list: Option<&Value>) -> Result<Vec<String>, String> {
    let Some(Value::Array(list)) = list else {
        return Err("\"conversations\" is no list".into());
    };
    list.iter()
        .map(|entry| match entry {
            Value::String(text) => Ok(text.clone()),
            entry => ["value", "content", "text"]
                .iter()
                .find_map(|key| Some(entry.get(key)?.as_str()?.to_owned()))
                .ok_or_else(|| "a turn has no text (\"value\" or \"content\")".to_owned()),
        })
        .collect()
}

fn text(value: &Map<String, Value>, keys: &[&str]) -> Result<String, String> {
    let (key, found) = keys
        .iter()
        .find_map(|key| Some((key, value.get(*key)?)))
        .ok_or("there is no prompt")?;
    match found {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::String(_) => Err(format!("\"{key}\" is empty")),
        _ => Err(format!("\"{key}\" is no text")),
    }
}

fn number(value: Option<&Value>) -> Option<u32> {
    u32::try_from(value?.as_u64()?).ok().filter(|n| *n > 0)
}

fn output_tokens(value: &Map<String, Value>) -> Result<Option<u32>, String> {
    let found = OUTPUT_KEYS.iter().find_map(|key| Some((key, value.get(*key)?)));
    match found {
        None | Some((_, Value::Null)) => Ok(None),
        Some((key, length)) => match number(Some(length)) {
            Some(length) => Ok(Some(length)),
            None => Err(format!("\"{key}\" is no whole number above 0")),
        },
    }
}

fn rest(mut body: Map<String, Value>) -> Map<String, Value> {
    body.retain(|key, _| !OWN_KEYS.contains(&key.as_str()) && !OUTPUT_KEYS.contains(&key.as_str()));
    body
}
