//! The JSON report of GuideLLM: a file of benchmarks, each with metrics of successes, failures and all.

use serde_json::Value;

use super::{
    By, ImportError, Subject,
    json::{Names, Reader},
};

const NAMES: Names = [
    ("mean", "/mean"),
    ("median", "/median"),
    ("p90", "/percentiles/p90"),
    ("p95", "/percentiles/p95"),
    ("p99", "/percentiles/p99"),
];

/// The benchmarks of a report, if it is one.
pub fn benchmarks(value: &Value) -> Option<&Vec<Value>> {
    let all = value.get("benchmarks")?.as_array()?;
    all.iter()
        .all(|one| one.pointer("/metrics/requests_per_second").is_some())
        .then_some(all)
}

pub fn read(name: &str, value: &Value) -> Result<Subject, ImportError> {
    let by = By::Guidellm;
    let mut reader = Reader::new(name, by, value).ok_or(ImportError::Unknown)?;
    let of = |metric: &str, which: &str| value.pointer(&format!("/metrics/{metric}/{which}"));
    let count = |which: &str| of("request_totals", which).and_then(Value::as_u64);
    let good = count("successful").ok_or(ImportError::Missing(by, "request_totals"))?;
    for (id, metric, which) in [
        ("request_throughput", "requests_per_second", "successful"),
        ("output_throughput", "output_tokens_per_second", "successful"),
        ("total_throughput", "tokens_per_second", "successful"),
        ("mean_concurrency", "request_concurrency", "total"),
    ] {
        let mean = of(metric, which).and_then(|it| it.get("mean"));
        reader.single((id, "", by), mean);
    }
    // Its ITL is what the glossary calls TPOT; its TPOT, which counts the first token's wait too, is none of the glossary's.
    for (id, metric, whose, scale) in [
        ("ttft_ms", "time_to_first_token_ms", By::Streamgauge, 1.0),
        ("ttfo_ms", "time_to_first_output_token_ms", By::Streamgauge, 1.0),
        ("tpot_ms", "inter_token_latency_ms", by, 1.0),
        ("e2e_ms", "request_latency", by, 1000.0),
    ] {
        let successes = of(metric, "successful");
        // It weighs some by tokens, whose number says nothing of the sample's size.
        reader.statistics(id, whose, successes, &NAMES, scale, good);
    }
    let strategy = |key: &str| value.pointer(&format!("/config/strategy/{key}"));
    reader.fact_of("load", strategy("type_"));
    reader.fact_of("rate", strategy("rate"));
    reader.fact_of("concurrency", strategy("streams"));
    let model = value
        .pointer("/config/backend/model")
        .or_else(|| value.pointer("/benchmarker/backend/model"));
    let mut subject = reader.subject;
    subject.model = model.and_then(Value::as_str).map(str::to_owned);
    subject.outcomes = Some((good, count("errored").unwrap_or(0)));
    if count("incomplete").is_some_and(|n| n > 0) {
        subject
            .cautions
            .push("Requests in flight at its end are in none of its figures.".to_owned());
    }
    subject
        .cautions
        .push("GuideLLM counts a stream that is cut short as a success.".to_owned());
    Ok(subject)
}
