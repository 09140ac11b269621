use super::*;
use crate::request::{FailurePhase, Reading, TokenSource};

mod other_forms;

const ROLE: &str = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
const A: &str = r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}"#;
const THOUGHT: &str =
    r#"{"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"h"},"finish_reason":null}]}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const ABORT: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"abort"}]}"#;
const NAN: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop","matched_stop":"NaN happened"}]}"#;
const ERROR: &str = r#"{"error":{"message":"full","code":503,"type":"SERVICE_UNAVAILABLE"}}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
const DONE: &str = "[DONE]";

/// What happens to a machine, one step each 10 ms from 10 ms on.
#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Headers(u16),
    /// An event with this data.
    Data(&'a str),
    /// Bytes as they are.
    Raw(&'a str),
    Eof,
    Broken,
    Timeout(TimeoutKind),
    Cancel,
}
use Step::*;

fn run_with(spec: Spec, steps: &[Step<'_>]) -> Reading {
    let mut machine = Machine::new(spec, 0.0);
    for (n, step) in steps.iter().enumerate() {
        let now = (n + 1) as f64 * 10.0;
        match step {
            Headers(status) => machine.headers(*status, Some("text/event-stream"), now),
            Data(data) => _ = machine.read(format!("data: {data}\n\n").as_bytes(), now),
            Raw(text) => _ = machine.read(text.as_bytes(), now),
            Eof => machine.eof(now),
            Broken => machine.broken("net", now),
            Timeout(kind) => machine.timeout(*kind, now),
            Cancel => machine.cancel(now),
        }
    }
    machine.finish()
}

fn run(steps: &[Step<'_>]) -> Reading {
    run_with(
        Spec {
            keep_text: true,
            ..Spec::default()
        },
        steps,
    )
}

#[test]
fn each_transition_gives_its_verdict() {
    use Outcome as O;
    use Rule as R;
    let ok = Headers(200);
    let table: &[(&[Step<'_>], Outcome, Option<Rule>)] = &[
        (&[Broken], O::Network, Some(R::FetchRejected)),
        (
            &[Timeout(TimeoutKind::FirstByte)],
            O::Timeout,
            Some(R::FirstByteTimeout),
        ),
        (&[Cancel], O::Cancelled, Some(R::Cancelled)),
        (&[Headers(503), Eof], O::HttpError, Some(R::StatusNot2xx)),
        (&[Headers(503), Raw("x"), Broken], O::HttpError, Some(R::StatusNot2xx)),
        (
            &[Headers(503), Timeout(TimeoutKind::Total)],
            O::HttpError,
            Some(R::StatusNot2xx),
        ),
        (&[Headers(302), Eof], O::HttpError, Some(R::StatusNot2xx)),
        (
            &[Headers(503), Data(A), Data(STOP), Data(DONE), Eof],
            O::HttpError,
            Some(R::StatusNot2xx),
        ),
        (&[ok, Data(ROLE), Data(A), Data(STOP), Data(DONE)], O::Succeeded, None),
        (&[ok, Data(A), Data(DONE)], O::Succeeded, None),
        (&[ok, Data(A), Data(STOP), Eof], O::Succeeded, None),
        (&[ok, Data(A), Raw("data: [DONE]"), Eof], O::Succeeded, None),
        (&[ok, Data(A), Raw("data: [DONE]"), Broken], O::Succeeded, None),
        (
            &[ok, Data(A), Raw("data: [DONE]"), Timeout(TimeoutKind::Stall)],
            O::Succeeded,
            None,
        ),
        (&[Headers(201), Data(A), Data(DONE)], O::Succeeded, None),
        (&[ok, Data(ROLE), Data(STOP), Data(DONE)], O::Empty, Some(R::NoToken)),
        (&[ok, Data(STOP), Eof], O::Empty, Some(R::NoToken)),
        (&[ok, Data(DONE)], O::Empty, Some(R::NoToken)),
        (&[ok, Eof], O::Empty, Some(R::NoToken)),
        (
            &[ok, Raw(": hi\n\n"), Raw("data:\n\n"), Eof],
            O::Empty,
            Some(R::NoToken),
        ),
        (&[ok, Data(ROLE), Eof], O::Truncated, Some(R::EndWithoutFinish)),
        (&[ok, Data(A), Eof], O::Truncated, Some(R::EndWithoutFinish)),
        (
            &[ok, Data(A), Data(STOP), Raw("data: {\"cho"), Eof],
            O::Truncated,
            Some(R::EndWithoutFinish),
        ),
        (
            &[ok, Data(A), Raw("data: [DO"), Eof],
            O::Truncated,
            Some(R::EndWithoutFinish),
        ),
        (&[ok, Data(A), Broken], O::Truncated, Some(R::ConnectionBroke)),
        (
            &[ok, Data(A), Data(STOP), Broken],
            O::Truncated,
            Some(R::ConnectionBroke),
        ),
        (&[ok, Broken], O::Truncated, Some(R::ConnectionBroke)),
        (
            &[ok, Data(A), Raw("data: hel"), Broken],
            O::Truncated,
            Some(R::ConnectionBroke),
        ),
        (&[ok, Data(ERROR), Eof], O::StreamError, Some(R::ErrorKey)),
        (
            &[ok, Data(A), Raw("data: {\"error\":\"x\"}"), Broken],
            O::StreamError,
            Some(R::ErrorKey),
        ),
        (
            &[ok, Data(r#"{"object":"error","message":"x"}"#), Data(DONE)],
            O::StreamError,
            Some(R::ErrorObject),
        ),
        (
            &[ok, Data(A), Raw("event: error\ndata: {\"message\":\"x\"}\n\n"), Eof],
            O::StreamError,
            Some(R::ErrorEvent),
        ),
        (
            &[ok, Raw("event: error\ndata: plain words\n\n"), Eof],
            O::StreamError,
            Some(R::ErrorEvent),
        ),
        (
            &[ok, Raw("{\"error\":\n{\"message\":\"x\"}\n}"), Eof],
            O::StreamError,
            Some(R::ErrorBody),
        ),
        (
            &[ok, Data(A), Raw("{\"error\":\"x\"}\n"), Data(STOP), Data(DONE)],
            O::StreamError,
            Some(R::ErrorBody),
        ),
        (
            &[ok, Data(r#"[{"error":{"message":"x"}}]"#), Eof],
            O::StreamError,
            Some(R::ErrorKey),
        ),
        (
            &[ok, Data(A), Data(ABORT), Data(USAGE), Data(DONE)],
            O::Aborted,
            Some(R::AbortFinish),
        ),
        (&[ok, Data(A), Data(NAN), Data(DONE)], O::Aborted, Some(R::NanStop)),
        (
            &[ok, Data(A), Data("hello"), Data(STOP), Data(DONE)],
            O::Malformed,
            Some(R::NotJson),
        ),
        (&[ok, Data(A), Raw("data: hello"), Eof], O::Malformed, Some(R::NotJson)),
        (
            &[ok, Raw("<html><title>Sign in</title>"), Eof],
            O::Malformed,
            Some(R::NotEventStream),
        ),
        (&[ok, Raw("Sign in first"), Eof], O::Malformed, Some(R::NotEventStream)),
        (
            &[ok, Raw("{\"choices\":[]}\n{\"choices\":[]}\n"), Eof],
            O::Malformed,
            Some(R::NotEventStream),
        ),
        (
            &[ok, Data(A), Timeout(TimeoutKind::Stall)],
            O::Timeout,
            Some(R::StallTimeout),
        ),
        (
            &[ok, Data(A), Data(STOP), Timeout(TimeoutKind::Total)],
            O::Timeout,
            Some(R::TotalTimeout),
        ),
        (&[ok, Data(A), Cancel], O::Cancelled, Some(R::Cancelled)),
    ];
    for (steps, outcome, rule) in table {
        let reading = run(steps);
        assert_eq!(
            (reading.outcome, reading.failure.as_ref().map(|failure| failure.rule)),
            (*outcome, *rule),
            "{steps:?}"
        );
    }
}

#[test]
fn invalid_utf8_is_malformed_unless_the_end_cut_it() {
    let read = |bytes: &[u8]| {
        let mut machine = Machine::new(Spec::default(), 0.0);
        machine.headers(200, None, 1.0);
        let _ = machine.read(bytes, 2.0);
        machine.eof(3.0);
        machine.finish().failure.unwrap().rule
    };
    assert_eq!(read(b"data: {\"a\":\"\xff\"}\n\n"), Rule::NotUtf8);
    assert_eq!(read(b"data: {\"a\":\"\xe2\x82"), Rule::EndWithoutFinish);
}

#[test]
fn the_first_error_latches() {
    let good = [
        Data(A),
        Data(STOP),
        Data(USAGE),
        Data(DONE),
        Eof,
        Broken,
        Timeout(TimeoutKind::Total),
        Cancel,
    ];
    for (bad, outcome) in [
        (Data(ERROR), Outcome::StreamError),
        (Data(ABORT), Outcome::Aborted),
        (Data("no json"), Outcome::Malformed),
        (Raw("event: error\ndata: x\n\n"), Outcome::StreamError),
    ] {
        for after in good.iter().chain(&[Data(ERROR), Data(ABORT), Data("no json")]) {
            let reading = run(&[Headers(200), Data(A), bad, *after, Eof]);
            assert_eq!(reading.outcome, outcome, "{bad:?} then {after:?}");
            assert_eq!(reading.text, "a", "{bad:?} then {after:?}");
            assert_eq!(reading.marks.at_us.len(), 1, "{bad:?} then {after:?}");
        }
    }
}

#[test]
fn nothing_after_done_is_read() {
    let reading = run(&[
        Headers(200),
        Data(A),
        Raw("data: [DONE]\n\ndata: {\"error\":\"x\"}\n\n"),
        Data(ERROR),
        Broken,
    ]);
    assert_eq!((reading.outcome, reading.wire.events), (Outcome::Succeeded, 2));
}

#[test]
fn done_completes_and_what_follows_an_error_is_read_on() {
    let mut machine = Machine::new(Spec::default(), 0.0);
    machine.headers(200, None, 1.0);
    assert_eq!(
        machine.read(format!("data: {ERROR}\n\n").as_bytes(), 2.0),
        Flow::Continue
    );
    assert_eq!(machine.read(format!("data: {A}\n\n").as_bytes(), 3.0), Flow::Continue);
    assert_eq!(machine.read(b"data: [DONE]\n", 4.0), Flow::Complete);
    assert!(machine.is_over());
    let reading = machine.finish();
    let kept: usize = reading.reads.iter().map(|read| read.bytes.len()).sum();
    assert_eq!((reading.reads.len(), kept as u64), (3, reading.wire.bytes));
}

#[test]
fn a_failure_tells_phase_message_code_type_and_time() {
    let failure = run(&[Headers(200), Data(ROLE), Data(ERROR), Eof]).failure.unwrap();
    assert_eq!(failure.phase, FailurePhase::BeforeFirstToken);
    assert_eq!(
        (
            failure.message.as_str(),
            failure.code.as_deref(),
            failure.kind.as_deref()
        ),
        ("full", Some("503"), Some("SERVICE_UNAVAILABLE"))
    );
    assert_eq!(failure.at_ms, 30.0);
    let failure = run(&[Headers(200), Data(A), Data(A), Broken]).failure.unwrap();
    assert_eq!(
        (failure.phase, failure.token_frames_before),
        (FailurePhase::AfterTokens, 2)
    );
    assert_eq!(
        failure.message,
        "the connection broke: the stream ended without finish_reason and [DONE] (net)"
    );
    assert_eq!(run(&[Broken]).failure.unwrap().phase, FailurePhase::BeforeHeaders);
}

#[test]
fn an_http_error_shows_status_and_message() {
    let reading = run(&[
        Headers(429),
        Raw("{\"error\":"),
        Raw("{\"message\":\"slow down\"}}"),
        Eof,
    ]);
    let failure = reading.failure.unwrap();
    assert_eq!(
        (failure.message.as_str(), failure.code.as_deref()),
        ("HTTP 429: slow down", Some("429"))
    );
    assert_eq!((reading.status, reading.reads.len()), (Some(429), 2));
}

#[test]
fn moments_are_those_of_the_reads() {
    let reading = run(&[
        Headers(200),
        Data(ROLE),
        Data(THOUGHT),
        Data(A),
        Data(A),
        Data(STOP),
        Data(USAGE),
        Data(DONE),
    ]);
    let times = reading.times;
    assert_eq!(
        (times.dispatched_ms, times.headers_ms, times.first_byte_ms),
        (0.0, Some(10.0), Some(20.0))
    );
    assert_eq!(
        (times.role_ms, times.first_token_ms, times.first_answer_ms),
        (Some(20.0), Some(30.0), Some(40.0))
    );
    assert_eq!(
        (times.last_token_ms, times.done_ms, times.ended_ms),
        (Some(50.0), Some(80.0), 80.0)
    );
    assert_eq!(reading.marks.at_us, [30_000, 40_000, 50_000]);
    assert_eq!(
        (
            reading.text.as_str(),
            reading.reasoning.as_str(),
            reading.first_token_event
        ),
        ("aa", "h", Some(1))
    );
}

#[test]
fn what_the_end_flushes_is_timed_at_its_read() {
    let text = format!("data: {A}");
    let reading = run(&[Headers(200), Data(A), Raw(&text), Eof]);
    assert_eq!(
        (reading.times.last_token_ms, reading.times.ended_ms),
        (Some(30.0), 40.0)
    );
}

#[test]
fn frames_of_one_read_share_their_time_and_are_counted() {
    let both = format!("data: {A}\n\ndata: {A}\n\n");
    let reading = run(&[Headers(200), Raw(&both), Data(A), Data(DONE)]);
    assert_eq!(reading.marks.at_us, [20_000, 20_000, 30_000]);
    assert_eq!(
        (reading.wire.coalesced_frames, reading.wire.reads, reading.wire.events),
        (1, 3, 4)
    );
}

#[test]
fn token_increments_are_kept_only_if_every_frame_tells_them() {
    let frame = |told: &str| format!(r#"{{"choices":[{{"delta":{{"content":"a"}}}}],"usage":{told}}}"#);
    let usage = |n: u32| frame(&format!(r#"{{"prompt_tokens":3,"completion_tokens":{n}}}"#));
    let marks = |frames: &[String]| {
        let steps: Vec<Step<'_>> = [Headers(200), Data(ROLE)]
            .into_iter()
            .chain(frames.iter().map(|frame| Data(frame)))
            .collect();
        run(&steps).marks.tokens
    };
    assert_eq!(marks(&[usage(1), usage(3), usage(3), usage(4)]), [1, 2, 0, 1]);
    assert_eq!(marks(&[usage(1), frame("null"), usage(4)]), [0; 0]);
    assert_eq!(marks(&[usage(3), usage(1)]), [0; 0]);
    assert_eq!(marks(&[frame("null"), usage(2)]), [0; 0]);
}

#[test]
fn the_requested_length_is_never_credited() {
    let spec = Spec {
        requested_tokens: Some(64),
        ..Spec::default()
    };
    let reading = run_with(spec, &[Headers(200), Data(A), Data(A), Data(STOP), Data(DONE)]);
    assert_eq!(
        (reading.tokens.output, reading.tokens.source),
        (Some(2), TokenSource::Frames)
    );
    let reading = run_with(spec, &[Headers(200), Data(STOP), Data(DONE)]);
    assert_eq!(
        (reading.tokens.output, reading.tokens.source),
        (None, TokenSource::None)
    );
}

#[test]
fn a_success_keeps_no_bytes() {
    let reading = run(&[Headers(200), Data(A), Data(DONE)]);
    assert_eq!((reading.reads.len(), reading.dropped_bytes), (0, 0));
    let spec = Spec {
        keep_bytes: 10,
        ..Spec::default()
    };
    let reading = run_with(spec, &[Headers(200), Data(A), Data(A), Broken]);
    assert_eq!((reading.reads.len(), reading.reads[0].bytes.len()), (1, 10));
    assert_eq!(reading.dropped_bytes, reading.wire.bytes - 10);
}

#[test]
fn every_choice_that_was_seen_must_finish() {
    let first = r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let second = r#"{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":null}]}"#;
    let end = r#"{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}"#;
    assert_eq!(
        run(&[Headers(200), Data(second), Data(first), Eof]).outcome,
        Outcome::Truncated
    );
    let reading = run(&[Headers(200), Data(second), Data(first), Data(end), Eof]);
    assert_eq!(
        (reading.outcome, reading.text.as_str(), reading.finish_reason.as_deref()),
        (Outcome::Succeeded, "a", Some("stop"))
    );
    assert_eq!(
        run(&[Headers(200), Data(second), Data(first), Data(DONE)]).outcome,
        Outcome::Succeeded
    );
}

#[test]
fn events_that_one_line_feed_parts_are_still_read() {
    let text = format!("data: {A}\ndata: {A}\ndata: [DONE]\n");
    let reading = run(&[Headers(200), Raw(&text)]);
    assert_eq!((reading.outcome, reading.text.as_str()), (Outcome::Succeeded, "aa"));
}

#[test]
fn a_message_after_the_deltas_repeats_them() {
    let message = r#"{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}"#;
    let reading = run(&[Headers(200), Data(A), Data(message), Data(DONE)]);
    assert_eq!((reading.text.as_str(), reading.tokens.frames), ("a", 1));
}

#[test]
fn a_wrapped_comment_is_no_data() {
    let reading = run(&[Headers(200), Data(": KEEPALIVE"), Data(A), Data(DONE)]);
    assert_eq!(
        (reading.outcome, reading.first_token_event),
        (Outcome::Succeeded, Some(1))
    );
}

#[test]
fn counts_per_frame_of_a_usage_that_is_not_believed_are_dropped_with_it() {
    let told = |tokens: u64| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"a"}},"finish_reason":null}}],"usage":{{"completion_tokens":{tokens}}}}}"#
        )
    };
    let spec = Spec {
        requested_tokens: Some(24),
        ..Spec::default()
    };
    let frames = |factor: u64| [told(factor), told(2 * factor)];
    let read = |[first, second]: &[String; 2]| {
        run_with(spec, &[Headers(200), Data(first), Data(second), Data(STOP), Data(DONE)])
    };
    assert_eq!(read(&frames(1)).marks.tokens, [1, 1]);
    let absurd = read(&frames(1000));
    assert!(
        absurd.tokens.suspect.is_some() && absurd.marks.tokens.is_empty(),
        "{:?}",
        absurd.tokens
    );
    assert_eq!((absurd.tokens.output, absurd.marks.at_us.len()), (Some(2), 2));
}
