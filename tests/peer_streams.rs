//! Thirteen small streams on which other clients' parsers were seen to lose tokens, lose errors, or call a failure a
//! success. Ten content frames, then `[DONE]`, unless said otherwise.

#![cfg(not(target_arch = "wasm32"))]

use streamgauge::request::{Flow, Machine, Outcome, Reading, Spec};

fn frame(n: usize) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"t{n} "}},"finish_reason":null}}]}}"#)
}

/// The first `count` frames as events, then `rest`.
fn events(count: usize, rest: &[&str]) -> Vec<String> {
    let frames = (0..count).map(|n| format!("data: {}\n\n", frame(n)));
    frames.chain(rest.iter().map(|text| (*text).to_owned())).collect()
}

fn read(reads: &[String]) -> Reading {
    let mut machine = Machine::new(
        Spec {
            keep_text: true,
            ..Spec::default()
        },
        0.0,
    );
    machine.headers(200, Some("text/event-stream"), 1.0);
    for (n, bytes) in reads.iter().enumerate() {
        if machine.read(bytes.as_bytes(), 2.0 + n as f64) == Flow::Complete {
            return machine.finish();
        }
    }
    machine.eof(100.0);
    machine.finish()
}

fn in_pairs(events: &[String]) -> Vec<String> {
    events.chunks(2).map(|pair| pair.concat()).collect()
}

fn expect(reads: &[String], outcome: Outcome, frames: u32) {
    let reading = read(reads);
    assert_eq!((reading.outcome, reading.tokens.frames), (outcome, frames));
    let text: String = (0..frames).map(|n| format!("t{n} ")).collect();
    assert_eq!(reading.text, text);
}

const DONE: &str = "data: [DONE]\n\n";

#[test]
fn plain() {
    expect(&events(10, &[DONE]), Outcome::Succeeded, 10);
}

#[test]
fn a_comment_in_its_own_read_after_two_tokens() {
    let mut reads = events(10, &[DONE]);
    reads.insert(2, ": ping\n\n".to_owned());
    expect(&reads, Outcome::Succeeded, 10);
}

#[test]
fn a_comment_before_the_first_token() {
    let mut reads = events(10, &[DONE]);
    reads.insert(0, ": OPENROUTER PROCESSING\n\n".to_owned());
    expect(&reads, Outcome::Succeeded, 10);
    expect(&in_pairs(&reads), Outcome::Succeeded, 10);
}

#[test]
fn crlf_line_ends_and_two_frames_a_read() {
    let reads: Vec<String> = events(10, &[DONE])
        .iter()
        .map(|text| text.replace('\n', "\r\n"))
        .collect();
    expect(&in_pairs(&reads), Outcome::Succeeded, 10);
}

#[test]
fn no_space_after_the_colon() {
    let reads: Vec<String> = events(10, &[DONE])
        .iter()
        .map(|text| text.replacen("data: ", "data:", 1))
        .collect();
    expect(&reads, Outcome::Succeeded, 10);
}

#[test]
fn an_event_line_before_each_data_line() {
    let reads: Vec<String> = events(10, &[DONE])
        .iter()
        .map(|text| format!("event: message\n{text}"))
        .collect();
    expect(&reads, Outcome::Succeeded, 10);
}

#[test]
fn an_error_after_three_tokens() {
    let reads = events(3, &["data: {\"error\":{\"message\":\"boom\"}}\n\n", DONE]);
    expect(&reads, Outcome::StreamError, 3);
    assert_eq!(read(&reads).failure.unwrap().message, "boom");
}

#[test]
fn a_clean_end_after_three_tokens() {
    expect(&events(3, &[]), Outcome::Truncated, 3);
}

#[test]
fn a_malformed_frame_after_three_tokens() {
    let mut reads = events(3, &["data: {\"choices\":[{\"delta\n\n"]);
    reads.extend(events(10, &[DONE]).split_off(3));
    expect(&reads, Outcome::Malformed, 3);
}

#[test]
fn an_html_page_with_status_200() {
    expect(&["<html><body>Sign in</body></html>".to_owned()], Outcome::Malformed, 0);
}

#[test]
fn a_last_frame_without_a_blank_line() {
    let stop = r#"data: {"choices":[{"index":0,"delta":{"content":"t9 "},"finish_reason":"stop"}]}"#;
    expect(&events(9, &[stop]), Outcome::Succeeded, 10);
    let open = format!("data: {}", frame(9));
    expect(&events(9, &[&open]), Outcome::Truncated, 10);
}

#[test]
fn a_last_chunk_with_usage_and_no_choices() {
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4,\"completion_tokens\":12}}\n\n";
    let reads = events(10, &[usage, DONE]);
    expect(&reads, Outcome::Succeeded, 10);
    assert_eq!(read(&reads).tokens.output, Some(12));
}
