//! Runs from start to result.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::{Demo, Page, outcomes};

/// Fast enough that a test is short, slow enough that requests overlap.
const QUICK: [&str; 8] = [
    "--ttft-ms",
    "20",
    "--itl-ms",
    "3",
    "--jitter",
    "0.2",
    "--batch-limit",
    "64",
];

/// Which outcome each fault of the demo endpoint must come to.
fn due(fault: &Value) -> &'static str {
    match fault.as_str() {
        None => "succeeded",
        Some("http_429" | "http_500" | "http_503") => "http_error",
        Some("error_first" | "error_mid") => "stream_error",
        Some("abort") => "aborted",
        Some("cut" | "no_finish") => "truncated",
        Some("malformed_json") => "malformed",
        Some("no_tokens") => "empty",
        Some("stall") => "timeout",
        Some(other) => panic!("a fault these tests do not know: {other}"),
    }
}

/// The server's record of the measured requests: warm-up comes first and is over before they begin.
fn measured(truth: &[Value], warmup: usize) -> &[Value] {
    &truth[warmup..]
}

fn due_counts(truth: &[Value]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for request in truth {
        *counts.entry(due(&request["fault"]).to_owned()).or_default() += 1;
    }
    counts
}

fn sum(values: impl Iterator<Item = u64>) -> u64 {
    values.sum()
}

