//! The message of an error, whatever dialect it is told in.
//!
//! Met in the field: `{"error": {"message", "type", "code"}}` (OpenAI, vLLM, llama.cpp, routers), the same flat
//! (SGLang), `{"error": "…"}` (TGI, Ollama, API-key middleware), `{"detail": "…"}` or a list of them (FastAPI),
//! `{"message": "…"}` (Kong, AWS), `{"title", "detail"}` (RFC 9457, NVIDIA), `{"errors": […]}` (Cloudflare), plain text
//! (Envoy, uvicorn), HTML with a title (nginx), an event stream with an error event, nothing at all.

use std::ops::ControlFlow;

use serde_json::Value;

use crate::sse;

/// What is shown of a body that is no known dialect, in characters.
const EXCERPT: usize = 2000;

/// An error in a server's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorInfo {
    /// The message; empty if there was none.
    pub message: String,
    /// A code, as text: `503`, `model_not_found`.
    pub code: Option<String>,
    /// A type: `BadRequestError`.
    pub kind: Option<String>,
}

/// Reads the body of an answer whose status is not 2xx. The message begins with the status.
pub fn describe_http_error(status: u16, body: &[u8]) -> ErrorInfo {
    let mut info = message_in_text(&String::from_utf8_lossy(body));
    info.message = match info.message.as_str() {
        "" => match http::StatusCode::from_u16(status)
            .ok()
            .and_then(|status| status.canonical_reason())
        {
            Some(reason) => format!("HTTP {status} {reason}, no message"),
            None => format!("HTTP {status}, no message"),
        },
        message => format!("HTTP {status}: {message}"),
    };
    info.code.get_or_insert_with(|| status.to_string());
    info
}

/// Finds the message in a body of any kind: JSON, HTML, an event stream, plain text.
pub fn message_in_text(text: &str) -> ErrorInfo {
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return match in_any_json(&value) {
            Some(info) => info,
            None if matches!(&value, Value::Null) => ErrorInfo::default(),
            None => ErrorInfo {
                message: excerpt(text),
                ..ErrorInfo::default()
            },
        };
    }
    if text.starts_with('<') {
        let message = html_title(text).unwrap_or_else(|| excerpt(text));
        return ErrorInfo {
            message,
            ..ErrorInfo::default()
        };
    }
    in_events(text).unwrap_or_else(|| ErrorInfo {
        message: excerpt(text),
        ..ErrorInfo::default()
    })
}

/// The error of a JSON value in which an error is certain to be, because a key `error` or `object: "error"` says so.
/// `None` if neither does.
pub fn error_in_json(value: &Value) -> Option<ErrorInfo> {
    match value {
        Value::Object(object) => {
            let told = object.get("error").is_some_and(|error| !says_nothing(error));
            let object_says = object.get("object").and_then(Value::as_str) == Some("error");
            let code_says = !object.contains_key("choices")
                && object
                    .get("error_code")
                    .is_some_and(|code| !says_nothing(code) && code.is_number());
            if told || object_says || code_says {
                return Some(in_any_json(value).unwrap_or_else(|| whole(value)));
            }
            let choices = object.get("choices").and_then(Value::as_array).into_iter().flatten();
            choices.chain(object.get("x_groq")).find_map(error_in_json)
        }
        // Google wraps errors in an array.
        Value::Array(items) => items.iter().find_map(error_in_json),
        _ => None,
    }
}

/// The error of a JSON value that is no chunk and has the shape of one: FastAPI's `detail`, a list of `errors`, `type` or
/// `status` that say "error", or a message beside a code. Meant for frames without choices alone.
pub fn error_by_shape(value: &Value) -> Option<ErrorInfo> {
    let object = value.as_object()?;
    let says = |key: &str| object.get(key).is_some_and(|value| !says_nothing(value));
    let is_error = |key: &str| object.get(key).and_then(Value::as_str) == Some("error");
    let coded = ["code", "status_code", "status"].iter().any(|key| says(key));
    let message = object
        .get("message")
        .and_then(Value::as_str)
        .is_some_and(|message| !message.is_empty());
    (says("detail") || says("errors") || is_error("type") || is_error("status") || (message && coded))
        .then(|| in_any_json(value).unwrap_or_else(|| whole(value)))
}

/// The start of a text, cut at a character.
pub fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

fn whole(value: &Value) -> ErrorInfo {
    ErrorInfo {
        message: excerpt(&value.to_string()),
        ..ErrorInfo::default()
    }
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

/// A value as text, if it says anything and is no container.
fn scalar(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn first_scalar(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| scalar(value.get(key)))
}

fn in_any_json(value: &Value) -> Option<ErrorInfo> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(ErrorInfo {
            message: text.trim().to_owned(),
            ..ErrorInfo::default()
        }),
        Value::Array(items) => join(items),
        Value::Object(_) => in_object(value),
        _ => None,
    }
}

