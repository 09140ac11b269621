//! Every captured response gets its due verdict, however its bytes are split.

#![cfg(not(target_arch = "wasm32"))]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use streamgauge::{
    replay::{Case, names, verdict},
    request::Reading,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

fn cases() -> Vec<Case> {
    let names = names(&folder()).expect("cases");
    names
        .iter()
        .map(|name| Case::load(&folder(), name).expect("a case"))
        .collect()
}

/// What is wrong with a verdict.
fn misses(expect: &Value, got: &Value) -> Vec<String> {
    let mut misses = Vec::new();
    let either = expect["judge"] == "either";
    if got["ok"] != expect["ok"] {
        if !either {
            return vec![format!(
                "ok is {}, due {} ({}): {}",
                got["ok"], expect["ok"], expect["category"], got["error"]
            )];
        }
        return misses;
    }
    if got["ok"] == false {
        let also = expect["also_ok"].as_array().into_iter().flatten();
        if !std::iter::once(&expect["category"])
            .chain(also)
            .any(|due| *due == got["category"])
        {
            misses.push(format!("category {}, due {}", got["category"], expect["category"]));
        }
        let due = expect["error_contains"].as_str().unwrap_or_default().to_lowercase();
        if !got["error"].as_str().unwrap_or_default().to_lowercase().contains(&due) {
            misses.push(format!("error {} lacks {due:?}", got["error"]));
        }
        return misses;
    }
    let one_of =
        |due: &Value, also: &Value, got: &Value| due == got || also.as_array().is_some_and(|also| also.contains(got));
    for (key, also) in [
        ("text", "text_also"),
        ("ttft_event", "ttft_event_also"),
        ("reasoning", ""),
        ("finish_reason", ""),
    ] {
        if expect.get(key).is_some() && !one_of(&expect[key], &expect[also], &got[key]) {
            misses.push(format!("{key} {}, due {}", got[key], expect[key]));
        }
    }
    if let Some(due) = expect
        .get("tool_calls")
        .filter(|due| **due != json!([]) && !due.is_null())
    {
        if *due != got["tool_calls"] {
            misses.push(format!("tool_calls {}, due {due}", got["tool_calls"]));
        }
    }
    let disbelieved = expect["usage_suspect"] == true;
    if disbelieved && got["usage_suspect"].is_null() {
        misses.push("absurd usage was believed".into());
    }
    if !disbelieved && expect.get("usage").is_some() && got["usage"] != expect["usage"] {
        misses.push(format!("usage {}, due {}", got["usage"], expect["usage"]));
    }
    misses
}

/// What must not depend on how the bytes were split.
fn essence(reading: &Reading) -> Value {
    let mut essence = verdict(reading);
    essence["frames"] = reading.tokens.frames.into();
    essence["events"] = reading.wire.events.into();
    essence["tokens"] = json!(reading.marks.tokens);
    essence["rule"] = json!(reading.failure.as_ref().map(|failure| (failure.rule, failure.phase)));
    // A time-out's message tells how long it took, and a read takes a millisecond here.
    if reading.outcome.name() == "timeout" {
        essence["error"] = Value::Null;
    }
    essence
}

#[test]
fn every_case_gets_its_due_verdict() {
    let mut wrong = Vec::new();
    let cases = cases();
    for case in &cases {
        let misses = misses(&case.facts.expect, &verdict(&case.read()));
        if !misses.is_empty() {
            wrong.push(format!("{}: {}", case.name, misses.join("; ")));
        }
    }
    assert!(
        cases.len() >= 72 && wrong.is_empty(),
        "{} cases\n{}",
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_judge_of_these_tests_can_tell_wrong_from_right() {
    let case = Case::load(&folder(), "096-sglang-chat-abort-after-text").expect("a case");
    let mut got = verdict(&case.read());
    got["ok"] = true.into();
    assert_eq!(misses(&case.facts.expect, &got).len(), 1);
    let case = Case::load(&folder(), "003-no-space-after-colon").expect("a case");
    for (key, value) in [
        ("text", json!("x")),
        ("ttft_event", json!(0)),
        ("usage", Value::Null),
        ("finish_reason", json!("length")),
    ] {
        let mut got = verdict(&case.read());
        got[key] = value;
        assert_eq!(misses(&case.facts.expect, &got).len(), 1, "{key}");
    }
}

#[test]
fn a_split_at_any_byte_changes_nothing() {
    for case in cases() {
        let due = essence(&case.read_in([&case.body[..]]));
        for at in 1..case.body.len() {
            let (head, tail) = case.body.split_at(at);
            assert_eq!(essence(&case.read_in([head, tail])), due, "{} split at {at}", case.name);
        }
        assert_eq!(
            essence(&case.read_in(case.body.chunks(1))),
            due,
            "{} byte by byte",
            case.name
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_split_at_random_places_changes_nothing(which in any::<prop::sample::Index>(), sizes in prop::collection::vec(1_usize..200, 1..40)) {
        let cases = cases();
        let case = which.get(&cases);
        let due = essence(&case.read_in([&case.body[..]]));
        let mut rest = &case.body[..];
        let mut pieces = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(essence(&case.read_in(pieces)), due, "{}", case.name);
    }

    /// Whatever is done to a stream, a verdict falls, nothing panics, and bytes that broke JSON give no success
    /// with more tokens than the whole stream has.
    #[test]
    fn damaged_streams_get_a_verdict(which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), bytes in prop::collection::vec(any::<u8>(), 0..6), cut in any::<bool>()) {
        let cases = cases();
        let mut case = which.get(&cases).clone();
        let whole_frames = case.read().tokens.frames;
        if !case.body.is_empty() {
            let at = at.index(case.body.len());
            if cut {
                case.body.truncate(at);
            } else {
                let end = (at + bytes.len()).min(case.body.len());
                case.body.splice(at..end, bytes);
            }
        }
        let reading = case.read();
        prop_assert_eq!(reading.failure.is_none(), reading.outcome.name() == "succeeded");
        prop_assert!(reading.tokens.frames <= whole_frames + 1);
    }
}
