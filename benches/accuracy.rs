//! How far the page's times are from the truth: it measures the demo endpoint, whose record says when each frame was
//! handed to its socket, on the same machine and clock. `script/accuracy` runs it; it prints a table and asserts nothing.

#[path = "../tests/e2e/harness.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod harness;

use std::collections::HashMap;

use harness::{Demo, Page};
use serde_json::Value;
use streamgauge::metrics::Sample;

const STREAMS: [u32; 4] = [1, 6, 32, 100];
const ITL_MS: u32 = 20;
const TOKENS: u32 = 150;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    println!("Error of the page's times against the demo endpoint's record, {ITL_MS} ms between tokens, ms.");
    println!(
        "A frame's error: read in the page − handed to the socket. TTFT's: seen by the page − seen by the server.\n"
    );
    println!("| streams | frames | frame p50 | p90 | p99 | max | TTFT p50 | p99 | max | page stall | client |");
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    for streams in STREAMS {
        let demo = Demo::start(&[
            "--itl-ms",
            &ITL_MS.to_string(),
            "--ttft-ms",
            "50",
            "--load-slowdown",
            "0",
            "--batch-limit",
            "1000",
        ]);
        let requests = streams * 3;
        let query = format!(
            "url={}&n={requests}&c={streams}&warmup={streams}&out={TOKENS}",
            demo.url
        );
        let page = Page::open(&query).await;
        page.press("Run").await;
        page.wait_for("Save JSON").await;
        let result = page.download_json().await;
        page.close().await;
        let (frames, ttfts) = errors(&result, &demo.truth().await);
        let [frame, ttft] = [Sample::new(frames), Sample::new(ttfts)];
        let at = |sample: &Sample, p: f64| sample.percentile(p).map_or("n/a".into(), |ms| format!("{ms:.2}"));
        println!(
            "| {streams} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            frame.values().len(),
            at(&frame, 50.0),
            at(&frame, 90.0),
            at(&frame, 99.0),
            at(&frame, 100.0),
            at(&ttft, 50.0),
            at(&ttft, 99.0),
            at(&ttft, 100.0),
            result["client"]["page_stall_max_ms"]
                .as_f64()
                .map_or("n/a".into(), |ms| format!("{ms:.0}")),
            result["client"]["verdict"].as_str().unwrap_or("?"),
        );
    }
}

/// Errors of every token frame and of every TTFT, ms.
fn errors(result: &Value, truth: &[Value]) -> (Vec<f64>, Vec<f64>) {
    let truth: HashMap<&str, &Value> = truth
        .iter()
        .filter_map(|entry| Some((entry["id"].as_str()?, entry)))
        .collect();
    let started_ms = result["started_unix_ms"].as_f64().expect("a start");
    let (mut frames, mut ttfts) = (Vec::new(), Vec::new());
    for request in result["requests"].as_array().expect("requests") {
        let id = request["response_id"].as_str().expect("the server's id");
        let entry = truth[id];
        let handed: Vec<f64> = entry["frames"]
            .as_array()
            .expect("frames")
            .iter()
            .filter(|frame| frame["tokens"].as_u64().unwrap_or(0) > 0)
            .map(|frame| frame["handed_unix_ms"].as_f64().expect("a time"))
            .collect();
        let dispatched_ms = request["times"]["dispatched_ms"].as_f64().expect("a time");
        let seen: Vec<f64> = request["marks"]["at_us"]
            .as_array()
            .expect("marks")
            .iter()
            .map(|us| dispatched_ms + us.as_f64().expect("µs") / 1000.0)
            .collect();
        assert_eq!(
            seen.len(),
            handed.len(),
            "request {id}: the page and the server count other frames"
        );
        frames.extend(
            seen.iter()
                .zip(&handed)
                .map(|(seen, handed)| started_ms + seen - handed),
        );
        let arrival_ms = entry["arrival_unix_ms"].as_f64().expect("a time");
        ttfts.push((seen[0] - dispatched_ms) - (handed[0] - arrival_ms));
    }
    (frames, ttfts)
}
