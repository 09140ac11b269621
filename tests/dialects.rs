//! One test for each server that people run: what it alone does on the wire, and how that is read.
#![cfg(not(target_arch = "wasm32"))]

use streamgauge::{
    config::Api,
    request::{Flow, Machine, Outcome, Reading, Rule, Spec, TokenSource},
};

fn ask(api: Api) -> Spec {
    Spec {
        api,
        requested_tokens: Some(64),
        keep_text: true,
        ..Spec::default()
    }
}

/// Reads blocks as they come, one read each, then the neat end.
fn read(api: Api, status: u16, blocks: &[&str]) -> Reading {
    let mut machine = Machine::new(ask(api), 0.0);
    machine.headers(status, Some("text/event-stream"), 1.0);
    for (n, block) in blocks.iter().enumerate() {
        if machine.read(format!("{block}\n\n").as_bytes(), 2.0 + n as f64) == Flow::Complete {
            return machine.finish();
        }
    }
    machine.eof(100.0);
    machine.finish()
}

fn fails(reading: &Reading, outcome: Outcome, message: &str) {
    assert_eq!(reading.outcome, outcome);
    let failure = reading.failure.as_ref().expect("a failure");
    assert!(failure.message.contains(message), "{failure:?}");
}

#[test]
fn sglang_sends_the_role_before_the_first_token_and_usage_with_every_frame() {
    let reading = read(
        Api::Chat,
        200,
        &[
            r#"data: {"id":"r1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":null},"logprobs":null,"finish_reason":null,"matched_stop":null}]}"#,
            r#"data: {"id":"r1","choices":[{"index":0,"delta":{"reasoning_content":null,"content":"Hi"},"finish_reason":null}],"usage":{"prompt_tokens":7,"total_tokens":8,"completion_tokens":1}}"#,
            r#"data: {"id":"r1","choices":[{"index":0,"delta":{"reasoning_content":null},"finish_reason":"stop","matched_stop":2}]}"#,
            r#"data: {"id":"r1","choices":[],"usage":null,"sglext":{"cached_tokens_details":{"device":5,"host":0}}}"#,
            r#"data: {"id":"r1","choices":[],"usage":{"prompt_tokens":7,"total_tokens":9,"completion_tokens":2,"prompt_tokens_details":null,"reasoning_tokens":0}}"#,
            "data: [DONE]",
        ],
    );
    assert_eq!(
        (reading.outcome, reading.first_token_event),
        (Outcome::Succeeded, Some(1))
    );
    assert_eq!(
        (reading.tokens.output, reading.tokens.source),
        (Some(2), TokenSource::Usage)
    );
}

#[test]
fn sglangs_rust_server_puts_the_finish_reason_on_the_last_content() {
    let reading = read(
        Api::Chat,
        200,
        &[
            r#"data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}"#,
            r#"data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"length"}]}"#,
            "data: [DONE]",
        ],
    );
    assert_eq!((reading.outcome, reading.text.as_str()), (Outcome::Succeeded, "a"));
}

#[test]
fn sglang_aborts_in_generate_without_an_error_key() {
    let reading = read(
        Api::Generate,
        200,
        &[
            r#"data: {"text":"","output_ids":[],"meta_info":{"id":"r","finish_reason":{"type":"abort","message":"The request queue is full.","status_code":503,"err_type":null},"completion_tokens":0}}"#,
            "data: [DONE]",
        ],
    );
    fails(&reading, Outcome::Aborted, "queue is full");
    assert_eq!(reading.failure.unwrap().code.as_deref(), Some("503"));
}

#[test]
fn the_sglang_router_refuses_with_its_own_bodies() {
    let reading = read(
        Api::Chat,
        503,
        &[
            r#"{"error":{"type":"Service Unavailable","code":"no_available_workers","message":"No available workers (all circuits open or unhealthy)","param":null}}"#,
        ],
    );
    fails(&reading, Outcome::HttpError, "No available workers");
    let plain = read(
        Api::Chat,
        502,
        &["Failed to send request to worker http://10.0.0.2:30000"],
    );
    fails(&plain, Outcome::HttpError, "Failed to send request");
}

#[test]
fn the_sglang_router_ends_a_stream_whose_worker_died_with_an_error_event() {
    let reading = read(
        Api::Chat,
        200,
        &[
            r#"data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}"#,
            r#"data: {"error":"Stream error: error decoding response body"}"#,
        ],
    );
    fails(&reading, Outcome::StreamError, "error decoding response body");
}

