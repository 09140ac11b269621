//! The JSON of `vllm bench serve --save-result`.

use serde_json::Value;

use super::{By, ImportError, Subject, json::Reader};

pub fn is_one(value: &Value) -> bool {
    value.get("completed").is_some() && (value.get("endpoint_type").is_some() || value.get("model_id").is_some())
}

pub fn read(name: &str, value: &Value) -> Result<Subject, ImportError> {
    let by = By::Vllm;
    let mut reader = Reader::new(name, by, value).ok_or(ImportError::Unknown)?;
    for key in ["duration", "completed"] {
        reader.number(key).ok_or(ImportError::Missing(by, key))?;
    }
    for (id, key) in [
        ("request_throughput", "request_throughput"),
        ("output_throughput", "output_throughput"),
        ("total_throughput", "total_token_throughput"),
        ("peak_output_throughput", "max_output_tokens_per_s"),
    ] {
        reader.figure((id, "", by), key);
    }
    for (id, theirs) in [
        ("ttft_ms", "ttft"),
        ("tpot_ms", "tpot"),
        ("itl_ms", "itl"),
        ("e2e_ms", "e2el"),
    ] {
        for stat in ["mean", "median", "p90", "p95", "p99"] {
            reader.figure((id, stat, by), &format!("{stat}_{theirs}_ms"));
        }
    }
    reader.fact("load", "request_rate");
    reader.fact("concurrency", "max_concurrency");
    reader.fact("requests", "num_prompts");
    let outcomes = match (reader.number("completed"), reader.number("failed")) {
        (Some(completed), Some(failed)) if completed >= 0.0 && failed >= 0.0 => Some((completed as u64, failed as u64)),
        _ => None,
    };
    let mut subject = reader.subject;
    subject.outcomes = outcomes;
    subject.model = value.get("model_id").and_then(Value::as_str).map(str::to_owned);
    subject.cautions.push(
        "vllm bench serve counts a stream that ends in an error event, or is cut short, as a success.".to_owned(),
    );
    Ok(subject)
}
