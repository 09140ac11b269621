//! A server's error in any of its dialects.

use serde_json::{Value, value::RawValue};

use super::lenient::{Raw, raw_text};

/// What a server says of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerError {
    /// Its message, whole; empty if there is none.
    pub message: String,
    /// Its code, as text.
    pub code: Option<String>,
    /// Its type.
    pub kind: Option<String>,
}

/// Whether a raw `error` is one: `null`, `false`, `0`, and empty text, lists and objects are none.
pub(super) fn says_error(error: &RawValue) -> bool {
    let text: String = error
        .get()
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .take(6)
        .collect();
    !matches!(text.as_str(), "null" | "false" | "0" | "\"\"" | "[]" | "{}")
}

impl ServerError {
    /// A message alone.
    pub fn plain(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            ..Self::default()
        }
    }

    /// Reads the value of an `error` key.
    pub(super) fn of(error: &RawValue) -> Self {
        match raw_text(Some(error)).filter(|_| error.get().starts_with('"')) {
            Some(text) => Self {
                message: String::from_utf8_lossy(&text).into_owned(),
                ..Self::default()
            },
            None => serde_json::from_str(error.get()).map_or_else(
                |_| Self {
                    message: error.get().to_owned(),
                    ..Self::default()
                },
                |value| Self::in_value(&value),
            ),
        }
    }

    /// From the three keys as they stand side by side.
    pub(super) fn flat(message: Raw<'_>, code: Raw<'_>, kind: Raw<'_>) -> Self {
        let word = |value: Raw<'_>| match raw_text(value) {
            Some(text) => Some(String::from_utf8_lossy(&text).into_owned()).filter(|text| !text.is_empty()),
            None => value.map(|value| value.get().to_owned()),
        };
        Self {
            message: word(message).unwrap_or_default(),
            code: word(code),
            kind: word(kind),
        }
    }

    /// Fills what this lacks from another.
    pub(super) fn or(mut self, other: &Self) -> Self {
        if self.message.is_empty() {
            self.message.clone_from(&other.message);
        }
        self.code = self.code.or_else(|| other.code.clone());
        self.kind = self.kind.or_else(|| other.kind.clone());
        self
    }

    /// Whatever a JSON value says of an error.
    fn in_value(value: &Value) -> Self {
        match value {
            Value::String(text) => Self {
                message: text.clone(),
                ..Self::default()
            },
            Value::Object(object) => {
                let inner = object
                    .get("error")
                    .filter(|error| !is_empty(error))
                    .map(Self::in_value)
                    .unwrap_or_default();
                let own = Self {
                    message: ["message", "msg", "detail", "details", "error_message", "title"]
                        .iter()
                        .filter_map(|key| object.get(*key))
                        .map(words)
                        .find(|text| !text.is_empty())
                        .unwrap_or_default(),
                    code: ["code", "status_code", "status", "statusCode"]
                        .iter()
                        .find_map(|key| short(object.get(*key)?)),
                    kind: ["type", "error_type", "status"]
                        .iter()
                        .find_map(|key| object.get(*key)?.as_str().map(str::to_owned)),
                };
                let found = inner.or(&own);
                if found.message.is_empty() {
                    Self {
                        message: value.to_string(),
                        ..found
                    }
                } else {
                    found
                }
            }
            other => Self {
                message: words(other),
                ..Self::default()
            },
        }
    }
}

/// The error in a whole body: JSON in any dialect, an event stream, HTML, plain text. `None` if it is empty.
pub fn error_in_body(body: &[u8]) -> Option<ServerError> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return Some(match &value {
            // A list of errors, as Google's APIs send it.
            Value::Array(list) if !list.is_empty() && list[0].is_object() => ServerError::in_value(&list[0]),
            value => ServerError::in_value(value),
        });
    }
    let in_lines = text.lines().find_map(|line| {
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        let value: Value = serde_json::from_str(line).ok().filter(Value::is_object)?;
        Some(ServerError::in_value(&value))
    });
    if in_lines.is_some() {
        return in_lines;
    }
    let message = if text.starts_with('<') {
        html_title(text).unwrap_or_else(|| text.to_owned())
    } else {
        text.to_owned()
    };
    Some(ServerError {
        message,
        ..ServerError::default()
    })
}

