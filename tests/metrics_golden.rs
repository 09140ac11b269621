//! The figures of a run, equal to those NumPy computes from the same records (metrics_golden.py wrote the fixture).
#![cfg(not(target_arch = "wasm32"))]

use serde_json::Value;
use streamgauge::{metrics::summarize, request::RequestRecord};

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

#[test]
fn the_figures_are_those_of_numpy() {
    let golden: Value = serde_json::from_str(include_str!("metrics_golden.json")).unwrap();
    let mut names = Vec::new();
    for case in golden["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let requests: Vec<RequestRecord> = serde_json::from_value(case["requests"].clone()).unwrap();
        let summary = summarize(&requests, case["duration_ms"].as_f64().unwrap());
        let compared = compare(name, &serde_json::to_value(&summary).unwrap(), &case["summary"]);
        assert!(compared > 60, "{name}: only {compared} figures were compared");
        names.push(name);
    }
    assert_eq!(names, ["mixed", "one success", "all failed", "empty"]);
}
