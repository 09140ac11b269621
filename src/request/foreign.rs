//! Lines that are no event-stream field: a JSON body, NDJSON or an HTML page in place of a stream, or a bare error
//! line inside one.

use serde_json::Value;

use crate::protocol::{ErrorInfo, error_in_json, excerpt, message_in_text};

/// Most bytes of a foreign document that are kept to find its error.
const LIMIT: usize = 64 << 10;

/// Collects foreign lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Foreign {
    /// The document that has begun but is not complete, e.g. pretty-printed JSON.
    open: String,
    /// The start of what came, to be shown.
    head: String,
}

impl Foreign {
    /// Takes a line; returns the error it brings or completes.
    pub fn line(&mut self, line: &[u8]) -> Option<ErrorInfo> {
        let line = String::from_utf8_lossy(line);
        if self.head.len() < 4096 {
            self.head.push_str(&excerpt(&line));
            self.head.push('\n');
        }
        let begins = line.trim_start().starts_with(['{', '[', '<']);
        if self.open.is_empty() && !begins {
            return None;
        }
        let closes = line.starts_with(['}', ']']);
        if begins && let Ok(value) = serde_json::from_str::<Value>(&line) {
            let found = error_in_json(&value);
            // A document of one line, if it does not stand inside another.
            if found.is_some() || self.open.is_empty() {
                return found;
            }
        }
        if self.open.len() + line.len() < LIMIT {
            self.open.push_str(&line);
            self.open.push('\n');
        }
        if closes { self.close() } else { None }
    }

    /// An event came, or the end: what is open is read if it is whole.
    pub fn close(&mut self) -> Option<ErrorInfo> {
        if self.open.is_empty() {
            return None;
        }
        let value: Value = serde_json::from_str(&self.open).ok()?;
        self.open.clear();
        error_in_json(&value)
    }

    /// Drops what is open; an event came.
    pub fn forget(&mut self) {
        self.open.clear();
    }

    /// What came instead of a stream, in words; `None` if nothing did.
    pub fn describe(&self) -> Option<String> {
        let head = self.head.trim();
        if head.is_empty() {
            return None;
        }
        Some(if head.starts_with('<') {
            message_in_text(head).message
        } else {
            excerpt(head)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> Option<String> {
        let mut foreign = Foreign::default();
        let found = text.lines().find_map(|line| foreign.line(line.as_bytes()));
        found.or_else(|| foreign.close()).map(|info| info.message)
    }

    #[test]
    fn an_error_is_found_in_one_line_or_over_many() {
        assert_eq!(error_of(r#"{"error":{"message":"x"}}"#).as_deref(), Some("x"));
        assert_eq!(
            error_of("{\n  \"error\": {\n    \"message\": \"x\"\n  }\n}").as_deref(),
            Some("x")
        );
        assert_eq!(error_of("{\"message\":\"a\"}\n{\"error\":\"x\"}").as_deref(), Some("x"));
        assert_eq!(error_of("[\n{\"error\":\"x\"}\n]").as_deref(), Some("x"));
    }

    #[test]
    fn a_document_without_an_error_brings_none() {
        assert_eq!(error_of("{\"message\":\"a\",\"error\":null}"), None);
        assert_eq!(error_of("<html><title>Sign in</title></html>"), None);
        assert_eq!(error_of("\"error\": 1"), None);
    }

    #[test]
    fn a_page_is_described_by_its_title() {
        let mut foreign = Foreign::default();
        foreign.line(b"<html><head><title>Sign in</title></head>");
        assert_eq!(foreign.describe().as_deref(), Some("Sign in"));
    }
}
