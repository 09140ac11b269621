//! `profile_export_aiperf.json` of AIPerf: an object per metric, with its unit.

use serde_json::Value;

use super::{
    By, ImportError, Subject,
    json::{Names, Reader},
};

const NAMES: Names = [
    ("mean", "/avg"),
    ("median", "/p50"),
    ("p90", "/p90"),
    ("p95", "/p95"),
    ("p99", "/p99"),
];

/// Old releases keep the metrics one level deeper.
fn metrics(value: &Value) -> &Value {
    value.get("records").filter(|it| it.is_object()).unwrap_or(value)
}

pub fn is_one(value: &Value) -> bool {
    let metrics = metrics(value);
    metrics.pointer("/request_latency/unit").is_some() || value.get("aiperf_version").is_some()
}

pub fn read(name: &str, value: &Value) -> Result<Subject, ImportError> {
    let by = By::Aiperf;
    let mut reader = Reader::new(name, by, value).ok_or(ImportError::Unknown)?;
    let metrics = metrics(value);
    let average = |metric: &str| metrics.get(metric).and_then(|it| it.get("avg"));
    let count = |metric: &str| average(metric).and_then(Value::as_f64).map(|n| n.max(0.0) as u64);
    let good = count("request_count").ok_or(ImportError::Missing(by, "request_count"))?;
    for (id, metric) in [
        ("request_throughput", "request_throughput"),
        ("output_throughput", "output_token_throughput"),
        ("input_throughput", "input_token_throughput"),
        ("total_throughput", "total_token_throughput"),
        ("mean_concurrency", "effective_concurrency"),
    ] {
        reader.single((id, "", by), average(metric));
    }
    // Defined as in the glossary, but for the gaps. What it calls inter-token latency is one average per request.
    for (id, metric, whose) in [
        ("ttft_ms", "time_to_first_token", By::Streamgauge),
        ("ttfo_ms", "time_to_first_output_token", By::Streamgauge),
        ("tpot_ms", "inter_token_latency", By::Streamgauge),
        ("e2e_ms", "request_latency", By::Streamgauge),
        ("itl_ms", "inter_chunk_latency", by),
    ] {
        let of = metrics.get(metric);
        let scale = match of.and_then(|of| of.get("unit")).and_then(Value::as_str) {
            Some("sec" | "s") => 1000.0,
            _ => 1.0,
        };
        let n = of
            .and_then(|of| of.get("count"))
            .and_then(Value::as_u64)
            .unwrap_or(good);
        reader.statistics(id, whose, of, &NAMES, scale, n);
    }
    let config = value.get("input_config");
    let told = |path: &str| config.and_then(|config| config.pointer(path));
    // The phase that is measured comes after those that are not.
    let phase = told("/phases")
        .and_then(Value::as_array)
        .and_then(|phases| phases.last());
    let load = |key: &str| {
        phase
            .and_then(|phase| phase.get(key))
            .or_else(|| told(&format!("/loadgen/{key}")))
    };
    reader.fact_of("load", load("rate").or_else(|| load("request_rate")));
    reader.fact_of("concurrency", load("concurrency"));
    reader.fact_of("requests", load("requests").or_else(|| load("request_count")));
    reader.fact_of(
        "input tokens",
        told("/datasets/0/prompts/isl/mean").or_else(|| told("/input/prompt/input_tokens/mean")),
    );
    reader.fact_of(
        "output tokens",
        told("/datasets/0/prompts/osl/mean").or_else(|| told("/input/prompt/output_tokens/mean")),
    );
    let model = told("/models/items/0/name").or_else(|| told("/endpoint/model_names/0"));
    let own_tokens = told("/endpoint/use_server_token_count").and_then(Value::as_bool) == Some(false);
    let mut subject = reader.subject;
    subject.model = model.and_then(Value::as_str).map(str::to_owned);
    subject.outcomes = Some((good, count("error_request_count").unwrap_or(0)));
    if own_tokens {
        subject
            .cautions
            .push("AIPerf counted the tokens with a tokenizer of its own.".to_owned());
    }
    if value.get("was_cancelled").and_then(Value::as_bool) == Some(true) {
        subject.cautions.push("It was cancelled before its end.".to_owned());
    }
    subject.cautions.push(
        "AIPerf may count a stream with an error event in it as a success, if a finish_reason or [DONE] came too."
            .to_owned(),
    );
    Ok(subject)
}