#[test]
fn vllm_tells_reasoning_as_reasoning_and_an_error_in_mid_stream() {
    let reasoning = r#"data: {"choices":[{"index":0,"delta":{"reasoning":"hm","reasoning_content":"hm"},"logprobs":null,"finish_reason":null}]}"#;
    let answer =
        r#"data: {"choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop","stop_reason":null}]}"#;
    let reading = read(Api::Chat, 200, &[reasoning, answer, "data: [DONE]"]);
    assert_eq!((reading.reasoning.as_str(), reading.text.as_str()), ("hm", "yes"));
    assert_eq!(
        (reading.times.first_token_ms, reading.times.first_answer_ms),
        (Some(2.0), Some(3.0))
    );
    let error = r#"data: {"error": {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "param": null, "code": 500}}"#;
    fails(
        &read(Api::Chat, 200, &[reasoning, error, "data: [DONE]"]),
        Outcome::StreamError,
        "EngineCore",
    );
}

#[test]
fn llama_cpp_keeps_alive_by_comments_and_ends_with_timings() {
    let frames = [
        ":",
        ": ping",
        r#"data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"object":"chat.completion.chunk"}"#,
        r#"data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"a"}}],"object":"chat.completion.chunk"}"#,
        r#"data: {"choices":[{"finish_reason":"length","index":0,"delta":{}}],"timings":{"prompt_n":9,"predicted_n":1,"predicted_ms":0.001,"predicted_per_second":1000000.0}}"#,
        r#"data: {"choices":[],"usage":{"completion_tokens":1,"prompt_tokens":9,"total_tokens":10},"timings":{"cache_n":0,"prompt_n":9,"predicted_n":1}}"#,
        "data: [DONE]",
    ];
    let reading = read(Api::Chat, 200, &frames);
    assert_eq!(
        (reading.outcome, reading.first_token_event),
        (Outcome::Succeeded, Some(1))
    );
    assert_eq!((reading.tokens.output, reading.tokens.prompt), (Some(1), Some(9)));
    // Older builds end without usage: the frames are counted, and the count is called an estimate.
    let reading = read(Api::Chat, 200, &[frames[2], frames[3], frames[4], "data: [DONE]"]);
    assert_eq!(
        (reading.tokens.output, reading.tokens.source),
        (Some(1), TokenSource::Frames)
    );
}

