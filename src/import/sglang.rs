//! A line of `sglang.benchmark.serving`. Old releases lack some keys (TPOT, P90), and write infinite rates as `Infinity`.

use serde_json::Value;

use super::{By, ImportError, Subject, json::Reader};
use crate::request::Outcome;

pub fn is_one(value: &Value) -> bool {
    value.get("backend").is_some() && value.get("completed").is_some()
}

pub fn read(name: &str, value: &Value) -> Result<Subject, ImportError> {
    let by = By::Sglang;
    let mut reader = Reader::new(name, by, value).ok_or(ImportError::Unknown)?;
    for key in ["duration", "completed"] {
        reader.number(key).ok_or(ImportError::Missing(by, key))?;
    }
    for (id, key) in [
        ("request_throughput", "request_throughput"),
        ("output_throughput", "output_throughput"),
        ("input_throughput", "input_throughput"),
        ("total_throughput", "total_throughput"),
        ("mean_concurrency", "concurrency"),
    ] {
        reader.figure((id, "", by), key);
    }
    for (id, theirs) in [
        ("ttft_ms", "ttft"),
        ("tpot_ms", "tpot"),
        ("itl_ms", "itl"),
        ("e2e_ms", "e2e_latency"),
    ] {
        for stat in ["mean", "median", "p90", "p95", "p99"] {
            // An old release prints no TPOT but writes 0 for an empty sample: no latency is 0.
            let key = format!("{stat}_{theirs}_ms");
            if reader.number(&key).is_some_and(|value| value > 0.0) {
                reader.figure((id, stat, by), &key);
            }
        }
    }
    reader.fact("load", "request_rate");
    reader.fact("concurrency", "max_concurrency");
    reader.fact("dataset", "dataset_name");
    reader.fact("input tokens", "random_input_len");
    reader.fact("output tokens", "random_output_len");
    let mut subject = reader.subject;
    if let Some(own) = value.get(crate::report::OWN_KEY) {
        subject.model = own.get("model").and_then(Value::as_str).map(str::to_owned);
        subject.outcomes = own.get("outcomes").and_then(Value::as_object).map(|outcomes| {
            let count = |outcome: Outcome| outcomes.get(outcome.name()).and_then(Value::as_u64).unwrap_or(0);
            let failed = Outcome::ALL.into_iter().filter(|outcome| outcome.is_failure());
            (count(Outcome::Succeeded), failed.map(count).sum())
        });
    } else {
        subject.cautions.push(
            "sglang.benchmark.serving does not tell how many requests failed, and counts those that failed inside a 200 stream as successes."
                .to_owned(),
        );
    }
    Ok(subject)
}
