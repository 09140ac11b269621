//! Each format is told by looking, its figures keep their meaning, and what is broken says how.

use super::*;
use crate::report::tests::{document, record, small};
use crate::{report, request::Outcome};

/// A line in the keys that the client writes today (values made up).
const SGLANG: &str = r#"{"tag": null, "backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 16, "random_input_len": 128, "random_output_len": 64, "server_info": null, "duration": 10.5, "completed": 100, "total_input_tokens": 12800, "total_output_tokens": 6400, "request_throughput": 9.52, "input_throughput": 1219.0, "output_throughput": 609.5, "total_throughput": 1828.5, "mean_e2e_latency_ms": 1500.0, "median_e2e_latency_ms": 1490.0, "p90_e2e_latency_ms": 1600.0, "p99_e2e_latency_ms": 1700.0, "mean_ttft_ms": 80.0, "median_ttft_ms": 78.0, "p99_ttft_ms": 120.0, "mean_tpot_ms": 22.0, "median_tpot_ms": 21.5, "mean_itl_ms": 22.0, "median_itl_ms": 21.0, "concurrency": 14.3, "accept_length": NaN}"#;

/// As an old release wrote it: no percentiles but a few, rate as a word.
const OLD_SGLANG: &str = r#"{"backend": "sglang", "dataset_name": "sharegpt", "request_rate": "inf", "duration": 10.5, "completed": 100, "request_throughput": 9.5, "output_throughput": 600.0, "mean_e2e_latency_ms": 1500.0, "median_e2e_latency_ms": 1490.0, "mean_ttft_ms": 80.0, "median_ttft_ms": 78.0, "p99_ttft_ms": 120.0, "mean_tpot_ms": 0.0}"#;

const VLLM: &str = r#"{"date": "20261205-101010", "endpoint_type": "openai-chat", "model_id": "m", "num_prompts": 100, "request_rate": "inf", "max_concurrency": 16, "duration": 10.0, "completed": 97, "failed": 3, "total_input_tokens": 1, "total_output_tokens": 2, "request_throughput": 9.7, "output_throughput": 620.0, "total_token_throughput": 1900.0, "mean_ttft_ms": 60.0, "median_ttft_ms": 59.0, "p99_ttft_ms": 90.0, "median_tpot_ms": 20.0, "median_itl_ms": 20.0, "median_e2el_ms": 1400.0, "errors": ["it says NaN and \"Infinity\""]}"#;

fn one(text: &str) -> Subject {
    let mut subjects = read("file", text).unwrap();
    assert_eq!(subjects.len(), 1);
    subjects.remove(0)
}

#[test]
fn a_line_of_sglang_keeps_its_definitions() {
    let subject = one(SGLANG);
    assert_eq!(subject.tool, By::Sglang);
    assert_eq!(subject.figures[&("ttft_ms", "median", By::Sglang)], 78.0);
    assert_eq!(subject.figures[&("output_throughput", "", By::Sglang)], 609.5);
    assert!(subject.facts.contains(&("concurrency", "16".to_owned())));
    assert!(subject.cautions[0].contains("does not tell how many requests failed"));
    assert!(!subject.figures.keys().any(|key| key.2 == By::Streamgauge));
}

#[test]
fn an_old_line_lacks_what_it_lacks() {
    let subject = one(OLD_SGLANG);
    assert!(
        !subject.figures.contains_key(&("tpot_ms", "mean", By::Sglang)),
        "0 is no latency"
    );
    assert!(!subject.figures.contains_key(&("ttft_ms", "p90", By::Sglang)));
    assert_eq!(subject.figures[&("e2e_ms", "mean", By::Sglang)], 1500.0);
}

#[test]
fn several_lines_are_several_runs() {
    let text = format!("{SGLANG}\n\n{OLD_SGLANG}\n");
    let names: Vec<String> = read("sweep.jsonl", &text)
        .unwrap()
        .into_iter()
        .map(|s| s.name)
        .collect();
    assert_eq!(names, ["sweep.jsonl, line 1", "sweep.jsonl, line 2"]);
}

#[test]
fn a_result_of_vllm_tells_its_failures() {
    let subject = one(VLLM);
    assert_eq!((subject.tool, subject.outcomes), (By::Vllm, Some((97, 3))));
    assert_eq!(subject.figures[&("e2e_ms", "median", By::Vllm)], 1400.0);
    assert_eq!(subject.model.as_deref(), Some("m"));
}

#[test]
fn our_own_come_as_document_as_report_as_line_and_as_link() {
    let result = document((0..20).map(|i| record(i, Outcome::Succeeded)).collect());
    let direct = one(&result.to_json());
    let keep = report::Keep::default();
    assert_eq!(one(&report::html(&result, &keep, true)).figures, direct.figures);
    let sketched = one(&report::html(&result, &keep, false));
    assert!(
        sketched
            .cautions
            .iter()
            .any(|words| words.contains("within a few per cent"))
    );
    let link = link::chat_link(&result, &keep, "http://x/").url;
    assert_eq!(from_link("link", &link).unwrap().outcomes, Some((20, 0)));
    let line = one(&report::jsonl(&result));
    let key = ("ttft_ms", "median", By::Sglang);
    assert!((line.figures[&key] - direct.figures[&key]).abs() < 1e-9);
    assert_eq!(line.outcomes, Some((20, 0)), "our own line tells what became of all");
}

#[test]
fn what_is_broken_says_how() {
    let fails = |text: &str| read("file", text).unwrap_err();
    assert_eq!(fails(""), ImportError::Unknown);
    assert_eq!(fails("hello"), ImportError::Unknown);
    assert_eq!(fails("{}"), ImportError::Unknown);
    assert_eq!(fails("[1, 2]"), ImportError::Unknown);
    assert!(matches!(fails(&SGLANG[..200]), ImportError::Line(1, _)));
    assert!(matches!(
        fails(&format!("{SGLANG}\n{}", &SGLANG[..300])),
        ImportError::Line(2, _)
    ));
    let no_duration = SGLANG.replace("\"duration\": 10.5,", "");
    assert_eq!(fails(&no_duration), ImportError::Missing(By::Sglang, "duration"));
    assert!(fails(&no_duration).to_string().contains("sglang.benchmark.serving"));
    let wrong_type = VLLM.replace("\"duration\": 10.0", "\"duration\": \"long\"");
    assert_eq!(fails(&wrong_type), ImportError::Missing(By::Vllm, "duration"));
    let ours = small().to_json();
    assert!(matches!(fails(&ours[..ours.len() / 2]), ImportError::Ours(_)));
}

#[test]
fn words_in_strings_are_not_numbers() {
    let lines = json::lines(r#"{"a": NaN, "b": "NaN \" Infinity", "c": [-Infinity, 1]}"#).unwrap();
    assert_eq!(
        lines[0],
        serde_json::json!({"a": null, "b": "NaN \" Infinity", "c": [null, 1]})
    );
}
