//! Captured responses, read from a folder and judged: the format of the conformance cases.
//!
//! A case is `NAME.http`, the body's bytes, and `NAME.json`, which tells the status, the content type, other headers,
//! how the bytes reach the reader (`reads`) and how the body ends (`end`).

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Flow, Machine, Reading, Spec, TimeoutKind};
use crate::config::Api;
use crate::protocol::{Count, Usage};

/// Simulated time between two reads, ms.
const READ_GAP_MS: f64 = 10.0;
/// Simulated patience, ms.
const PATIENCE_MS: f64 = 10_000.0;

/// A folder or a case in it cannot be read.
#[derive(Debug)]
pub struct ReplayError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

impl std::error::Error for ReplayError {}

impl ReplayError {
    fn new(path: &Path, why: impl fmt::Display) -> Self {
        Self {
            path: path.to_owned(),
            why: why.to_string(),
        }
    }
}

/// How a body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyEnd {
    /// Neatly.
    #[default]
    Eof,
    /// The connection breaks.
    Cut,
    /// Nothing more comes and nothing closes.
    Open,
}

/// One captured response.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name: the file's, without ending.
    pub name: String,
    /// What the machine is told of the request.
    pub spec: Spec,
    /// HTTP status.
    pub status: u16,
    /// Content type, if sent.
    pub content_type: Option<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// Ends of the reads in the body.
    pub read_ends: Vec<usize>,
    /// How the body ends.
    pub end: BodyEnd,
    /// The right verdict, if the case tells one.
    pub expect: Value,
}

#[derive(Deserialize)]
struct CaseFile {
    #[serde(default)]
    endpoint: String,
    #[serde(default)]
    request: Map<String, Value>,
    #[serde(default = "ok_status")]
    status: u16,
    #[serde(default)]
    content_type: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    reads: Value,
    #[serde(default)]
    end: BodyEnd,
    #[serde(default)]
    expect: Value,
}

fn ok_status() -> u16 {
    200
}

/// Reads every case of a folder, in the order of the names. Fails if there is none; a case that cannot be read stands
/// as an error among the others.
pub fn read_folder(folder: &Path) -> Result<Vec<Result<Case, ReplayError>>, ReplayError> {
    let entries = std::fs::read_dir(folder).map_err(|error| ReplayError::new(folder, error))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| ReplayError::new(folder, error))?.path();
        if path.extension().is_some_and(|ending| ending == "json") && path.with_extension("http").is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(ReplayError::new(
            folder,
            "no case found: a case is a pair of files NAME.json and NAME.http",
        ));
    }
    Ok(paths.iter().map(|path| read_case(path)).collect())
}

/// Reads one case from its `NAME.json`.
pub fn read_case(path: &Path) -> Result<Case, ReplayError> {
    let text = std::fs::read_to_string(path).map_err(|error| ReplayError::new(path, error))?;
    let file: CaseFile = serde_json::from_str(&text).map_err(|error| ReplayError::new(path, error))?;
    let body_path = path.with_extension("http");
    let sent = std::fs::read(&body_path).map_err(|error| ReplayError::new(&body_path, error))?;
    let encoding = file
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    let encoding = encoding.and_then(|(_, value)| value.as_str()).unwrap_or_default();
    let (body, whole) = decompress(&sent, encoding).map_err(|why| ReplayError::new(&body_path, why))?;
    let read_ends = read_ends(&body, &file.reads)
        .ok_or_else(|| ReplayError::new(path, "`reads` is none of blocks, whole, a list, every"))?;
    let tokens = ["max_completion_tokens", "max_tokens"]
        .iter()
        .find_map(|key| file.request.get(*key)?.as_u64());
    let sampled = file
        .request
        .get("sampling_params")
        .and_then(|params| params.get("max_new_tokens")?.as_u64());
    Ok(Case {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        spec: Spec {
            api: match file.endpoint.as_str() {
                "completions" => Api::Completions,
                "generate" => Api::Generate,
                _ => Api::Chat,
            },
            stream: file.request.get("stream").and_then(Value::as_bool).unwrap_or(true),
            requested_tokens: tokens.or(sampled),
            keep_text: true,
            keep_bytes: 1 << 20,
        },
        status: file.status,
        content_type: file.content_type,
        body,
        read_ends,
        // A compressed body that does not end whole breaks the reader's stream.
        end: if whole { file.end } else { BodyEnd::Cut },
        expect: file.expect,
    })
}

/// The bytes a browser would hand out, and whether the compressed stream was whole.
fn decompress(sent: &[u8], encoding: &str) -> Result<(Vec<u8>, bool), String> {
    let mut body = Vec::new();
    let read = match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => return Ok((sent.to_vec(), true)),
        "gzip" | "x-gzip" => flate2::read::MultiGzDecoder::new(sent).read_to_end(&mut body),
        "deflate" => flate2::read::ZlibDecoder::new(sent).read_to_end(&mut body),
        other => return Err(format!("content-encoding {other} is not known here")),
    };
    Ok((body, read.is_ok()))
}

