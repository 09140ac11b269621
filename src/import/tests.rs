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

/// Reports that the tools wrote, cut to the keys that are read: SGLang on a CPU, and a server with failures.
const GUIDELLM: &str = include_str!("../../tests/other_tools/guidellm_0.8.1.json");
const GUIDELLM_FAILURES: &str = include_str!("../../tests/other_tools/guidellm_0.8.1_failures.json");
const AIPERF: &str = include_str!("../../tests/other_tools/aiperf_0.13.0.json");
const AIPERF_FAILURES: &str = include_str!("../../tests/other_tools/aiperf_0.13.0_failures.json");
const INFERENCE_PERF_STAGE: &str = include_str!("../../tests/other_tools/inference_perf_0.7.0_stage_0.json");
const INFERENCE_PERF_ALL: &str = include_str!("../../tests/other_tools/inference_perf_0.7.0_summary.json");

fn figure(subject: &Subject, id: &'static str, stat: &'static str, by: By) -> f64 {
    let value = subject.figures.get(&(id, stat, by));
    *value.unwrap_or_else(|| panic!("{id} {stat} {by:?} in {:?}", subject.figures))
}

#[test]
fn a_report_of_guidellm_is_a_run_per_benchmark() {
    let runs = read("report.json", GUIDELLM).unwrap();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1].name, "report.json, benchmark 2");
    assert!(runs[1].facts.contains(&("concurrency", "2".to_owned())));
    assert_eq!(runs[0].model.as_deref(), Some("tiny"));
    assert_eq!(figure(&runs[0], "ttft_ms", "median", By::Streamgauge), 18.9135);
    // Its latency is in seconds, and runs to the end of the body.
    let e2e = figure(&runs[0], "e2e_ms", "mean", By::Guidellm);
    assert!((60.0..90.0).contains(&e2e), "{e2e}");
    assert!(
        !runs[0].figures.keys().any(|key| key.1 == "p99"),
        "12 requests bear no p99"
    );
    let failed = one(GUIDELLM_FAILURES);
    assert_eq!(failed.outcomes, Some((18, 12)));
    assert!((figure(&failed, "request_throughput", "", By::Guidellm) - 15.6921).abs() < 1e-3);
}

#[test]
fn an_export_of_aiperf_keeps_what_is_defined_alike() {
    let run = one(AIPERF);
    assert_eq!((run.tool, run.outcomes), (By::Aiperf, Some((12, 0))));
    assert_eq!(figure(&run, "ttft_ms", "median", By::Streamgauge), 29.4457);
    assert_eq!(figure(&run, "e2e_ms", "mean", By::Streamgauge), 116.589);
    // What it calls inter-token latency is one average per request.
    assert_eq!(figure(&run, "tpot_ms", "mean", By::Streamgauge), 12.3001);
    assert_eq!(figure(&run, "itl_ms", "median", By::Aiperf), 8.55378);
    for fact in [
        ("concurrency", "2"),
        ("requests", "12"),
        ("input tokens", "32.0"),
        ("output tokens", "8.0"),
    ] {
        assert!(
            run.facts.contains(&(fact.0, fact.1.to_owned())),
            "{fact:?} in {:?}",
            run.facts
        );
    }
    let failed = one(AIPERF_FAILURES);
    assert_eq!(failed.outcomes, Some((20, 10)));
    let export: Value = serde_json::from_str(AIPERF).unwrap();
    let old = serde_json::json!({"records": export, "input_config": {"endpoint": {"model_names": ["m"]}}});
    let old = one(&old.to_string());
    assert_eq!(old.model.as_deref(), Some("m"));
    assert_eq!(figure(&old, "ttft_ms", "median", By::Streamgauge), 29.4457);
}

#[test]
fn a_report_of_inference_perf_is_in_seconds() {
    let stage = one(INFERENCE_PERF_STAGE);
    assert_eq!((stage.tool, stage.outcomes), (By::InferencePerf, Some((20, 0))));
    assert!(stage.facts.contains(&("load", "5.0".to_owned())), "{:?}", stage.facts);
    let all = one(INFERENCE_PERF_ALL);
    assert_eq!(figure(&all, "ttft_ms", "median", By::Streamgauge), 21.887);
    assert_eq!(figure(&all, "tpot_ms", "median", By::Streamgauge), 8.21191);
    assert_eq!(figure(&all, "output_throughput", "", By::InferencePerf), 160.241);
}

#[test]
fn a_broken_report_of_another_tool_says_what_is_missing() {
    for (text, key, tool) in [
        (GUIDELLM_FAILURES, "request_totals", By::Guidellm),
        (AIPERF, "request_count", By::Aiperf),
        (INFERENCE_PERF_ALL, "successes", By::InferencePerf),
    ] {
        let broken = text.replace(
            &format!("\"{key}\": {{"),
            &format!("\"{key}\": {{\"count\": \"many\", \"successful\": \"all\"}}, \"gone\": {{"),
        );
        assert_eq!(read("file", &broken).unwrap_err(), ImportError::Missing(tool, key));
        let cut = read("file", &text[..text.len() / 2]).unwrap_err();
        assert!(matches!(cut, ImportError::Ours(DocumentError::Cut { .. })), "{cut:?}");
    }
}