fn in_object(value: &Value) -> Option<ErrorInfo> {
    let nested = ["error", "errors", "detail", "details"]
        .iter()
        .filter_map(|key| value.get(key))
        .filter(|inner| !says_nothing(inner))
        .find_map(in_any_json);
    let own = first_scalar(
        value,
        &[
            "message",
            "msg",
            "error_message",
            "error_msg",
            "errorMessage",
            "Message",
            "description",
            "reason",
        ],
    );
    let title = first_scalar(value, &["title"]);
    let nested = nested.or_else(|| {
        let text = own.clone().or_else(|| title.clone())?;
        Some(ErrorInfo {
            message: text,
            ..ErrorInfo::default()
        })
    });
    let mut info = nested?;
    // An object's own message beside nested ones: the nested ones are nearer to the cause, the own one tells the rule.
    for outer in [own, title].into_iter().flatten() {
        if !info.message.contains(&outer) {
            info.message = format!("{outer}: {}", info.message);
        }
    }
    // OpenRouter keeps the words of the server behind it here.
    if let Some(raw) = value.get("metadata").and_then(|metadata| scalar(metadata.get("raw")))
        && !info.message.contains(&raw)
    {
        info.message = format!("{}: {raw}", info.message);
    }
    if info.code.is_none() {
        info.code = first_scalar(
            value,
            &[
                "code",
                "http_status_code",
                "status_code",
                "statusCode",
                "error_code",
                "status",
            ],
        );
    }
    if info.kind.is_none() {
        info.kind = first_scalar(value, &["type", "error_type", "err_type", "__type"]);
    }
    Some(info)
}

/// Several errors as one; FastAPI's say where in the request each one is.
fn join(items: &[Value]) -> Option<ErrorInfo> {
    let mut joined: Option<ErrorInfo> = None;
    for item in items.iter().take(8) {
        let Some(mut info) = in_any_json(item) else { continue };
        if let Some(place) = item.get("loc").and_then(Value::as_array) {
            let place: Vec<String> = place.iter().filter_map(|step| scalar(Some(step))).collect();
            info.message = format!("{}: {}", place.join("."), info.message);
        }
        match &mut joined {
            None => joined = Some(info),
            Some(joined) => joined.message = format!("{}; {}", joined.message, info.message),
        }
    }
    joined
}

/// The first error event of an event stream.
fn in_events(text: &str) -> Option<ErrorInfo> {
    let mut found = None;
    let mut sink = |item: sse::Item<'_>| {
        if let sse::Item::Event(event) = item
            && let Ok(value) = serde_json::from_slice::<Value>(event.data)
        {
            found = error_in_json(&value).or_else(|| in_any_json(&value));
        }
        if found.is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut parser = sse::Parser::new();
    if parser.push(text.as_bytes(), &mut sink).ok()?.is_continue() {
        parser.finish(&mut sink).ok()?;
    }
    found
}