#[tokio::test]
async fn a_clean_run_counts_every_request_and_every_token_as_the_server_did() {
    let demo = Demo::start(&QUICK);
    let page = Page::open(&format!("url={}&n=60&c=12&warmup=3&out=20", demo.url)).await;
    page.press("Run 60").await;
    let text = page.wait_for("Save JSON").await;
    assert!(
        !text.contains("imulated"),
        "a real server's result must not be called simulated:\n{text}"
    );
    let result = page.download_json().await;
    let truth = demo.truth().await;
    assert_eq!(outcomes(&result), BTreeMap::from([("succeeded".into(), 60)]));
    assert_eq!(result["simulated"], false);
    assert_eq!(
        truth[0]["model"], "demo-model",
        "where no model is named, the first one listed is asked"
    );
    let handed = sum(measured(&truth, 3)
        .iter()
        .map(|request| request["tokens_handed"].as_u64().expect("tokens")));
    assert_eq!(handed, 60 * 20);
    assert_eq!(result["summary"]["output_tokens"], handed);
    assert_eq!(result["warmup"].as_array().map(Vec::len), Some(3));
    assert_eq!(result["summary"]["ttft_ms"]["n"], 60);
    assert_eq!(page.console_errors().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
async fn with_every_fault_mixed_in_the_page_counts_each_kind_exactly() {
    let kinds = [
        "http_429",
        "http_500",
        "http_503",
        "error_first",
        "error_mid",
        "abort",
        "cut",
        "no_finish",
        "malformed_json",
        "no_tokens",
        "stall",
    ];
    let faults = kinds.map(|kind| format!("{kind}=0.05")).join(",");
    let mut args = QUICK.to_vec();
    args.extend(["--faults", &faults, "--seed", "7"]);
    let demo = Demo::start(&args);
    let page = Page::open(&format!(
        "url={}&n=200&c=24&warmup=12&out=16&stall_s=1&first_byte_s=5",
        demo.url
    ))
    .await;
    page.press("Run 200").await;
    let text = page.wait_for("Save JSON").await;
    let result = page.download_json().await;
    let truth = demo.truth().await;
    let truth_measured = measured(&truth, 12);

    let due = due_counts(truth_measured);
    assert!(due.len() >= 8, "the seed must bring every kind of outcome: {due:?}");
    assert_eq!(outcomes(&result), due);
    let total: u64 = result["summary"]["outcomes"]
        .as_object()
        .expect("outcomes")
        .values()
        .map(|n| n.as_u64().expect("a count"))
        .sum();
    assert_eq!(total, 200);

    // No token of a failed request is in an aggregate of successes.
    let good: Vec<_> = truth_measured
        .iter()
        .filter(|request| request["fault"].is_null())
        .collect();
    assert_eq!(
        result["summary"]["output_tokens"],
        sum(good
            .iter()
            .map(|request| request["tokens_handed"].as_u64().expect("tokens")))
    );
    assert_eq!(result["summary"]["ttft_ms"]["n"], good.len());

    // The warm-up's failures are shown, and counted apart.
    let warmup_failed = truth[..12].iter().filter(|request| !request["fault"].is_null()).count();
    assert!(warmup_failed > 0, "the seed must make a warm-up request fail");
    assert!(
        text.contains(&format!("{warmup_failed} of 12 warm-up requests failed")),
        "{text}"
    );

    // A person reads the counts and the servers' words.
    for (outcome, count) in &due {
        assert!(
            text.contains(&count.to_string()),
            "{outcome}: {count} is not on the page:\n{text}"
        );
    }
    assert!(text.contains("The request queue is full"), "{text}");
    page.close().await;
}

#[tokio::test]
async fn a_failure_is_one_click_from_its_bytes() {
    let mut args = QUICK.to_vec();
    args.extend(["--faults", "error_mid=1"]);
    let demo = Demo::start(&args);
    let page = Page::open(&format!("url={}&n=4&c=2&warmup=0&out=16", demo.url)).await;
    page.press("Run 4").await;
    page.wait_for("Save JSON").await;
    page.press("#0").await;
    let text = page.wait_for("Counted as failed").await;
    assert!(
        text.contains("The server answered 200 but sent an error event"),
        "{text}"
    );
    assert!(text.contains("data: {"), "the frames as received are shown:\n{text}");
    assert!(text.contains("[DONE]"), "so is what came after the error:\n{text}");
    page.close().await;
}

#[tokio::test]
async fn stop_keeps_the_result_and_sends_nothing_more() {
    let demo = Demo::start(&["--ttft-ms", "50", "--itl-ms", "20"]);
    let page = Page::open(&format!("url={}&n=2000&c=6&warmup=0&out=30", demo.url)).await;
    page.press("Run 2").await;
    page.wait_until("6 finished requests", |text| text.contains("in flight"))
        .await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    page.press("Stop").await;
    let text = page.wait_for("Save JSON").await;
    assert!(text.to_lowercase().contains("stopped by"), "{text}");
    let result = page.download_json().await;
    assert_eq!(result["ending"], "stopped_by_user");
    let sent = demo.truth().await.len();
    let counted = outcomes(&result);
    assert_eq!(
        counted.values().sum::<usize>(),
        sent,
        "every request sent is accounted for: {counted:?}"
    );
    assert!((1..=6).contains(&counted["cancelled"]), "{counted:?}");
    assert!(counted["succeeded"] > 0, "{counted:?}");
    assert_eq!(result["summary"]["failed"], 0, "cancelled requests are no failures");
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert_eq!(demo.truth().await.len(), sent, "nothing is sent after Stop");
    page.close().await;
}

#[tokio::test]
async fn a_server_killed_in_mid_run_gives_failures_and_no_false_success() {
    let mut demo = Demo::start(&["--ttft-ms", "50", "--itl-ms", "20"]);
    let page = Page::open(&format!("url={}&n=60&c=6&warmup=0&out=40", demo.url)).await;
    page.press("Run 60").await;
    page.wait_for("in flight").await;
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    demo.process.kill();
    let text = page.wait_for("Save JSON").await;
    let result = page.download_json().await;
    let counted = outcomes(&result);
    assert_eq!(counted.values().sum::<usize>(), 60, "{counted:?}");
    assert!(counted["truncated"] >= 1, "streams that were open broke: {counted:?}");
    assert!(counted["network"] >= 1, "later requests found nobody: {counted:?}");
    assert_eq!(counted.len(), 3, "{counted:?}");
    for request in result["requests"].as_array().expect("requests") {
        if request["outcome"] == "succeeded" {
            assert_eq!(request["tokens"]["output"], 40);
        }
    }
    assert!(text.contains("likely the server went away during the run"), "{text}");
    page.close().await;
}

#[tokio::test]
async fn the_simulated_server_needs_no_server_and_is_labelled() {
    let page = Page::open("n=20&c=5&out=12&sim_itl_ms=3&sim_ttft_ms=10&sim_faults=abort%3D0.3").await;
    page.press("Run 20").await;
    let text = page.wait_for("Save JSON").await;
    assert!(text.contains("Simulated"), "{text}");
    let result = page.download_json().await;
    assert_eq!(result["simulated"], true);
    let counted = outcomes(&result);
    assert_eq!(counted.values().sum::<usize>(), 20);
    assert!(
        counted.contains_key("aborted") && counted.contains_key("succeeded"),
        "{counted:?}"
    );
    page.close().await;
}

#[tokio::test]
async fn a_result_saved_and_dropped_back_is_the_same_result() {
    let page = Page::open("n=10&c=5&out=8&sim_itl_ms=3&sim_ttft_ms=10").await;
    page.press("Run 10").await;
    page.wait_for("Save JSON").await;
    let saved = page.download_json().await;
    page.go("").await;
    page.drop_file("result.json", &saved.to_string()).await;
    page.wait_for("Save JSON").await;
    assert_eq!(page.download_json().await, saved);

    page.go("").await;
    page.drop_file("notes.txt", "not a result").await;
    page.wait_for("notes.txt").await;
    page.close().await;
}

#[tokio::test]
async fn a_server_that_refuses_stream_options_is_asked_for_less_and_this_is_noted() {
    let mut args = QUICK.to_vec();
    args.extend(["--refuse", "stream_options.continuous_usage_stats"]);
    let demo = Demo::start(&args);
    let page = Page::open(&format!("url={}&n=12&c=3&warmup=1&out=10", demo.url)).await;
    page.press("Run 12").await;
    let text = page.wait_for("Save JSON").await;
    assert!(text.contains("The server refused a request's stream_options"), "{text}");
    let result = page.download_json().await;
    assert_eq!(
        outcomes(&result),
        BTreeMap::from([("succeeded".into(), 12)]),
        "the warm-up found out"
    );
    assert_eq!(result["summary"]["output_tokens"], 120);
    assert_eq!(
        result["requests"][0]["marks"]["tokens"],
        serde_json::json!([]),
        "no counts per frame without continuous usage"
    );
    page.close().await;
}

#[tokio::test]
async fn answers_that_are_not_streamed_are_counted_without_a_first_token_time() {
    let demo = Demo::start(&QUICK);
    let page = Page::open(&format!("url={}&n=8&c=2&warmup=0&out=10&stream=0", demo.url)).await;
    page.press("Run 8").await;
    page.wait_for("Save JSON").await;
    let saved = page.download_json().await;
    assert_eq!(outcomes(&saved), BTreeMap::from([("succeeded".into(), 8)]));
    assert_eq!(
        (&saved["summary"]["output_tokens"], &saved["summary"]["ttft_ms"]["n"]),
        (&80.into(), &0.into())
    );
    assert_eq!(saved["summary"]["e2e_ms"]["n"], 8);
    page.go("").await;
    page.drop_file("whole.json", &saved.to_string()).await;
    page.wait_for("Save JSON").await;
    page.close().await;
}

#[tokio::test]
async fn each_api_is_measured() {
    let demo = Demo::start(&QUICK);
    let page = Page::open("").await;
    for api in ["completions", "generate"] {
        page.go(&format!("url={}&n=6&c=2&warmup=0&out=10&api={api}", demo.url))
            .await;
        page.press("Run 6").await;
        page.wait_for("Save JSON").await;
        let result = page.download_json().await;
        assert_eq!(outcomes(&result), BTreeMap::from([("succeeded".into(), 6)]), "{api}");
        assert_eq!(result["summary"]["output_tokens"], 60, "{api}");
        assert_eq!(
            result["requests"][0]["marks"]["tokens"],
            serde_json::json!(vec![1; 10]),
            "{api}"
        );
    }
    page.close().await;
}

#[tokio::test]
async fn an_open_loop_sends_by_the_clock_whatever_the_server_does() {
    // Slower than the rate: a closed loop of any size would fall behind, an open one must not.
    let demo = Demo::start(&[
        "--ttft-ms",
        "400",
        "--itl-ms",
        "5",
        "--jitter",
        "0.1",
        "--batch-limit",
        "64",
    ]);
    let page = Page::open(&format!("url={}&n=101&load=constant&rate=50&warmup=1&out=8", demo.url)).await;
    page.press("Run 101 requests at 50/s (even gaps)").await;
    page.wait_for("Rate offered").await;
    let result = page.download_json().await;
    assert_eq!(outcomes(&result), BTreeMap::from([("succeeded".into(), 101)]));
    let truth = demo.truth().await;
    let mut arrivals: Vec<f64> = measured(&truth, 1)
        .iter()
        .map(|request| request["arrival_unix_ms"].as_f64().expect("a time"))
        .collect();
    arrivals.sort_by(f64::total_cmp);
    let rate = 100.0 / ((arrivals[100] - arrivals[0]) / 1000.0);
    assert!(
        (rate / 50.0 - 1.0).abs() < 0.02,
        "the server saw {rate} requests per second"
    );
    let requests = result["requests"].as_array().expect("requests");
    let scheduled = |i: usize| requests[i]["times"]["scheduled_ms"].as_f64().expect("a time");
    for i in 1..=100 {
        assert!(
            (scheduled(i) - scheduled(0) - 20.0 * i as f64).abs() < 1e-6,
            "the schedule is absolute"
        );
    }
    page.close().await;
}

#[tokio::test]
async fn a_run_of_a_given_time_ends_by_the_clock_and_cancels_what_outlasts_its_grace() {
    let demo = Demo::start(&["--ttft-ms", "20", "--itl-ms", "3", "--faults", "stall=0.1"]);
    let page = Page::open(&format!("url={}&c=4&for_s=1.5&grace_s=0.5&warmup=0&out=8", demo.url)).await;
    page.press("Run for").await;
    page.wait_for("Save JSON").await;
    let result = page.download_json().await;
    assert_eq!(result["ending"], "completed");
    let counts = outcomes(&result);
    assert!(counts["succeeded"] > 4, "{counts:?}");
    assert!(
        counts.get("cancelled").is_some_and(|n| (1..=4).contains(n)),
        "{counts:?}"
    );
    let sum: usize = counts.values().sum();
    assert_eq!(sum, demo.truth().await.len(), "all that was sent is told");
    let last = result["requests"].as_array().expect("requests").iter().map(|r| {
        r["times"]["dispatched_ms"].as_f64().expect("a time") - result["measured_from_ms"].as_f64().expect("a time")
    });
    assert!(last.fold(0.0, f64::max) < 1600.0, "nothing is sent after the time");
    page.close().await;
}

#[tokio::test]
async fn answers_are_counted_again_by_the_server_where_that_is_ticked() {
    let demo = Demo::start(&QUICK);
    let page = Page::open(&format!("url={}&n=12&c=4&warmup=1&out=9&recount=1", demo.url)).await;
    page.press("Run 12").await;
    page.wait_for("Output tokens, counted three ways").await;
    let result = page.download_json().await;
    for request in result["requests"].as_array().expect("requests") {
        let tokens = &request["tokens"];
        assert_eq!(tokens["source"], "usage", "what the server told stays");
        let (usage, text) = (tokens["usage_output"].as_u64(), tokens["retokenized"].as_u64());
        assert!(usage.is_some() && text.is_some(), "{tokens}");
    }
    page.close().await;
}
