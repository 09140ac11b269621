//! Streams made of random pieces, good and bad: the machine never panics, never depends on the split, and calls nothing
//! a success that does not prove itself one.
#![cfg(not(target_arch = "wasm32"))]

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use streamgauge::config::Api;
use streamgauge::request::{Flow, Machine, Outcome, ReadEvidence, Reading, Spec, TimeoutKind, Times, explain};

/// Pieces that servers send, that proxies add, and that a break leaves behind.
const PIECES: &[&[u8]] = &[
    br#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
    br#"data: {"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":2,"completion_tokens":1}}"#,
    br#"data: {"choices":[{"index":0,"delta":{"content":"b \ud83d"}}]}"#,
    br#"data:{"choices":[{"index":0,"delta":{"content":"\ude00"}}]}"#,
    br#"data: {"choices":[{"index":1,"delta":{"reasoning":"h"}}]}"#,
    br#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}}]}}]}"#,
    br#"data: {"choices":[{"index":0,"text":" c"}]}"#,
    br#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    br#"data: {"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}"#,
    br#"data: {"choices":[{"index":0,"finish_reason":"abort"}]}"#,
    br#"data: {"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":-7}}"#,
    br#"data: {"text":"ab","output_ids":[1,2],"meta_info":{"completion_tokens":2,"finish_reason":{"type":"stop"}}}"#,
    br#"data: {"text":"a","output_ids":[1],"meta_info":{"completion_tokens":1,"finish_reason":null}}"#,
    br#"data: {"error":{"message":"full","code":503}}"#,
    br#"{"error":"bare"}"#,
    b"{\n\"error\":\n\"open\"\n}",
    b"event: error",
    b"event: message",
    b"data: [DONE]",
    b"data: hello",
    b"data: \xff",
    b"data:",
    b"data: {",
    b": ping",
    b"id: 1",
    b"retry: 5",
    b"<html><title>x</title>",
    b"\xef\xbb\xbf",
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
];

#[derive(Clone, Copy, Debug)]
enum End {
    Eof,
    Broken,
    Timeout,
    Cancel,
}

fn read(spec: Spec, status: u16, body: &[u8], ends: &[usize], end: End) -> Reading {
    let mut machine = Machine::new(spec, 0.0);
    machine.headers(status, None, 1.0);
    let mut start = 0;
    for &stop in ends.iter().chain(&[body.len()]) {
        if machine.read(&body[start..stop], 2.0) == Flow::Complete {
            return machine.finish();
        }
        start = stop;
    }
    match end {
        End::Eof => machine.eof(3.0),
        End::Broken => machine.broken("net", 3.0),
        End::Timeout => machine.timeout(TimeoutKind::Stall, 3.0),
        End::Cancel => machine.cancel(3.0),
    }
    machine.finish()
}

/// A reading without moments, and without the bytes after `[DONE]` that a larger read brings along.
fn timeless(mut reading: Reading) -> Reading {
    if reading.times.done_ms.is_some() {
        reading.wire.bytes = 0;
    }
    reading.times = Times::default();
    reading.reads = Vec::new();
    reading.dropped_bytes = 0;
    reading.wire.reads = 0;
    reading.wire.coalesced_frames = 0;
    if let Some(failure) = &mut reading.failure {
        failure.at_ms = 0.0;
    }
    reading
}

/// Streams in which pieces may run into one another.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    joined(vec![b"\n\n", b"\r\n\r\n", b"\r\r", b"\n", b""])
}

/// Streams in which every piece has its own line.
fn streams_of_lines() -> impl Strategy<Value = Vec<u8>> {
    joined(vec![b"\n\n", b"\n\n", b"\r\n\r\n", b"\n"])
}

fn joined(line_ends: Vec<&'static [u8]>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((select(PIECES), select(line_ends)), 0..14).prop_map(|pieces| {
        pieces
            .into_iter()
            .flat_map(|(piece, end)| [piece, end].concat())
            .collect()
    })
}

fn specs() -> impl Strategy<Value = Spec> {
    let apis = select(vec![Api::Chat, Api::Completions, Api::Generate]);
    (apis, prop::bool::weighted(0.9), any::<bool>()).prop_map(|(api, stream, keep_text)| Spec {
        api,
        stream,
        keep_text,
        requested_tokens: Some(8),
        keep_bytes: 1 << 16,
    })
}

/// Runs a property on seeded random input, so that a failure comes again.
fn check<S: Strategy>(strategy: S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner.run(&strategy, property).unwrap();
}

fn ends() -> impl Strategy<Value = End> {
    select(vec![End::Eof, End::Eof, End::Broken, End::Timeout, End::Cancel])
}

#[test]
fn the_split_never_matters() {
    let cuts = prop::collection::vec(any::<prop::sample::Index>(), 0..12);
    check((specs(), streams(), cuts, ends()), |(spec, body, cuts, end)| {
        let mut stops: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        stops.sort_unstable();
        let whole = timeless(read(spec, 200, &body, &[], end));
        prop_assert_eq!(timeless(read(spec, 200, &body, &stops, end)), whole.clone());
        let each: Vec<usize> = (1..=body.len()).collect();
        prop_assert_eq!(timeless(read(spec, 200, &body, &each, end)), whole);
        Ok(())
    });
}

