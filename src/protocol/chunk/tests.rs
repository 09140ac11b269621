use std::borrow::Cow;

use super::*;

fn choice_of(json: &str) -> (String, String, bool, Option<String>) {
    let chunk = Chunk::parse(json).unwrap_or_else(|error| panic!("{json}: {error}"));
    let Some(choice) = chunk.choices.iter().next() else {
        return Default::default();
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let finish = choice.finish.as_ref().map(|finish| finish.reason.clone().into_owned());
    (
        text(&choice.answer),
        text(&choice.reasoning),
        choice.has_tool_output(),
        finish,
    )
}

fn delta(json: &str) -> (String, String, bool) {
    let (answer, reasoning, tool, _) = choice_of(&format!("{{\"choices\":[{{\"delta\":{json}}}]}}"));
    (answer, reasoning, tool)
}

fn said(answer: &str, reasoning: &str, tool: bool) -> (String, String, bool) {
    (answer.to_owned(), reasoning.to_owned(), tool)
}

#[test]
fn text_is_found_wherever_an_api_puts_it() {
    assert_eq!(delta(r#"{"content":"a"}"#), said("a", "", false));
    assert_eq!(
        delta(r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#),
        said("ab", "", false)
    );
    assert_eq!(
        delta(r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"}]}]}"#),
        said("", "h", false)
    );
    assert_eq!(
        delta(r#"{"content":null,"reasoning_content":"h"}"#),
        said("", "h", false)
    );
    assert_eq!(delta(r#"{"reasoning":"h"}"#), said("", "h", false));
    assert_eq!(delta(r#"{"refusal":"no"}"#), said("no", "", false));
    assert_eq!(choice_of(r#"{"choices":[{"text":" x"}]}"#).0, " x");
    assert_eq!(choice_of(r#"{"choices":[{"message":{"content":"whole"}}]}"#).0, "whole");
}

#[test]
fn two_spellings_of_reasoning_count_once() {
    assert_eq!(
        delta(r#"{"reasoning":"h","reasoning_content":"h"}"#),
        said("", "h", false)
    );
    assert_eq!(
        delta(r#"{"reasoning":"h","reasoning_content":""}"#),
        said("", "h", false)
    );
}

#[test]
fn tool_names_and_arguments_are_output_and_ids_are_not() {
    assert!(delta(r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}"#).2);
    assert!(delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#).2);
    assert!(delta(r#"{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}"#).2);
    assert!(delta(r#"{"function_call":{"name":"f"}}"#).2);
    assert!(
        !delta(r#"{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":null,"arguments":""}}]}"#).2
    );
    assert!(!delta(r#"{"tool_calls":[]}"#).2);
}

#[test]
fn wrong_types_and_nulls_are_absent() {
    for json in [
        r#"{"choices":null,"usage":null,"error":null,"object":null}"#,
        r#"{"choices":"none","usage":[1],"meta_info":3,"text":5,"output_ids":"x","index":"a"}"#,
        r#"{"choices":[null,5,"x",[]]}"#,
        r#"{"choices":{"0":{"delta":{"content":"x"}}}}"#,
        r#"{"choices":[{"delta":null,"finish_reason":null,"index":null,"message":7,"text":{}}]}"#,
        r#"{"choices":[{"delta":{"content":{"a":1},"reasoning":5,"tool_calls":{"a":1},"role":1}}]}"#,
        r#"{"choices":[{"finish_reason":""}]}"#,
        "[]",
        "5",
        "null",
        "\"x\"",
    ] {
        let chunk = Chunk::parse(json).unwrap();
        assert!(chunk.error.is_none() && chunk.usage.is_none(), "{json}");
        assert!(
            chunk.choices.iter().all(|c| !c.has_output() && c.finish.is_none()),
            "{json}"
        );
        assert!(
            chunk.native.text.is_none() && chunk.native.output_ids.is_none(),
            "{json}"
        );
    }
}

#[test]
fn of_two_equal_keys_the_last_wins() {
    assert_eq!(delta(r#"{"content":"a","content":"b"}"#).0, "b");
}

#[test]
fn an_error_is_known_by_its_signs() {
    let sign = |json: &str| Chunk::parse(json).unwrap().error;
    assert_eq!(sign(r#"{"error":{"message":"x"}}"#), Some(ErrorSign::Key));
    assert_eq!(sign(r#"{"error":"x","error":null}"#), Some(ErrorSign::Key));
    assert_eq!(
        sign(r#"{"choices":[{"error":{"message":"x"},"delta":{}}]}"#),
        Some(ErrorSign::Key)
    );
    assert_eq!(sign(r#"{"object":"error","message":"x"}"#), Some(ErrorSign::Object));
    assert_eq!(sign(r#"{"text":"x","error_code":50001}"#), Some(ErrorSign::Key));
    assert_eq!(sign(r#"{"text":"x","error_code":0}"#), None);
    for hollow in ["null", "\"\"", "{}", "[]", "false", "0"] {
        assert_eq!(sign(&format!("{{\"error\":{hollow}}}")), None, "{hollow}");
    }
    assert_eq!(sign(r#"{"choices":[{"delta":{"content":"{\"error\":1}"}}]}"#), None);
}

#[test]
fn usage_is_read_from_every_place_it_is_put() {
    let completion = |json: &str| Chunk::parse(json).unwrap().usage.and_then(|usage| usage.completion);
    assert_eq!(
        completion(r#"{"usage":{"completion_tokens":5}}"#),
        Some(Count::Whole(5))
    );
    assert_eq!(completion(r#"{"usage":{"output_tokens":5}}"#), Some(Count::Whole(5)));
    assert_eq!(
        completion(r#"{"choices":[{"usage":{"completion_tokens":5}}]}"#),
        Some(Count::Whole(5))
    );
    assert_eq!(
        completion(r#"{"x_groq":{"usage":{"completion_tokens":5}}}"#),
        Some(Count::Whole(5))
    );
    assert_eq!(
        completion(r#"{"usage":{"completion_tokens":-5}}"#),
        Some(Count::Odd("-5".into()))
    );
    assert_eq!(Chunk::parse(r#"{"usage":{}}"#).unwrap().usage, None);
    let details = r#"{"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4},"reasoning_tokens":0,
        "completion_tokens_details":{"reasoning_tokens":3}}}"#;
    let usage = Chunk::parse(details).unwrap().usage.unwrap();
    assert_eq!(
        (usage.cached, usage.reasoning),
        (Some(Count::Whole(4)), Some(Count::Whole(3)))
    );
}

#[test]
fn a_native_frame_has_text_ids_counts_and_an_object_for_a_reason() {
    let json = r#"{"text":"Hi","output_ids":[13,44],"meta_info":{"completion_tokens":2,"prompt_tokens":7,"cached_tokens":3,
        "queue_time":0.5,"e2e_latency":1.5,"finish_reason":{"type":"abort","message":"full","status_code":503,"err_type":"X"}}}"#;
    let chunk = Chunk::parse(json).unwrap();
    let finish = chunk.native.finish.unwrap();
    assert!(finish.is_abort());
    assert_eq!(
        (
            finish.message.as_deref(),
            finish.code.as_deref(),
            finish.kind.as_deref()
        ),
        (Some("full"), Some("503"), Some("X"))
    );
    assert_eq!(chunk.native.output_ids, Some(2));
    assert_eq!(chunk.native.usage.unwrap().cached, Some(Count::Whole(3)));
    assert_eq!(
        (chunk.server.queue_time_s, chunk.server.e2e_latency_s),
        (Some(0.5), Some(1.5))
    );
}

#[test]
fn the_nan_stop_is_seen_in_both_apis() {
    let chat = Chunk::parse(r#"{"choices":[{"finish_reason":"stop","matched_stop":"NaN happened"}]}"#).unwrap();
    assert!(chat.choices.iter().next().unwrap().nan_stop);
    let native = Chunk::parse(r#"{"meta_info":{"finish_reason":{"type":"stop","matched":"NaN happened"}}}"#).unwrap();
    assert!(native.native.nan_stop());
    let number = Chunk::parse(r#"{"choices":[{"finish_reason":"stop","matched_stop":2}]}"#).unwrap();
    assert!(!number.choices.iter().next().unwrap().nan_stop);
}

#[test]
fn a_lone_surrogate_does_not_spoil_the_frame() {
    let chunk = Chunk::parse(r#"{"choices":[{"delta":{"content":"ok \ud83d"}}],"\udead":1}"#).unwrap();
    assert_eq!(chunk.choices.iter().next().unwrap().answer.as_ref(), b"ok \xed\xa0\xbd");
}

#[test]
fn the_text_of_a_usual_frame_is_lent() {
    let json = r#"{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}"#;
    let chunk = Chunk::parse(json).unwrap();
    assert!(matches!(chunk.choices.iter().next().unwrap().answer, Cow::Borrowed(_)));
}

#[test]
fn what_is_no_json_is_refused() {
    for text in [
        "",
        "{",
        "hello",
        "{\"a\":1}}",
        "{\"a\":NaN}",
        "{'a':1}",
        "{\"choices\":[{\"delta\":{\"content\":\"x",
    ] {
        assert!(Chunk::parse(text).is_err(), "{text}");
    }
}
