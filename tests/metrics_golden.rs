//! The figures of a run, equal to those NumPy computes from the same records (metrics_golden.py wrote the fixture).
#![cfg(not(target_arch = "wasm32"))]

use serde_json::Value;
use streamgauge::{
    config::{Api, RunConfig, slo::Slo},
    metrics::{adjusted, goodput, sglang, steady_window, summarize, summarize_window},
    request::RequestRecord,
};

const RELATIVE: f64 = 1e-9;

/// Compares figure by figure; returns how many were compared.
fn compare(path: &str, ours: &Value, theirs: &Value) -> usize {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let keys = |map: &serde_json::Map<String, Value>| {
                let mut keys: Vec<String> = map.keys().cloned().collect();
                keys.sort();
                keys
            };
            assert_eq!(keys(ours), keys(theirs), "{path}");
            ours.iter()
                .map(|(key, value)| compare(&format!("{path}/{key}"), value, &theirs[key]))
                .sum()
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= RELATIVE * b.abs(), "{path}: {a} is not {b}");
            1
        }
        (Value::Null, Value::Null) => 1,
        _ => panic!("{path}: {ours} is not {theirs}"),
    }
}

fn json(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

#[test]
fn the_figures_are_those_of_numpy() {
    let golden: Value = serde_json::from_str(include_str!("metrics_golden.json")).unwrap();
    let slo: Slo = serde_json::from_value(golden["slo"].clone()).unwrap();
    let mut names = Vec::new();
    for case in golden["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let requests: Vec<RequestRecord> = serde_json::from_value(case["requests"].clone()).unwrap();
        let duration_ms = case["duration_ms"].as_f64().unwrap();
        let summary = summarize(&requests, duration_ms);
        let mut compared = compare(name, &json(&summary), &case["summary"]);

        let good = goodput(&requests, &slo, duration_ms).expect("there are objectives");
        compared += compare(&format!("{name}/goodput"), &json(&good), &case["goodput"]);

        let (ttft, e2e) = adjusted(&requests);
        for (which, readings) in [("ttft", ttft), ("e2e", e2e)] {
            for p in [50.0, 90.0, 99.0] {
                let theirs = &case["adjusted"][which][format!("p{p}")];
                compared += compare(&format!("{name}/{which}/p{p}"), &json(&readings.percentile(p)), theirs);
            }
        }

        for (api, which) in [(Api::Chat, "chat"), (Api::Generate, "generate")] {
            let config = RunConfig {
                api,
                slo,
                ..RunConfig::default()
            };
            let figures = sglang::figures(&requests, &config, duration_ms);
            compared += compare(
                &format!("{name}/sglang/{which}"),
                &json(&figures),
                &case["sglang"][which],
            );
        }

        let window = steady_window(&requests, 0.8);
        let ours = window.map(|w| (w.from_ms, w.to_ms));
        let theirs = case["window"]["from_ms"].as_f64().zip(case["window"]["to_ms"].as_f64());
        assert_eq!(ours, theirs, "{name}");
        if let Some(window) = window {
            let summary = summarize_window(&requests, &window);
            compared += compare(&format!("{name}/window"), &json(&summary), &case["window"]["summary"]);
        }
        assert!(compared > 150, "{name}: only {compared} figures were compared");
        names.push(name);
    }
    assert_eq!(names, ["mixed", "one success", "all failed", "empty"]);
}
