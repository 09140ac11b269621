//! What goes out of the browser: nothing private without a tick, and each form as its readers want it.

use serde_json::Value;

use crate::harness::{Demo, Page};

#[tokio::test]
async fn names_of_the_server_go_out_by_tick_alone() {
    let demo = Demo::start(&["--faults", "http_503=0.3", "--seed", "4"]);
    let page = Page::open(&format!("url={}&n=20&c=4&out=6", demo.url)).await;
    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    page.press("Share").await;
    let text = page.wait_for("What may go out").await;
    assert!(text.contains("Names and addresses of the server"), "{text}");
    assert!(text.contains("API keys: they are in no result"), "{text}");

    let without = page.download("Save .json", "json").await;
    assert!(!without.contains("127.0.0.1"), "{without}");
    page.tick("Names and addresses of the server").await;
    let with = page.download("Save .json", "json").await;
    assert!(with.contains("127.0.0.1"), "{with}");
    let (without, with): (Value, Value) = (
        serde_json::from_str(&without).expect("JSON"),
        serde_json::from_str(&with).expect("JSON"),
    );
    assert_eq!(without["summary"], with["summary"]);
    assert_eq!(without["requests"].as_array().expect("requests").len(), 20);
    page.close().await;
}

#[tokio::test]
async fn the_line_and_the_rows_are_of_the_run() {
    let page = Page::open("n=12&c=4&out=6&sim_itl_ms=2&sim_ttft_ms=5&sim_faults=http_503=0.3").await;
    page.press("Run 12").await;
    page.wait_for("Save JSON").await;
    let document = page.download_json().await;
    let succeeded = document["summary"]["succeeded"].as_u64().expect("a count");
    page.press("Share").await;
    let line = page.download("Save .jsonl", "jsonl").await;
    let line: Value = serde_json::from_str(&line).expect("one line of JSON");
    assert_eq!(line["completed"].as_u64(), Some(succeeded));
    let rows = page.download("Save .csv", "csv").await;
    let measured = rows.lines().filter(|row| row.split(',').nth(1) == Some("false"));
    assert_eq!(measured.count(), 12, "{rows}");
    page.close().await;
}
