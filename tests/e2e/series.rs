//! Several runs, one after the other, and what they come to.

use crate::harness::{Demo, Page};

const FAST: &str = "out=6&warmup=0&sim_itl_ms=2&sim_ttft_ms=5&pause_s=0";

#[tokio::test]
async fn a_sweep_keeps_every_run_and_each_opens() {
    let page = Page::open(&format!(
        "n=24&{FAST}&series=sweep&loads=1,2,4&slo_ttft_ms=500&sim_faults=http_503=0.3"
    ))
    .await;
    page.press("Run 3 loads").await;
    page.wait_for("Throughput against latency").await;
    let series = page.download_json().await;
    let runs = series["points"].as_array().expect("runs");
    let at: Vec<u64> = runs
        .iter()
        .filter_map(|run| run["config"]["concurrency"].as_u64())
        .collect();
    assert_eq!(at, [1, 2, 4]);
    let text = page.text().await.replace('\u{202f}', " ");
    assert!(
        text.contains("4 at a time") && text.contains("kept objectives"),
        "{text}"
    );

    page.press("Open run 2").await;
    page.wait_for("Back to all runs").await;
    let one = page.download_json().await;
    assert_eq!(one["summary"], runs[1]["summary"]);
    page.press("Back to all runs").await;
    page.wait_for("Throughput against latency").await;

    // As one file it is read without a script, and brings all of it back.
    page.press("Share").await;
    let report = page.download("Save .html", "html").await;
    assert!(
        report.contains("Sweep") && report.matches("<svg").count() == 4,
        "{report}"
    );
    page.go("n=1").await;
    page.drop_file("sweep.html", &report).await;
    page.wait_for("Throughput against latency").await;

    // The file brings all of it back.
    page.go("n=1").await;
    page.drop_file("series.json", &series.to_string()).await;
    page.wait_for("Throughput against latency").await;
    assert_eq!(page.download_json().await, series);
    assert_eq!(page.console_errors().await, [""; 0]);
    page.close().await;
}

#[tokio::test]
async fn a_search_says_the_highest_load_that_keeps_the_objectives() {
    // No answer is this fast: nothing keeps the objective, and one run is enough to know.
    let page = Page::open(&format!("n=12&{FAST}&series=search&loads=1..8&slo_ttft_ms=0.01")).await;
    page.press("Search for").await;
    page.wait_for("At no load did enough requests keep the objectives (1 run)")
        .await;
    // And any is as fast as this: it goes up to the last load.
    page.go(&format!("n=12&{FAST}&series=search&loads=1..8&slo_ttft_ms=60000"))
        .await;
    page.press("Search for").await;
    let text = page.wait_for("Throughput against latency").await;
    let line = text
        .lines()
        .find(|line| line.contains("(4 runs)"))
        .unwrap_or_else(|| panic!("{text}"));
    // The unit stands behind a space that does not break.
    assert_eq!(
        line.replace('\u{202f}', " "),
        "The highest load at which 90.0 % of the requests kept the objectives: 8 at a time (4 runs)."
    );
    page.close().await;
}

#[tokio::test]
async fn two_endpoints_in_turn_are_told_apart() {
    let fast = Demo::start(&["--ttft-ms", "5", "--itl-ms", "2"]);
    let slow = Demo::start(&["--ttft-ms", "80", "--itl-ms", "2"]);
    let page = Page::open(&format!(
        "url={}&other={}&n=8&c=4&out=6&warmup=0&series=abba&rounds=2&pause_s=0",
        fast.url, slow.url
    ))
    .await;
    page.press("Run 8 times").await;
    let text = page.wait_for("B less A, pair by pair").await;
    let ttft = text
        .lines()
        .find(|line| line.contains("TTFT") && line.contains("difference"));
    assert!(ttft.is_some(), "{text}");
    for demo in [&fast, &slow] {
        assert_eq!(demo.truth().await.len(), 4 * 8);
    }
    page.close().await;
}

#[tokio::test]
async fn the_sweep_preset_is_a_press_away() {
    let page = Page::open("").await;
    let preset = fantoccini::Locator::LinkText("Saturation sweep");
    let link = page.client.find(preset).await.expect("the preset");
    link.click().await.expect("pressed");
    assert_eq!(page.value("Loads").await, "1, 2, 4, 8, 16, 32, 64");
    page.close().await;
}
