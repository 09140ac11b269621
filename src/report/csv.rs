//! One row per request, for spreadsheets and data frames.

use super::Document;
use crate::{
    metrics::{e2e_ms, tpot_ms, ttft_ms},
    request::RequestRecord,
};

/// A column: its head (units in the name, as in the result document) and its cell; empty for what was not measured.
type Column = (&'static str, fn(&RequestRecord) -> String);

const COLUMNS: [Column; 35] = [
    ("index", |r| r.index.to_string()),
    ("warmup", |r| r.warmup.to_string()),
    ("outcome", |r| r.outcome.name().to_owned()),
    ("lane", |r| r.lane.to_string()),
    ("status", |r| figure(r.status)),
    ("asked_input_tokens", |r| {
        figure(r.asked.and_then(|asked| asked.input_tokens))
    }),
    ("asked_output_tokens", |r| {
        figure(r.asked.map(|asked| asked.output_tokens))
    }),
    ("conversation", |r| figure(r.asked.and_then(|asked| asked.conversation))),
    ("turn", |r| figure(r.asked.and_then(|asked| asked.turn))),
    ("scheduled_ms", |r| millis(Some(r.times.scheduled_ms))),
    ("dispatched_ms", |r| millis(Some(r.times.dispatched_ms))),
    ("headers_ms", |r| millis(r.times.headers_ms)),
    ("first_byte_ms", |r| millis(r.times.first_byte_ms)),
    ("first_token_ms", |r| millis(r.times.first_token_ms)),
    ("first_answer_ms", |r| millis(r.times.first_answer_ms)),
    ("last_token_ms", |r| millis(r.times.last_token_ms)),
    ("done_ms", |r| millis(r.times.done_ms)),
    ("ended_ms", |r| millis(Some(r.times.ended_ms))),
    ("ttft_ms", |r| millis(ttft_ms(r))),
    ("tpot_ms", |r| millis(tpot_ms(r))),
    ("e2e_ms", |r| millis(e2e_ms(r))),
    ("output_tokens", |r| figure(r.tokens.output)),
    ("output_tokens_source", |r| name(&r.tokens.source)),
    ("prompt_tokens", |r| figure(r.tokens.prompt)),
    ("reasoning_tokens", |r| figure(r.tokens.reasoning)),
    ("cached_tokens", |r| figure(r.tokens.cached)),
    ("retokenized_tokens", |r| figure(r.tokens.retokenized)),
    ("token_frames", |r| r.tokens.frames.to_string()),
    ("reads", |r| r.wire.reads.to_string()),
    ("bytes", |r| r.wire.bytes.to_string()),
    ("finish_reason", |r| text(r.finish_reason.as_deref())),
    ("response_id", |r| text(r.response_id.as_deref())),
    ("failure_rule", |r| {
        r.failure.as_ref().map(|f| name(&f.rule)).unwrap_or_default()
    }),
    ("failure_code", |r| {
        text(r.failure.as_ref().and_then(|f| f.code.as_deref()))
    }),
    ("failure_message", |r| {
        text(r.failure.as_ref().map(|f| f.message.as_str()))
    }),
];

/// The requests as CSV (RFC 4180: commas, quotes doubled, CRLF): the warm-up first, then the measured ones.
///
/// Text of others that a spreadsheet would take for a formula begins with an apostrophe. Kept bytes are not in it.
pub fn csv(document: &Document) -> String {
    let records = document.warmup.iter().chain(&document.requests);
    let mut out = String::with_capacity(200 * (document.requests.len() + 1));
    row(&mut out, COLUMNS.iter().map(|(head, _)| (*head).to_owned()));
    for record in records {
        row(&mut out, COLUMNS.iter().map(|(_, cell)| cell(record)));
    }
    out
}

fn row(out: &mut String, cells: impl Iterator<Item = String>) {
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(',');
        }
        if cell.contains(['"', ',', '\n', '\r']) {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(&cell);
        }
    }
    out.push_str("\r\n");
}

fn figure<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A time to the microsecond: no browser's clock is finer.
fn millis(value_ms: Option<f64>) -> String {
    figure(value_ms.map(|value_ms| (value_ms * 1000.0).round() / 1000.0))
}

/// Text of others, so that no spreadsheet computes it.
fn text(value: Option<&str>) -> String {
    let value = value.unwrap_or_default();
    if value.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        format!("'{value}")
    } else {
        value.to_owned()
    }
}

/// A variant's name in the result document.
fn name(variant: &impl serde::Serialize) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        report::tests::{document, record, small},
        request::Outcome,
    };

    /// A reader of RFC 4180 that shares nothing with the writer.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' if quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    cell.push('"');
                }
                '"' => quoted = !quoted,
                ',' if !quoted => row.push(std::mem::take(&mut cell)),
                '\r' if !quoted => {}
                '\n' if !quoted => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                c => cell.push(c),
            }
        }
        assert!(
            !quoted && row.is_empty() && cell.is_empty(),
            "the text ends within a row"
        );
        rows
    }

    fn cell<'a>(rows: &'a [Vec<String>], row: usize, head: &str) -> &'a str {
        let column = rows[0].iter().position(|h| h == head).expect("a column");
        &rows[row][column]
    }

    #[test]
    fn each_request_is_a_row_and_what_was_not_measured_is_empty() {
        let rows = read(&csv(&small()));
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|row| row.len() == COLUMNS.len()));
        assert_eq!(cell(&rows, 1, "outcome"), "succeeded");
        assert_eq!(cell(&rows, 1, "ttft_ms").parse::<f64>().unwrap().round(), 20.0);
        assert_eq!(cell(&rows, 1, "headers_ms"), "");
        assert_eq!(cell(&rows, 2, "failure_rule"), "error_key");
        assert_eq!(cell(&rows, 2, "failure_message"), "The request queue is full.");
    }

    #[test]
    fn a_message_is_no_formula() {
        for message in ["=HYPERLINK(\"http://x\")", "+1", "-1", "@SUM(A1)", "\t=1"] {
            let mut failed = record(0, Outcome::StreamError);
            failed.failure.as_mut().unwrap().message = message.to_owned();
            let rows = read(&csv(&document(vec![failed])));
            assert_eq!(cell(&rows, 1, "failure_message"), format!("'{message}"));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn any_text_stays_in_its_cell(message in any::<String>(), code in "[\",\r\n=a]{0,6}") {
            let mut failed = record(0, Outcome::StreamError);
            let failure = failed.failure.as_mut().unwrap();
            (failure.message, failure.code) = (message.clone(), Some(code.clone()));
            let rows = read(&csv(&document(vec![failed, record(1, Outcome::Succeeded)])));
            prop_assert_eq!(rows.len(), 3);
            prop_assert_eq!(cell(&rows, 1, "failure_message").trim_start_matches('\''), message.trim_start_matches('\''));
            prop_assert_eq!(cell(&rows, 1, "failure_code").trim_start_matches('\''), code.trim_start_matches('\''));
        }
    }
}