#[test]
fn llama_cpp_names_an_error_as_the_field_of_the_line() {
    let reading = read(
        Api::Chat,
        200,
        &[r#"error: {"code":500,"message":"context shift is disabled","type":"server_error"}"#],
    );
    assert_ne!(reading.outcome, Outcome::Succeeded);
    fails(&reading, reading.outcome, "context shift is disabled");
}

#[test]
fn tgi_errs_with_a_string_and_a_type_beside_it() {
    let reading = read(
        Api::Chat,
        200,
        &[
            r#"data: {"error":"Request failed during generation: Server error: CUDA out of memory","error_type":"generation"}"#,
        ],
    );
    fails(&reading, Outcome::StreamError, "CUDA out of memory");
    let named = read(
        Api::Chat,
        200,
        &["event: error\ndata: {\"error\":\"Model is overloaded\",\"error_type\":\"overloaded\"}"],
    );
    fails(&named, Outcome::StreamError, "Model is overloaded");
}

#[test]
fn transformers_serve_ends_without_done() {
    let content = r#"data: {"id":"r","choices":[{"delta":{"content":"a"},"index":0}],"model":"m"}"#;
    let finish = r#"data: {"id":"r","choices":[{"delta":{},"finish_reason":"stop","index":0}],"model":"m"}"#;
    assert_eq!(read(Api::Chat, 200, &[content, finish]).outcome, Outcome::Succeeded);
    assert_eq!(read(Api::Chat, 200, &[content]).outcome, Outcome::Truncated);
    let refused = read(
        Api::Chat,
        422,
        &[r#"{"detail":"Unexpected fields in the request: {'ignore_eos'}"}"#],
    );
    fails(&refused, Outcome::HttpError, "ignore_eos");
}

#[test]
fn litellm_tells_errors_with_a_code_that_is_text_and_usage_beside_a_choice() {
    let content = r#"data: {"id":"c","choices":[{"index":0,"delta":{"content":"a","role":"assistant"}}]}"#;
    let last = r#"data: {"id":"c","choices":[{"finish_reason":"stop","index":0,"delta":{}}],"usage":{"completion_tokens":1,"prompt_tokens":3,"total_tokens":4}}"#;
    let usage = r#"data: {"id":"c","choices":[{"index":0,"delta":{}}],"usage":{"completion_tokens":1,"prompt_tokens":3,"total_tokens":4}}"#;
    let reading = read(Api::Chat, 200, &[content, last, usage, "data: [DONE]"]);
    assert_eq!((reading.outcome, reading.tokens.output), (Outcome::Succeeded, Some(1)));
    let error = r#"data: {"error": {"message": "litellm.MidStreamFallbackError: litellm.APIConnectionError", "type": "None", "param": "None", "code": "500"}}"#;
    let reading = read(Api::Chat, 200, &[content, error]);
    fails(&reading, Outcome::StreamError, "MidStreamFallbackError");
    assert_eq!(reading.failure.unwrap().code.as_deref(), Some("500"));
}

#[test]
fn ollamas_openai_route_tells_an_error_as_an_object_or_a_string() {
    let content = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"m","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}"#;
    for error in [
        r#"data: {"error":{"message":"an error was encountered while running the model: unexpected EOF","type":"api_error","param":null,"code":null}}"#,
        r#"{"error":"an error was encountered while running the model: unexpected EOF"}"#,
    ] {
        fails(
            &read(Api::Chat, 200, &[content, error]),
            Outcome::StreamError,
            "while running the model",
        );
    }
    let missing = read(
        Api::Chat,
        404,
        &[r#"{"error":{"message":"model 'x' not found","type":"not_found_error","param":null,"code":null}}"#],
    );
    fails(&missing, Outcome::HttpError, "model 'x' not found");
}

#[test]
fn azure_begins_with_filter_results_without_choices() {
    let filter = r#"data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"detected":false,"filtered":false}}}]}"#;
    let role = r#"data: {"choices":[{"content_filter_results":{},"delta":{"content":"","refusal":null,"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],"id":"c","object":"chat.completion.chunk"}"#;
    let content = r#"data: {"choices":[{"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}},"delta":{"content":"a"},"finish_reason":null,"index":0}],"id":"c"}"#;
    let finish =
        r#"data: {"choices":[{"content_filter_results":{},"delta":{},"finish_reason":"stop","index":0}],"id":"c"}"#;
    let reading = read(Api::Chat, 200, &[filter, role, content, finish, "data: [DONE]"]);
    assert_eq!(
        (reading.outcome, reading.first_token_event),
        (Outcome::Succeeded, Some(2))
    );
    assert_eq!(reading.response_id.as_deref(), Some("c"));
    // The asynchronous filter adds frames with offsets and no text after the finish reason.
    let late = r#"data: {"choices":[{"content_filter_offsets":{"check_offset":44,"start_offset":44,"end_offset":198},"content_filter_results":{"hate":{"filtered":false}},"finish_reason":null,"index":0}],"id":""}"#;
    let reading = read(Api::Chat, 200, &[filter, role, content, finish, late, "data: [DONE]"]);
    assert_eq!((reading.outcome, reading.tokens.frames), (Outcome::Succeeded, 1));
    let refused = read(
        Api::Chat,
        400,
        &[
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
        ],
    );
    fails(&refused, Outcome::HttpError, "content management policy");
}

#[test]
fn openrouter_processes_in_comments_and_errs_beside_choices() {
    let comment = ": OPENROUTER PROCESSING";
    let content = r#"data: {"id":"gen-1","provider":"X","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null,"native_finish_reason":null}]}"#;
    let error = r#"data: {"id":"gen-1","provider":"X","error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#;
    let reading = read(
        Api::Chat,
        200,
        &[comment, comment, content, comment, error, "data: [DONE]"],
    );
    fails(&reading, Outcome::StreamError, "Provider disconnected");
    assert_eq!((reading.first_token_event, reading.tokens.frames), (Some(0), 1));
    let choice = r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":429,"message":"Rate limited upstream"}}]}"#;
    fails(
        &read(Api::Chat, 200, &[comment, content, choice]),
        Outcome::StreamError,
        "Rate limited upstream",
    );
}

#[test]
fn openai_sends_obfuscation_and_a_refusal_counts_as_output() {
    let role = r#"data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null,"obfuscation":"x8d"}"#;
    let refusal = r#"data: {"id":"c","choices":[{"index":0,"delta":{"refusal":"I cannot"},"finish_reason":null}],"usage":null,"obfuscation":"x"}"#;
    let finish = r#"data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#;
    let usage = r#"data: {"id":"c","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"completion_tokens_details":{"reasoning_tokens":0}}}"#;
    let reading = read(Api::Chat, 200, &[role, refusal, finish, usage, "data: [DONE]"]);
    assert_eq!(
        (reading.outcome, reading.text.as_str(), reading.first_token_event),
        (Outcome::Succeeded, "I cannot", Some(1))
    );
    let error = "data: {\"error\":{\"message\":\"The server had an error while processing your request.\",\"type\":\"server_error\",\"param\":null,\"code\":null}}";
    let reading = read(Api::Chat, 200, &[role, error]);
    fails(&reading, Outcome::StreamError, "had an error");
    assert_eq!(reading.failure.unwrap().rule, Rule::ErrorKey);
}
