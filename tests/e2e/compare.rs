//! Runs beside each other: several files dropped at once, a line of another tool, a broken one.

use crate::harness::Page;

async fn result(page: &Page, query: &str) -> String {
    page.go(query).await;
    page.press("Run 120").await;
    page.wait_for("Save JSON").await;
    page.download_json().await.to_string()
}

#[tokio::test]
async fn a_slower_run_is_told_beside_the_faster_one() {
    let load = "n=120&c=8&out=12&sim_jitter=0.1";
    let page = Page::open(load).await;
    let fast = result(&page, &format!("{load}&sim_itl_ms=2&sim_ttft_ms=10")).await;
    let slow = result(&page, &format!("{load}&sim_itl_ms=8&sim_ttft_ms=60")).await;
    page.drop_files(&[("fast.json", &fast), ("slow.json", &slow)]).await;
    let text = page.wait_for("slow.json against fast.json").await;
    assert!(text.to_lowercase().contains("regressed at a threshold of 5"), "{text}");
    assert!(text.contains("TTFT, median") && text.contains("▼ worse"), "{text}");
    assert!(text.contains("It was simulated"), "{text}");
    page.press("Make baseline: slow.json").await;
    let text = page.wait_for("fast.json against slow.json").await;
    assert!(text.to_lowercase().contains("improved at a threshold of 5"), "{text}");

    let line = r#"{"backend": "sglang", "dataset_name": "random", "request_rate": Infinity, "duration": 10.5, "completed": 100,
        "output_throughput": 609.5, "median_ttft_ms": 78.0, "accept_length": NaN}"#
        .replace('\n', " ");
    page.drop_file("bench.jsonl", &line).await;
    let text = page.wait_for("bench.jsonl against slow.json").await;
    assert!(text.contains("TTFT, median (as sglang.benchmark.serving)"), "{text}");
    page.drop_file("broken.jsonl", &line[..80]).await;
    page.wait_for("broken.jsonl: Line 1 is no JSON").await;
    page.press("Remove bench.jsonl").await;
    page.wait_until("without the removed run", |text| !text.contains("bench.jsonl against"))
        .await;
    page.close().await;
}

#[tokio::test]
async fn a_result_on_the_page_and_a_foreign_file_come_to_the_comparison() {
    let page = Page::open("n=20&c=5&out=8&sim_itl_ms=2&sim_ttft_ms=5").await;
    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    let vllm = r#"{"model_id": "m", "duration": 10.0, "completed": 97, "failed": 3, "output_throughput": 620.0, "median_ttft_ms": 59.0}"#;
    page.drop_file("vllm.json", vllm).await;
    page.wait_for("vllm bench serve").await;
    page.press("Add the last result").await;
    let text = page.wait_for("against vllm.json").await;
    assert!(text.to_lowercase().contains("not comparable"), "{text}");
    assert!(text.contains("Figures by other definitions, not compared"), "{text}");
    page.close().await;
}

#[tokio::test]
async fn reports_of_other_tools_are_compared_with_each_other_and_with_a_run() {
    let page = Page::open("n=20&c=5&out=8&sim_itl_ms=2&sim_ttft_ms=5").await;
    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    page.drop_files(&[
        ("guidellm.json", include_str!("../other_tools/guidellm_0.8.1.json")),
        ("aiperf.json", include_str!("../other_tools/aiperf_0.13.0.json")),
        (
            "stage.json",
            include_str!("../other_tools/inference_perf_0.7.0_stage_0.json"),
        ),
    ])
    .await;
    page.wait_for("guidellm.json, benchmark 2").await;
    page.press("Add the last result").await;
    let text = page
        .wait_until("all five", |text| {
            ["benchmark 1", "aiperf.json", "stage.json", "simulated, "]
                .iter()
                .all(|name| text.contains(name))
        })
        .await;
    assert!(text.contains("Figures by other definitions, not compared"), "{text}");
    assert!(text.contains("Two tools made them"), "{text}");
    assert_eq!(page.console_errors().await, [""; 0]);
    page.close().await;
}
