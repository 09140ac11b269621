//! Whole answers and the native API.

use super::*;

fn whole(steps: &[Step<'_>]) -> Reading {
    run_with(
        Spec {
            stream: false,
            keep_text: true,
            ..Spec::default()
        },
        steps,
    )
}

#[test]
fn a_whole_answer_has_tokens_but_no_first_token_time() {
    let answer = r#"{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}"#;
    let (head, tail) = answer.split_at(20);
    let reading = whole(&[Headers(200), Raw(head), Raw(tail), Eof]);
    assert_eq!((reading.outcome, reading.text.as_str()), (Outcome::Succeeded, "hi"));
    assert_eq!(
        (reading.tokens.output, reading.tokens.source),
        (Some(2), TokenSource::Usage)
    );
    assert_eq!(
        (
            reading.times.first_token_ms,
            reading.times.last_token_ms,
            reading.first_token_event
        ),
        (None, Some(40.0), None)
    );
    assert!(reading.marks.at_us.is_empty());
}

#[test]
fn a_whole_answer_is_rejected_by_the_same_rules() {
    let done = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"abort"}]}"#;
    let open = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":null}]}"#;
    let empty = r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#;
    for (body, outcome, rule) in [
        (r#"{"error":{"message":"x"}}"#, Outcome::StreamError, Rule::ErrorBody),
        (
            r#"{"object":"error","message":"x"}"#,
            Outcome::StreamError,
            Rule::ErrorBody,
        ),
        (done, Outcome::Aborted, Rule::AbortFinish),
        (open, Outcome::Truncated, Rule::EndWithoutFinish),
        (empty, Outcome::Empty, Rule::NoToken),
        ("", Outcome::Empty, Rule::NoToken),
        ("<html>", Outcome::Malformed, Rule::NotJson),
        (&done[..20], Outcome::Truncated, Rule::EndWithoutFinish),
    ] {
        let reading = whole(&[Headers(200), Raw(body), Eof]);
        assert_eq!(
            (reading.outcome, reading.failure.map(|failure| failure.rule)),
            (outcome, Some(rule)),
            "{body}"
        );
    }
    assert_eq!(
        whole(&[Headers(200), Raw(&done[..20]), Broken]).failure.unwrap().rule,
        Rule::ConnectionBroke
    );
}

#[test]
fn a_stream_that_nobody_asked_for_is_read_without_times() {
    let stream = format!("data: {A}\n\ndata: [DONE]\n\n");
    let reading = whole(&[Headers(200), Raw(&stream), Eof]);
    assert_eq!(
        (reading.outcome, reading.text.as_str(), reading.times.first_token_ms),
        (Outcome::Succeeded, "a", None)
    );
}

fn native(frames: &[&str]) -> Reading {
    let steps: Vec<Step<'_>> = [Headers(200)]
        .into_iter()
        .chain(frames.iter().map(|frame| Data(frame)))
        .collect();
    run_with(
        Spec {
            api: Api::Generate,
            keep_text: true,
            requested_tokens: Some(8),
            ..Spec::default()
        },
        &steps,
    )
}

#[test]
fn a_native_stream_is_counted_by_its_own_counts() {
    let reading = native(&[
        r#"{"text":"Hi","output_ids":[1],"meta_info":{"completion_tokens":1,"prompt_tokens":7,"finish_reason":null}}"#,
        r#"{"text":"Hi the","output_ids":[1,2,3],"meta_info":{"completion_tokens":3,"prompt_tokens":7,"finish_reason":null}}"#,
        r#"{"text":"Hi the","output_ids":[1,2,3,4],"meta_info":{"completion_tokens":4,"prompt_tokens":7,"cached_tokens":2,"queue_time":0.5,"finish_reason":{"type":"length","length":4}}}"#,
        DONE,
    ]);
    assert_eq!(
        (reading.outcome, reading.text.as_str(), reading.finish_reason.as_deref()),
        (Outcome::Succeeded, "Hi the", Some("length"))
    );
    assert_eq!(
        (reading.tokens.output, reading.tokens.source, reading.tokens.cached),
        (Some(4), TokenSource::Native, Some(2))
    );
    assert_eq!(reading.marks.tokens, [1, 2]);
    assert_eq!(reading.server.queue_time_s, Some(0.5));
}

#[test]
fn a_native_abort_tells_its_message_and_status() {
    let abort = r#"{"text":"","meta_info":{"completion_tokens":0,"finish_reason":{"type":"abort","message":"The request queue is full.","status_code":503}}}"#;
    let reading = native(&[abort, DONE]);
    let failure = reading.failure.unwrap();
    assert_eq!(
        (reading.outcome, failure.code.as_deref()),
        (Outcome::Aborted, Some("503"))
    );
    assert_eq!(failure.message, "finish_reason abort: The request queue is full.");
}

#[test]
fn an_event_in_the_shape_of_an_error_is_one_and_its_message_is_kept() {
    for (event, message) in [
        (r#"{"detail":"boom"}"#, "boom"),
        (r#"{"message":"boom","code":500}"#, "boom"),
        (r#"{"type":"error","message":"boom"}"#, "boom"),
        (r#"{"status":"error","message":"boom"}"#, "boom"),
        (r#"{"errors":[{"message":"boom"}]}"#, "boom"),
    ] {
        let reading = run_with(
            Spec::default(),
            &[Headers(200), Data(A), Data(event), Data(STOP), Data(DONE)],
        );
        assert_eq!(reading.outcome, Outcome::StreamError, "{event}");
        assert!(reading.failure.expect("a failure").message.contains(message), "{event}");
    }
    for event in [
        r#"{"type":"ping"}"#,
        r#"{"choices":[],"prompt_filter_results":[{"status":"ok"}]}"#,
        r#"{"message":"hello"}"#,
        "{}",
    ] {
        let reading = run_with(
            Spec::default(),
            &[Headers(200), Data(A), Data(event), Data(STOP), Data(DONE)],
        );
        assert_eq!(reading.outcome, Outcome::Succeeded, "{event}");
    }
}

#[test]
fn a_finish_reason_that_says_cancelled_is_no_success() {
    for reason in ["cancelled", "timeout", "failed"] {
        let finish = STOP.replace("stop", reason);
        let reading = run_with(Spec::default(), &[Headers(200), Data(A), Data(&finish), Data(DONE)]);
        assert_eq!(reading.outcome, Outcome::Aborted, "{reason}");
    }
}

#[test]
fn fewer_tokens_than_half_the_frames_are_not_believed() {
    let usage = r#"{"choices":[],"usage":{"completion_tokens":3}}"#;
    let mut steps = vec![Headers(200)];
    steps.extend([Data(A); 20]);
    steps.extend([Data(STOP), Data(usage), Data(DONE)]);
    let reading = run_with(Spec::default(), &steps);
    assert_eq!(
        (reading.tokens.output, reading.tokens.source),
        (Some(20), TokenSource::Frames)
    );
    assert!(reading.tokens.suspect.is_some());
}
