//! A lifecycle report of inference-perf, of a stage or of all: seconds throughout.

use serde_json::Value;

use super::{
    By, ImportError, Subject,
    json::{Names, Reader},
};

const NAMES: Names = [
    ("mean", "/mean"),
    ("median", "/median"),
    ("p90", "/p90"),
    ("p95", "/p95"),
    ("p99", "/p99"),
];

pub fn is_one(value: &Value) -> bool {
    value.get("load_summary").is_some() && value.get("successes").is_some()
}

pub fn read(name: &str, value: &Value) -> Result<Subject, ImportError> {
    let by = By::InferencePerf;
    let mut reader = Reader::new(name, by, value).ok_or(ImportError::Unknown)?;
    let count = |what: &str| value.pointer(&format!("/{what}/count")).and_then(Value::as_u64);
    let good = count("successes").ok_or(ImportError::Missing(by, "successes"))?;
    for (id, key) in [
        ("request_throughput", "requests_per_sec"),
        ("output_throughput", "output_tokens_per_sec"),
        ("input_throughput", "input_tokens_per_sec"),
        ("total_throughput", "total_tokens_per_sec"),
    ] {
        reader.single((id, "", by), value.pointer(&format!("/successes/throughput/{key}")));
    }
    for (id, key, whose) in [
        ("ttft_ms", "time_to_first_token", By::Streamgauge),
        ("tpot_ms", "time_per_output_token", By::Streamgauge),
        ("itl_ms", "inter_token_latency", by),
        ("e2e_ms", "request_latency", by),
    ] {
        let of = value.pointer(&format!("/successes/latency/{key}"));
        reader.statistics(id, whose, of, &NAMES, 1000.0, good);
    }
    reader.fact_of("load", value.pointer("/load_summary/requested_rate"));
    reader.fact_of("concurrency", value.pointer("/load_summary/concurrency"));
    let mut subject = reader.subject;
    subject.outcomes = count("failures").map(|failed| (good, failed));
    subject
        .cautions
        .push("inference-perf counts a stream that carries an error event, or is cut short, as a success.".to_owned());
    Ok(subject)
}