/// The error in a JSON body that came with status 200, if it says one.
pub(crate) fn error_in_json(body: &[u8]) -> Option<ServerError> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let object = value.as_object()?;
    let said = object.get("error").is_some_and(|error| !is_empty(error))
        || object.get("object").is_some_and(|kind| kind == "error");
    said.then(|| ServerError::in_value(&value))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

/// A message from whatever stands where one is due: text, or FastAPI's list of `{loc, msg}`.
fn words(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list
            .iter()
            .map(one_of_a_list)
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("; "),
        Value::Object(_) => ServerError::in_value(value).message,
        other => other.to_string(),
    }
}

fn one_of_a_list(value: &Value) -> String {
    let (Some(message), Some(place)) = (value["msg"].as_str(), value["loc"].as_array()) else {
        return words(value);
    };
    let place: Vec<String> = place.iter().map(words).collect();
    format!("{}: {message}", place.join("."))
}

fn short(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn html_title(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let inside = |tag: &str| {
        let open = lower.find(&format!("<{tag}"))?;
        let start = open + lower[open..].find('>')? + 1;
        let end = start + lower[start..].find("</")?;
        let title = text[start..end].split_whitespace().collect::<Vec<_>>().join(" ");
        (!title.is_empty()).then_some(title)
    };
    inside("title").or_else(|| inside("h1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(body: &str) -> (String, Option<String>, Option<String>) {
        let error = error_in_body(body.as_bytes()).expect("an error");
        (error.message, error.code, error.kind)
    }

    #[test]
    fn every_dialect_gives_its_message_code_and_type() {
        let full = |message: &str, code: Option<&str>, kind: Option<&str>| {
            (message.to_owned(), code.map(str::to_owned), kind.map(str::to_owned))
        };
        for (body, due) in [
            (
                r#"{"object":"error","message":"too long","type":"BadRequestError","param":null,"code":400}"#,
                full("too long", Some("400"), Some("BadRequestError")),
            ),
            (
                r#"{"error":{"code":401,"message":"Invalid API Key","type":"authentication_error"}}"#,
                full("Invalid API Key", Some("401"), Some("authentication_error")),
            ),
            (r#"{"error":"Unauthorized"}"#, full("Unauthorized", None, None)),
            (
                r#"{"error":"overloaded","error_type":"overloaded"}"#,
                full("overloaded", None, Some("overloaded")),
            ),
            (r#"{"detail":"Not Found"}"#, full("Not Found", None, None)),
            (
                r#"{"detail":[{"loc":["body","n"],"msg":"too big","type":"x"}]}"#,
                full("body.n: too big", None, None),
            ),
            (r#"{"detail":{"error":"nested"}}"#, full("nested", None, None)),
            (
                r#"[{"error":{"message":"quota","status":"EXHAUSTED","code":429}}]"#,
                full("quota", Some("429"), Some("EXHAUSTED")),
            ),
            (
                r#"{"message":"gateway","code":"no_route"}"#,
                full("gateway", Some("no_route"), None),
            ),
            (r#"{"fault":{"x":1}}"#, full(r#"{"fault":{"x":1}}"#, None, None)),
            ("Internal Server Error", full("Internal Server Error", None, None)),
            (
                "<html><head><title>504 Gateway\n Time-out</title></head></html>",
                full("504 Gateway Time-out", None, None),
            ),
            (
                "data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\ndata: [DONE]\n\n",
                full("busy", Some("503"), None),
            ),
        ] {
            assert_eq!(said(body), due, "{body}");
        }
        assert_eq!(error_in_body(b" \n"), None);
    }

    #[test]
    fn empty_errors_are_none() {
        for text in ["null", "false", "0", "\"\"", "{ }", "[]"] {
            assert!(!says_error(serde_json::from_str(text).expect("JSON")), "{text}");
        }
        for text in ["true", "1", "\"x\"", "{\"a\":null}", "[0]", "\"null\""] {
            assert!(says_error(serde_json::from_str(text).expect("JSON")), "{text}");
        }
    }
}
