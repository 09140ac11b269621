//! The result as a line that `sglang.benchmark.serving` 0.5 could have written with `--output-file`: its keys, in its
//! order and units, so that scripts which read those files read this one.
//!
//! Where its client would write a number that was not measured (0 for an empty sample, the client's own count for a
//! prompt the server did not count), this writes `null`. Its optional `--output-details` hold the texts of the answers,
//! which are not kept, so they are never written. What it has no key for stands under one more, [`OWN_KEY`].

use serde_json::{Value, json};

use super::Document;
use crate::{
    config::{RunConfig, workload::Kind},
    metrics::sglang::{self, Figures, Statistics},
    request::{Outcome, RequestRecord},
};

/// The key of what that client does not write: outcomes, verdict, where the file comes from.
pub const OWN_KEY: &str = "streamgauge";

/// One line, with its line end.
///
/// Host names, prompts and answers are not in it; `server_info`, where that client puts the server's whole command
/// line, is `null`.
pub fn jsonl(document: &Document) -> String {
    let config = &document.config;
    let figures = sglang::figures(&document.requests, config, document.duration_ms);
    let mut line = Line::default();
    put_load(&mut line, config);
    put_figures(&mut line, document, &figures);
    put_goodput(&mut line, config, &figures);
    line.put(OWN_KEY, own(document));
    line.finish()
}

/// A JSON object whose keys stay in the order in which they were put.
#[derive(Default)]
struct Line(String);

impl Line {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&Value::from(key).to_string());
        self.0.push(':');
        self.0.push_str(&value.into().to_string());
    }

    fn finish(mut self) -> String {
        self.0.push_str("}\n");
        self.0
    }
}

fn put_load(line: &mut Line, config: &RunConfig) {
    let rate = sglang::request_rate(config);
    // A steady rate is a number to that client; "inf", and our ramps and stages, are text.
    let rate = rate
        .parse::<f64>()
        .ok()
        .filter(|rate| rate.is_finite())
        .map_or(Value::from(rate), Value::from);
    let workload = &config.workload;
    let (dataset, drawn) = match workload.kind {
        Kind::Random if workload.token_ids => ("random-ids", true),
        Kind::Random => ("random", true),
        Kind::SharedPrefix => ("generated-shared-prefix", true),
        Kind::Typed | Kind::File => ("custom", false),
    };
    line.put("tag", Value::Null);
    line.put("backend", sglang::backend(config.api));
    line.put("dataset_name", dataset);
    line.put("request_rate", rate);
    line.put("max_concurrency", config.most_in_flight());
    line.put("sharegpt_output_len", Value::Null);
    line.put("random_input_len", drawn.then_some(config.input_tokens));
    line.put("random_output_len", config.output_tokens);
    line.put("random_range_ratio", drawn.then_some(workload.range_ratio));
    line.put("server_info", Value::Null);
}

fn put_figures(line: &mut Line, document: &Document, figures: &Figures) {
    let successes = || {
        document
            .requests
            .iter()
            .filter(|r| !r.warmup && r.outcome == Outcome::Succeeded)
    };
    // A sum with some of its parts unknown is too small, and says nothing of it.
    let known = |count: fn(&RequestRecord) -> Option<u64>| successes().all(|r| count(r).is_some());
    let input_known = known(|r| r.tokens.prompt);
    let output_known = known(|r| r.tokens.output);
    let asked_again = figures.completed > 0 && known(|r| r.tokens.retokenized);
    let retokenized = asked_again.then(|| {
        successes()
            .filter_map(|r| r.tokens.retokenized)
            .fold(0u64, u64::saturating_add)
    });
    let timed = figures.duration > 0.0;
    line.put("duration", figures.duration);
    line.put("completed", figures.completed);
    line.put("total_input_tokens", input_known.then_some(figures.total_input_tokens));
    line.put(
        "total_input_text_tokens",
        input_known.then_some(figures.total_input_tokens),
    );
    // No image is ever sent.
    line.put("total_input_vision_tokens", 0);
    line.put(
        "total_output_tokens",
        output_known.then_some(figures.total_output_tokens),
    );
    line.put("total_output_tokens_retokenized", retokenized);
    line.put("request_throughput", timed.then_some(figures.request_throughput));
    line.put(
        "input_throughput",
        (timed && input_known).then_some(figures.input_throughput),
    );
    line.put(
        "output_throughput",
        (timed && output_known).then_some(figures.output_throughput),
    );
    line.put(
        "total_throughput",
        (timed && input_known && output_known).then_some(figures.total_throughput),
    );
    for (name, statistics) in [
        ("e2e_latency", &figures.e2e_latency_ms),
        ("ttft", &figures.ttft_ms),
        ("tpot", &figures.tpot_ms),
        ("itl", &figures.itl_ms),
    ] {
        put_statistics(line, name, statistics);
    }
    line.put("concurrency", timed.then_some(figures.concurrency));
    // It takes this from the server's own average since its start, which no browser may read.
    line.put("accept_length", Value::Null);
    line.put("max_output_tokens_per_s", figures.max_output_tokens_per_s);
    line.put("max_concurrent_requests", figures.max_concurrent_requests);
}