/// Text of the title, or of the first heading.
fn html_title(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    ["title", "h1", "h2", "body"].iter().find_map(|tag| {
        let open = lower.find(&format!("<{tag}"))?;
        let start = open + lower[open..].find('>')? + 1;
        let end = lower[start..]
            .find(&format!("</{tag}"))
            .map_or(lower.len(), |end| start + end);
        let mut plain = String::new();
        let mut in_tag = false;
        for c in text[start..end].chars() {
            match c {
                '<' => in_tag = true,
                '>' if in_tag => {
                    in_tag = false;
                    plain.push(' ');
                }
                _ if !in_tag => plain.push(c),
                _ => {}
            }
        }
        let plain = plain
            .replace("&nbsp;", " ")
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'");
        let words = plain
            .replace("&amp;", "&")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        (!words.is_empty()).then(|| excerpt(&words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: u16, body: &str) -> (String, Option<String>, Option<String>) {
        let info = describe_http_error(status, body.as_bytes());
        (info.message, info.code, info.kind)
    }

    #[test]
    fn each_dialect_gives_its_message_code_and_type() {
        let some = |text: &str| Some(text.to_owned());
        /// Status, body; then message, code and type.
        type Row<'a> = (u16, &'a str, &'a str, Option<&'a str>, Option<&'a str>);
        let table: &[Row<'_>] = &[
            (
                429,
                r#"{"error":{"message":"slow down","type":"requests","param":null,"code":"rate"}}"#,
                "HTTP 429: slow down",
                Some("rate"),
                Some("requests"),
            ),
            (
                400,
                r#"{"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
                "HTTP 400: too long",
                Some("400"),
                Some("BadRequestError"),
            ),
            (
                401,
                r#"{"error":"Unauthorized"}"#,
                "HTTP 401: Unauthorized",
                Some("401"),
                None,
            ),
            (
                404,
                r#"{"detail":"Not Found"}"#,
                "HTTP 404: Not Found",
                Some("404"),
                None,
            ),
            (
                422,
                r#"{"detail":[{"loc":["body","model"],"msg":"field required","type":"missing"},{"loc":["body",0],"msg":"bad"}]}"#,
                "HTTP 422: body.model: field required; body.0: bad",
                Some("422"),
                Some("missing"),
            ),
            (
                403,
                r#"{"message":"no route"}"#,
                "HTTP 403: no route",
                Some("403"),
                None,
            ),
            (
                400,
                r#"{"type":"about:blank","title":"Bad Request","status":400,"detail":"no such field"}"#,
                "HTTP 400: Bad Request: no such field",
                Some("400"),
                Some("about:blank"),
            ),
            (
                503,
                r#"{"success":false,"errors":[{"code":1013,"message":"overloaded"}]}"#,
                "HTTP 503: overloaded",
                Some("1013"),
                None,
            ),
            (
                424,
                r#"{"error":"Model is overloaded","error_type":"overloaded"}"#,
                "HTTP 424: Model is overloaded",
                Some("424"),
                Some("overloaded"),
            ),
            (
                400,
                r#"[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]"#,
                "HTTP 400: API key not valid",
                Some("400"),
                None,
            ),
            (
                502,
                r#"{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream said no"}}}"#,
                "HTTP 502: Provider returned error: upstream said no",
                Some("502"),
                None,
            ),
            (
                500,
                r#"{"error":{"error":{"message":"deep","type":"t"}}}"#,
                "HTTP 500: deep",
                Some("500"),
                Some("t"),
            ),
            (500, r#""just a string""#, "HTTP 500: just a string", Some("500"), None),
            (500, r#"{"trace":[1]}"#, r#"HTTP 500: {"trace":[1]}"#, Some("500"), None),
            (
                500,
                "Internal Server Error\n",
                "HTTP 500: Internal Server Error",
                Some("500"),
                None,
            ),
            (
                502,
                "<html>\r\n<head><title>502 Bad\n Gateway</title></head><body>x</body></html>",
                "HTTP 502: 502 Bad Gateway",
                Some("502"),
                None,
            ),
            (
                502,
                "<!DOCTYPE html><html><body><h1>Oh &amp; no</h1>",
                "HTTP 502: Oh & no",
                Some("502"),
                None,
            ),
            (
                503,
                "data: {\"error\":{\"message\":\"no healthy upstream\",\"code\":7}}\n\ndata: [DONE]\n\n",
                "HTTP 503: no healthy upstream",
                Some("7"),
                None,
            ),
            (500, "", "HTTP 500 Internal Server Error, no message", Some("500"), None),
            (599, "  \n", "HTTP 599, no message", Some("599"), None),
        ];
        for (status, body, message, code, kind) in table {
            assert_eq!(
                read(*status, body),
                ((*message).to_owned(), code.and_then(some), kind.and_then(some)),
                "{body}"
            );
        }
    }

    #[test]
    fn a_hollow_error_is_none() {
        for hollow in ["null", "\"\"", "{}", "[]", "false", "0"] {
            let value = serde_json::from_str(&format!("{{\"error\":{hollow},\"message\":\"fine\"}}")).unwrap();
            assert_eq!(error_in_json(&value), None, "{hollow}");
        }
        assert_eq!(
            error_in_json(&serde_json::json!({"error": {"code": 5}}))
                .unwrap()
                .message,
            r#"{"error":{"code":5}}"#
        );
    }

    #[test]
    fn an_error_is_found_in_a_choice_and_in_an_array() {
        let in_choice = serde_json::json!({"choices": [{"error": {"message": "gone", "code": 502}}]});
        assert_eq!(error_in_json(&in_choice).unwrap().message, "gone");
        assert_eq!(
            error_in_json(&serde_json::json!([{"error": "x"}])).unwrap().message,
            "x"
        );
    }

    #[test]
    fn a_body_that_is_not_utf8_is_still_shown() {
        assert!(
            describe_http_error(500, b"bad \xff byte")
                .message
                .starts_with("HTTP 500: bad ")
        );
    }
}