#[test]
fn a_success_is_always_proved_by_its_bytes() {
    let mut successes = std::cell::Cell::new(0);
    check((specs(), streams_of_lines(), ends()), |(spec, body, end)| {
        let reading = read(spec, 200, &body, &[], end);
        prop_assert_eq!(reading.outcome == Outcome::Succeeded, reading.failure.is_none());
        if reading.outcome == Outcome::Succeeded {
            successes.set(successes.get() + 1);
            let text = String::from_utf8_lossy(&body);
            let done = text.split(['\n', '\r']).position(|line| line == "data: [DONE]");
            let seen: Vec<&str> = text.split(['\n', '\r']).take(done.unwrap_or(usize::MAX)).collect();
            let bad = ["data: {\"error\"", "{\"error\"", "data: hello", "data: \u{fffd}"];
            prop_assert!(
                !seen.iter().any(|line| bad.iter().any(|bad| line.starts_with(bad))),
                "{}",
                text
            );
            prop_assert!(
                !seen
                    .iter()
                    .any(|line| line.starts_with("data") && line.contains("abort")),
                "{}",
                text
            );
            let finish = seen
                .iter()
                .any(|line| line.contains("finish_reason\":\"") || line.contains("\"type\":\"stop\""));
            prop_assert!(done.is_some() || finish, "{}", text);
            prop_assert!(reading.reads.is_empty());
            prop_assert!(!spec.stream || reading.tokens.frames > 0);
        }
        Ok(())
    });
    assert!(
        *successes.get_mut() > 100,
        "the property was hardly tried: {} successes",
        successes.get()
    );
}

#[test]
fn a_refused_request_never_succeeds() {
    check(
        (
            specs(),
            streams(),
            ends(),
            select(vec![100, 301, 400, 404, 429, 500, 503, 599]),
        ),
        |(spec, body, end, status)| {
            let reading = read(spec, status, &body, &[], end);
            prop_assert_eq!(reading.outcome, Outcome::HttpError);
            let message = reading.failure.unwrap().message;
            prop_assert!(message.starts_with(&format!("HTTP {status}")), "{}", message);
            Ok(())
        },
    );
}

#[test]
fn kept_bytes_are_explained_as_they_were_judged() {
    check((specs(), streams()), |(spec, body)| {
        let spec = Spec { stream: true, ..spec };
        let reading = read(spec, 200, &body, &[], End::Eof);
        let reads = [ReadEvidence {
            at_ms: 2.0,
            bytes: body,
        }];
        let told = explain(spec, 200, None, &reads);
        let verdicts: Vec<_> = told.iter().filter_map(|event| event.verdict).collect();
        prop_assert!(verdicts.len() <= 1);
        if let Some(&(outcome, rule)) = verdicts.first() {
            let failure = reading.failure.unwrap();
            prop_assert_eq!((outcome, rule), (reading.outcome, failure.rule));
        }
        Ok(())
    });
}

/// Frames most of which are like the one before, with now and then one that is not.
fn likely_frames() -> impl Strategy<Value = Vec<u8>> {
    let text = select(vec![" a", "b", "日本", "{}", "", "\\n", "\\\"x"]);
    let count = select(vec!["1", "2", "30", "-1", "2.0", "007", "\"9\"", "null"]);
    let frame = (text, count, 0..8_u8, prop::bool::weighted(0.1)).prop_map(|(text, count, shape, finish)| {
        let finish = if finish { "\"stop\"" } else { "null" };
        let choices = match shape {
            0 => format!(r#"[{{"delta":{{"reasoning_content":"{text}"}},"finish_reason":{finish}}}]"#),
            1 => format!(r#"[{{"index":1,"delta":{{"content":"{text}"}},"finish_reason":{finish}}}]"#),
            2 => "[]".to_owned(),
            _ => format!(r#"[{{"delta":{{"role":null,"content":"{text}"}},"finish_reason":{finish}}}]"#),
        };
        let usage = format!(
            r#"{{"prompt_tokens":7,"total_tokens":{count},"completion_tokens":{count},"reasoning_tokens":{count}}}"#
        );
        format!("data: {{\"id\":\"r\",\"choices\":{choices},\"usage\":{usage}}}\n\n")
    });
    prop::collection::vec(frame, 0..14).prop_map(|frames| frames.concat().into_bytes())
}

#[test]
fn frames_like_the_last_are_read_as_if_each_were_read_in_full() {
    let apis = select(vec![Api::Chat, Api::Completions, Api::Generate]);
    check((apis, likely_frames(), ends()), |(api, body, end)| {
        // Where the text is kept, every frame is read in full.
        let [quick, full] = [false, true].map(|keep_text| {
            let spec = Spec {
                api,
                keep_text,
                ..Spec::default()
            };
            read(spec, 200, &body, &[], end)
        });
        let mut full = full;
        full.text.clone_from(&quick.text);
        full.reasoning.clone_from(&quick.reasoning);
        full.tool_calls.clone_from(&quick.tool_calls);
        prop_assert_eq!(quick, full);
        Ok(())
    });
}