fn put_statistics(line: &mut Line, name: &str, statistics: &Statistics) {
    for (which, value) in [
        ("mean", statistics.mean),
        ("median", statistics.median),
        ("std", statistics.std),
        ("p90", statistics.p90),
        ("p95", statistics.p95),
        ("p99", statistics.p99),
    ] {
        line.put(&format!("{which}_{name}_ms"), (statistics.n > 0).then_some(value));
    }
}

fn put_goodput(line: &mut Line, config: &RunConfig, figures: &Figures) {
    let Some(goodput) = &figures.goodput else {
        return;
    };
    let object = |pairs: [(&str, Option<f64>); 3]| {
        let mut object = Line::default();
        for (name, value) in pairs {
            if let Some(value) = value {
                object.put(name, value);
            }
        }
        let text = object.finish();
        serde_json::from_str::<Value>(&text).unwrap_or(Value::Null)
    };
    let slo = &config.slo;
    line.put(
        "goodput_slos_ms",
        object([("ttft", slo.ttft_ms), ("tpot", slo.tpot_ms), ("e2el", slo.e2e_ms)]),
    );
    line.put("request_goodput", goodput.request_goodput);
    line.put("slo_attainment", goodput.slo_attainment);
    line.put(
        "slo_attainment_by_metric",
        object([("ttft", goodput.ttft), ("tpot", goodput.tpot), ("e2el", goodput.e2el)]),
    );
}

