//! A result's times beside the demo endpoint's record.

use std::collections::HashMap;

use serde_json::Value;

/// Errors of every token frame and of every TTFT, ms.
pub fn errors(result: &Value, truth: &[Value]) -> (Vec<f64>, Vec<f64>) {
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
