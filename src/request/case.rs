//! A captured response with all that tells how to read it, and often the right verdict: the format of the conformance
//! cases.
//!
//! A case is `NAME.http`, the body's bytes, and `NAME.json`, which tells the status, the content type, other headers,
//! how the bytes reach the reader (`reads`), how the body ends (`end`) and the right verdict (`expect`).

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Flow, Machine, Reading, Spec, TimeoutKind};
use crate::config::Api;
use crate::protocol::{Count, Usage};

/// Simulated time between two reads, ms.
const READ_GAP_MS: f64 = 10.0;
/// Simulated patience, ms.
const PATIENCE_MS: f64 = 10_000.0;

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

/// What `NAME.json` tells.
#[derive(Deserialize)]
pub struct CaseFile {
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

impl CaseFile {
    /// Reads the JSON.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| error.to_string())
    }

    /// The body's `Content-Encoding`; empty if it has none.
    pub fn encoding(&self) -> &str {
        self.headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-encoding"))
            .and_then(|(_, value)| value.as_str())
            .unwrap_or_default()
    }

    /// The case, with its body as a browser hands it out: decompressed. `whole` is false if the compressed stream was cut.
    ///
    /// # Errors
    /// If `reads` is none of the known forms.
    pub fn with_body(self, name: &str, body: Vec<u8>, whole: bool) -> Result<Case, String> {
        let read_ends = read_ends(&body, &self.reads).ok_or("`reads` is none of blocks, whole, a list, every")?;
        let tokens = ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|key| self.request.get(*key)?.as_u64());
        let sampled = self
            .request
            .get("sampling_params")
            .and_then(|params| params.get("max_new_tokens")?.as_u64());
        Ok(Case {
            name: name.to_owned(),
            spec: Spec {
                api: match self.endpoint.as_str() {
                    "completions" => Api::Completions,
                    "generate" => Api::Generate,
                    _ => Api::Chat,
                },
                stream: self.request.get("stream").and_then(Value::as_bool).unwrap_or(true),
                requested_tokens: tokens.or(sampled),
                keep_text: true,
                keep_bytes: 1 << 20,
            },
            status: self.status,
            content_type: self.content_type,
            body,
            read_ends,
            // A compressed body that does not end whole breaks the reader's stream.
            end: if whole { self.end } else { BodyEnd::Cut },
            expect: self.expect,
        })
    }
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

/// Where a reading is not what its case expects, a line each; empty if all is right, or if nothing is expected.
pub fn misses(case: &Case, reading: &Reading) -> Vec<String> {
    let (got, due) = (result(reading), &case.expect);
    let mut misses = Vec::new();
    if due.is_null() {
        return misses;
    }
    let ok = reading.failure.is_none();
    let either = due["judge"] == "either";
    let mut check = |good: bool, what: &str, got: &Value, due: &Value| {
        if !good {
            misses.push(format!("{what} is {got}, expected {due}"));
        }
    };
    let listed = |key: &str, value: &Value| due[key].as_array().is_some_and(|list| list.contains(value));
    check(either || Some(ok) == due["ok"].as_bool(), "ok", &got["ok"], &due["ok"]);
    if !ok {
        let category = got["category"] == due["category"] || listed("also_ok", &got["category"]);
        check(either || category, "category", &got["category"], &due["category"]);
        let words = due["error_contains"].as_str().unwrap_or_default().to_lowercase();
        let told = got["error"]
            .as_str()
            .unwrap_or_default()
            .to_lowercase()
            .contains(&words);
        check(told, "error", &got["error"], &due["error_contains"]);
    } else if due["ok"] == true {
        for key in [
            "text",
            "reasoning",
            "finish_reason",
            "tool_calls",
            "ttft_event",
            "usage",
        ] {
            let Some(value) = due.get(key) else { continue };
            let also = listed(&format!("{key}_also"), &got[key]);
            check(&got[key] == value || also, key, &got[key], value);
        }
        let doubted = !got["usage_suspect"].is_null();
        check(
            doubted == (due["usage_suspect"] == true),
            "usage_suspect",
            &got["usage_suspect"],
            &due["usage_suspect"],
        );
    }
    misses
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

    fn case(expect: Value) -> Case {
        let file = json!({"endpoint": "chat", "request": {"max_tokens": 8}, "expect": expect});
        let body =
            b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let file = CaseFile::parse(&file.to_string()).unwrap();
        file.with_body("a", body.to_vec(), true).unwrap()
    }

    #[test]
    fn each_miss_tells_what_came_and_what_was_expected() {
        let told = |expect| {
            let case = case(expect);
            misses(&case, &case.read())
        };
        assert_eq!(told(Value::Null), [""; 0]);
        assert_eq!(
            told(json!({"ok": true, "text": "a", "finish_reason": "stop", "ttft_event": 0})),
            [""; 0]
        );
        assert_eq!(
            told(json!({"ok": true, "text": "b"})),
            ["text is \"a\", expected \"b\""]
        );
        assert_eq!(
            told(json!({"ok": false, "category": "empty"})),
            ["ok is true, expected false"]
        );
    }

    #[test]
    fn a_compressed_body_that_was_cut_breaks() {
        let file = CaseFile::parse("\u{feff}{\"headers\":{\"Content-Encoding\":\"br\"}}").unwrap();
        assert_eq!(file.encoding(), "br");
        assert_eq!(file.with_body("a", Vec::new(), false).unwrap().end, BodyEnd::Cut);
        assert!(CaseFile::parse("[").is_err());
    }
}