fn read_ends(body: &[u8], reads: &Value) -> Option<Vec<usize>> {
    let mut ends = match reads {
        Value::Null => Vec::new(),
        Value::String(how) if how == "whole" => Vec::new(),
        Value::String(how) if how == "blocks" => {
            let blank = |at: usize| {
                [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"]
                    .iter()
                    .any(|line| body[..at].ends_with(line))
            };
            (1..body.len()).filter(|&at| blank(at)).collect()
        }
        Value::Array(sizes) => {
            let mut end = 0;
            let sizes = sizes.iter().map(|size| Some(size.as_u64()? as usize));
            sizes
                .map(|size| {
                    Some({
                        end += size?;
                        end
                    })
                })
                .collect::<Option<Vec<usize>>>()?
        }
        Value::Object(every) => {
            let step = every.get("every")?.as_u64().filter(|&step| step > 0)? as usize;
            (step..body.len()).step_by(step).collect()
        }
        _ => return None,
    };
    ends.retain(|&end| end < body.len());
    ends.push(body.len());
    Some(ends)
}

impl Case {
    /// Feeds the case to the machine, its bytes split at `read_ends`.
    pub fn read_split(&self, read_ends: &[usize]) -> Reading {
        let mut machine = Machine::new(self.spec, 0.0);
        let mut now_ms = READ_GAP_MS;
        machine.headers(self.status, self.content_type.as_deref(), now_ms);
        let mut start = 0;
        for &end in read_ends {
            now_ms += READ_GAP_MS;
            if machine.read(&self.body[start..end], now_ms) == Flow::Complete {
                return machine.finish();
            }
            start = end;
        }
        match self.end {
            BodyEnd::Eof => machine.eof(now_ms + READ_GAP_MS),
            BodyEnd::Cut => machine.broken("network error", now_ms + READ_GAP_MS),
            BodyEnd::Open if self.body.is_empty() => machine.timeout(TimeoutKind::FirstByte, now_ms + PATIENCE_MS),
            BodyEnd::Open => machine.timeout(TimeoutKind::Stall, now_ms + PATIENCE_MS),
        }
        machine.finish()
    }

    /// Feeds the case to the machine as it tells.
    pub fn read(&self) -> Reading {
        self.read_split(&self.read_ends)
    }
}

/// A reading in the shape in which cases are judged.
pub fn result(reading: &Reading) -> Value {
    let failure = reading.failure.as_ref();
    let calls = reading
        .tool_calls
        .iter()
        .map(|call| json!({"name": call.name, "arguments": call.arguments}));
    json!({
        "ok": failure.is_none(),
        "category": failure.map(|_| reading.outcome.name()),
        "rule": failure.map(|failure| failure.rule),
        "error": failure.map(|failure| failure.message.as_str()),
        "code": failure.and_then(|failure| failure.code.as_deref()),
        "ttft_event": reading.first_token_event,
        "text": reading.text,
        "reasoning": reading.reasoning,
        "usage": reading.usage.as_ref().map(usage_as_sent),
        "usage_suspect": reading.tokens.suspect,
        "output_tokens": reading.tokens.output,
        "token_source": reading.tokens.source,
        "finish_reason": reading.finish_reason,
        "tool_calls": calls.collect::<Vec<_>>(),
    })
}

fn usage_as_sent(usage: &Usage) -> Value {
    let sent = |count: &Option<Count>| match count {
        Some(Count::Whole(n)) => (*n).into(),
        Some(Count::Odd(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string())),
        None => Value::Null,
    };
    json!({"prompt_tokens": sent(&usage.prompt), "completion_tokens": sent(&usage.completion)})
}

/// The results of every case of a folder, by name, and the cases that could not be read.
pub fn judge_folder(folder: &Path) -> Result<(Value, Vec<ReplayError>), ReplayError> {
    let mut results = Map::new();
    let mut unread = Vec::new();
    for case in read_folder(folder)? {
        match case {
            Ok(case) => {
                let judged = result(&case.read());
                results.insert(case.name, judged);
            }
            Err(error) => unread.push(error),
        }
    }
    Ok((Value::Object(results), unread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_end_where_the_case_says() {
        let body = b"a\n\nb\r\n\r\nc";
        assert_eq!(read_ends(body, &json!("blocks")), Some(vec![3, 8, 9]));
        assert_eq!(read_ends(body, &json!("whole")), Some(vec![9]));
        assert_eq!(read_ends(body, &json!([2, 3])), Some(vec![2, 5, 9]));
        assert_eq!(read_ends(body, &json!({"every": 4})), Some(vec![4, 8, 9]));
        assert_eq!(read_ends(body, &json!({"every": 0})), None);
        assert_eq!(read_ends(body, &json!("never")), None);
    }

    #[test]
    fn a_compressed_body_that_is_cut_is_not_whole() {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(b"data: a\n\n").unwrap();
        let sent = encoder.finish().unwrap();
        assert_eq!(decompress(&sent, "gzip"), Ok((b"data: a\n\n".to_vec(), true)));
        assert!(!decompress(&sent[..sent.len() - 4], "gzip").unwrap().1);
        assert!(decompress(&sent, "br").unwrap_err().contains("br"));
    }

    #[test]
    fn a_folder_without_cases_is_named() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let error = read_folder(&folder).unwrap_err().to_string();
        assert!(error.contains("src") && error.contains("no case found"), "{error}");
        assert!(read_folder(&folder.join("nowhere")).is_err());
    }
}