fn own(document: &Document) -> Value {
    let summary = &document.summary;
    json!({
        "generator": document.format.generator,
        "simulated": document.simulated,
        "model": document.server.model,
        "started_unix_ms": document.started_unix_ms,
        "ending": document.ending,
        "sent": summary.sent,
        "failed": summary.failed,
        "outcomes": summary.outcomes,
        "seed": document.config.seed,
        "estimated_token_counts": summary.estimated_token_counts,
        "client": { "verdict": document.client.verdict, "reasons": document.client.reasons },
    })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::report::tests::{record, small};

    /// The keys that `sglang.benchmark.serving` 0.5 writes, in its order.
    const KEYS: &str = "tag backend dataset_name request_rate max_concurrency sharegpt_output_len random_input_len \
        random_output_len random_range_ratio server_info duration completed total_input_tokens total_input_text_tokens \
        total_input_vision_tokens total_output_tokens total_output_tokens_retokenized request_throughput \
        input_throughput output_throughput total_throughput \
        mean_e2e_latency_ms median_e2e_latency_ms std_e2e_latency_ms p90_e2e_latency_ms p95_e2e_latency_ms \
        p99_e2e_latency_ms mean_ttft_ms median_ttft_ms std_ttft_ms p90_ttft_ms p95_ttft_ms p99_ttft_ms \
        mean_tpot_ms median_tpot_ms std_tpot_ms p90_tpot_ms p95_tpot_ms p99_tpot_ms \
        mean_itl_ms median_itl_ms std_itl_ms p90_itl_ms p95_itl_ms p99_itl_ms \
        concurrency accept_length max_output_tokens_per_s max_concurrent_requests";
    const GOODPUT_KEYS: &str = "goodput_slos_ms request_goodput slo_attainment slo_attainment_by_metric";

    /// The outer keys of a line as they stand in it.
    fn keys(line: &str) -> Vec<String> {
        let values: serde_json::Map<String, Value> = serde_json::from_str(line).expect("a JSON object");
        let mut keys: Vec<(usize, String)> = values
            .keys()
            .map(|key| (line.find(&format!("\"{key}\":")).expect("it is there"), key.clone()))
            .collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key).collect()
    }

    fn value(line: &str) -> Value {
        serde_json::from_str(line).expect("JSON")
    }

    #[test]
    fn the_keys_are_sglangs_in_its_order_and_one_of_our_own() {
        let mut document = small();
        let wanted = |also: &str| format!("{KEYS} {also} {OWN_KEY}");
        let line = jsonl(&document);
        assert_eq!(keys(&line), wanted("").split_whitespace().collect::<Vec<_>>());
        document.config.slo.ttft_ms = Some(100.0);
        let line = jsonl(&document);
        assert_eq!(keys(&line), wanted(GOODPUT_KEYS).split_whitespace().collect::<Vec<_>>());
        assert_eq!(value(&line)["goodput_slos_ms"], json!({ "ttft": 100.0 }));
        assert!(line.ends_with("}\n") && line.trim_end().lines().count() == 1);
    }

    #[test]
    fn units_are_sglangs_seconds_for_the_run_and_ms_for_latencies() {
        let line = value(&jsonl(&small()));
        assert_eq!(line["duration"], 1.2345);
        assert_eq!(line["completed"], 1);
        assert!((line["mean_ttft_ms"].as_f64().unwrap() - 20.2).abs() < 1e-9);
        assert!((line["request_throughput"].as_f64().unwrap() - 1.0 / 1.2345).abs() < 1e-9);
        assert_eq!(
            (&line["total_input_tokens"], &line["total_output_tokens"]),
            (&json!(8), &json!(2))
        );
    }

    #[test]
    fn a_closed_loop_has_an_infinite_rate_as_text_and_an_open_one_a_number() {
        let mut document = small();
        let line = value(&jsonl(&document));
        assert_eq!(
            (&line["request_rate"], &line["max_concurrency"]),
            (&json!("inf"), &json!(6))
        );
        document.config.load.arrival = crate::config::load::Arrival::Poisson;
        let line = value(&jsonl(&document));
        assert_eq!(
            (&line["request_rate"], &line["max_concurrency"]),
            (&json!(5.0), &Value::Null)
        );
    }

    #[test]
    fn what_was_not_measured_is_null_and_never_0() {
        let line = value(&jsonl(&crate::report::tests::document(vec![record(
            0,
            Outcome::StreamError,
        )])));
        for key in ["mean_ttft_ms", "p99_itl_ms", "median_e2e_latency_ms", "accept_length"] {
            assert_eq!(line[key], Value::Null, "{key}");
        }
        assert_eq!((&line["completed"], &line[OWN_KEY]["failed"]), (&json!(0), &json!(1)));
        let mut uncounted = record(0, Outcome::Succeeded);
        uncounted.tokens.prompt = None;
        let line = value(&jsonl(&crate::report::tests::document(vec![
            uncounted,
            record(1, Outcome::Succeeded),
        ])));
        assert_eq!(line["total_input_tokens"], Value::Null);
        assert_eq!(line["input_throughput"], Value::Null);
        assert_eq!(line["total_output_tokens"], 4);
    }

    #[test]
    fn no_host_is_in_the_line() {
        let mut document = small();
        document.simulated = false;
        document.server.base_url = "http://secret-host:30000".to_owned();
        document.config.endpoint = crate::config::Endpoint::Http {
            base_url: "http://secret-host:30000".to_owned(),
        };
        document.slots.lanes = vec!["http://secret-host:30000".to_owned()];
        assert!(!jsonl(&document).contains("secret-host"));
    }
}
