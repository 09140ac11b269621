//! Captured responses read again: a folder of cases in, verdicts out.
//!
//! A case is a body (`NAME.http`) and a description (`NAME.json`): status, headers, how the bytes reach the reader
//! (`reads`), and how the body ends (`end`).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    config::Api,
    protocol::Count,
    request::{Machine, Outcome, Reading, Spec, TimeoutKind},
};

/// One captured response.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The body, content encoding undone.
    pub body: Vec<u8>,
    /// The rest.
    pub facts: Facts,
}

/// What the description says; what it does not say has a default, so that a bare body can be read too.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// `chat`, `completions` or `generate`.
    pub endpoint: String,
    /// What was asked, if known.
    pub request: Value,
    /// HTTP status; 200 if not given.
    pub status: Option<u16>,
    /// Response headers.
    pub headers: Map<String, Value>,
    /// How the bytes reach the reader.
    pub reads: Reads,
    /// How the body ends.
    pub end: End,
    /// The verdict due.
    pub expect: Value,
}

/// How the bytes reach the reader.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Reads {
    /// `"blocks"`: up to each blank line. `"whole"`: at once.
    Named(String),
    /// These sizes, then the rest.
    Sizes(Vec<usize>),
    /// So many bytes each.
    Every {
        /// Bytes a read.
        every: usize,
    },
    /// At once.
    #[default]
    Whole,
}

/// How the body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Neatly.
    #[default]
    Eof,
    /// The connection breaks.
    Cut,
    /// Not at all, until the client gives up.
    Open,
}

impl Case {
    /// Reads one case from its folder.
    ///
    /// # Errors
    /// With the file and what is wrong with it.
    pub fn load(folder: &Path, name: &str) -> Result<Self, String> {
        let read = |extension: &str| {
            let path = folder.join(format!("{name}.{extension}"));
            fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let facts: Facts =
            serde_json::from_slice(&read("json")?).map_err(|error| format!("{name}.json is no case: {error}"))?;
        let mut body = read("http")?;
        let encoding = facts
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case("content-encoding"));
        if encoding.is_some_and(|(_, value)| value == "gzip") {
            let mut plain = Vec::new();
            io::copy(&mut MultiGzDecoder::new(&body[..]), &mut plain)
                .map_err(|error| format!("{name}.http is no gzip: {error}"))?;
            body = plain;
        }
        Ok(Self {
            name: name.to_owned(),
            body,
            facts,
        })
    }

    /// The API that was asked.
    pub fn api(&self) -> Api {
        Api::from_name(&self.facts.endpoint).unwrap_or_default()
    }

    /// How the machine is set up for it.
    pub fn spec(&self) -> Spec {
        let request = &self.facts.request;
        let asked = ["max_tokens", "max_completion_tokens"]
            .iter()
            .find_map(|key| request[*key].as_u64());
        let asked = asked.or_else(|| request["sampling_params"]["max_new_tokens"].as_u64());
        let stream = request["stream"].as_bool().unwrap_or(true);
        Spec {
            api: self.api(),
            stream,
            requested_tokens: asked,
            keep_text: true,
            keep_bytes: self.body.len(),
        }
    }

    /// The body in the portions the description names.
    pub fn pieces(&self) -> Vec<&[u8]> {
        let body = &self.body[..];
        match &self.facts.reads {
            Reads::Named(name) if name == "blocks" => blocks(body),
            Reads::Every { every } => body.chunks((*every).max(1)).collect(),
            Reads::Sizes(sizes) => {
                let mut rest = body;
                let mut pieces = Vec::new();
                for size in sizes {
                    let (piece, after) = rest.split_at((*size).min(rest.len()));
                    pieces.push(piece);
                    rest = after;
                }
                pieces.push(rest);
                pieces
            }
            Reads::Named(_) | Reads::Whole => vec![body],
        }
    }

    /// Reads it as the engine would, one millisecond a read.
    pub fn read(&self) -> Reading {
        self.read_in(self.pieces())
    }

    /// Reads it in other portions.
    pub fn read_in<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>) -> Reading {
        let mut machine = Machine::new(self.spec(), 0.0);
        let mut now_ms = 1.0;
        machine.headers(self.facts.status.unwrap_or(200), now_ms);
        for piece in pieces {
            now_ms += 1.0;
            machine.read(piece, now_ms);
        }
        match self.facts.end {
            End::Eof => machine.eof(now_ms),
            End::Cut => machine.broken("the server closed the connection", now_ms),
            End::Open if machine.outcome().is_none() => {
                let kind = if self.body.is_empty() {
                    TimeoutKind::FirstByte
                } else {
                    TimeoutKind::Stall
                };
                machine.timeout(kind, now_ms + 60_000.0);
            }
            End::Open => {}
        }
        machine.finish()
    }
}

fn blocks(body: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < body.len() {
        let ends = ["\n\n", "\r\n\r\n", "\r\r"].iter().filter_map(|blank| {
            memchr::memmem::find(&body[start..], blank.as_bytes()).map(|at| start + at + blank.len())
        });
        let end = ends.min().unwrap_or(body.len());
        pieces.push(&body[start..end]);
        start = end;
    }
    pieces
}

/// The names of a folder's cases, in order.
///
/// # Errors
/// If the folder cannot be read or holds none.
pub fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name())))
        .filter(|file| file.extension().is_some_and(|extension| extension == "json"))
        .filter(|file| folder.join(file).with_extension("http").exists())
        .filter_map(|file| Some(file.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    if names.is_empty() {
        return Err(format!(
            "{} holds no case: each is a NAME.http with a NAME.json beside it",
            folder.display()
        ));
    }
    Ok(names)
}

/// A verdict in JSON: `ok`, `category`, `error`, `ttft_event`, `text`, `reasoning`, `usage`, `finish_reason`, `tool_calls`.
pub fn verdict(reading: &Reading) -> Value {
    let transcript = reading.transcript.clone().unwrap_or_default();
    let calls: Vec<Value> = transcript
        .tool_calls()
        .into_iter()
        .map(|(name, arguments)| json!({"name": name, "arguments": arguments}))
        .collect();
    let tokens = |count: Option<Count>| count.and_then(Count::tokens);
    let usage = reading
        .usage
        .filter(|usage| usage.completion.is_some() || usage.prompt.is_some())
        .map(|usage| json!({"prompt_tokens": tokens(usage.prompt), "completion_tokens": tokens(usage.completion)}));
    json!({
        "ok": reading.outcome == Outcome::Succeeded,
        "category": reading.failure.as_ref().map(|_| reading.outcome.name()),
        "error": reading.failure.as_ref().map(|failure| &failure.message),
        "ttft_event": reading.first_token_event,
        "text": transcript.text(),
        "reasoning": transcript.reasoning(),
        "tool_calls": calls,
        "finish_reason": reading.finish_reason,
        "usage": usage.filter(|_| reading.tokens.suspect.is_none()),
        "usage_suspect": reading.tokens.suspect,
        "output_tokens": reading.tokens.output,
    })
}
