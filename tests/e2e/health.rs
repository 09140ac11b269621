//! A client that is overloaded on purpose says so by itself, while the run goes on and in its result.

use serde_json::Value;

use crate::harness::{Demo, Page};

/// A run that lasts a few seconds, told of on the page and in the document.
async fn verdict_of(page: &Page, overload: &str) -> Value {
    page.press("Run ").await;
    if !overload.is_empty() {
        page.client
            .execute(overload, vec![])
            .await
            .expect("the page takes orders");
        page.wait_for("client: suspect").await;
    }
    page.wait_for("Save JSON").await;
    page.download_json().await["client"].take()
}

fn reasons(client: &Value) -> String {
    client["reasons"].to_string()
}

#[tokio::test]
async fn a_busy_page_turns_the_verdict() {
    let page = Page::open("n=60&c=4&warmup=0&out=64").await;
    let busy = "setInterval(() => { const start = performance.now(); while (performance.now() - start < 250); }, 300);";
    let client = verdict_of(&page, busy).await;
    assert_ne!(client["verdict"], "trustworthy");
    assert!(reasons(&client).contains("The page was too busy"), "{client}");
    assert!(page.text().await.contains("The page was too busy"));
    page.close().await;
}

#[tokio::test]
async fn a_hidden_tab_turns_the_verdict() {
    let page = Page::open("n=60&c=4&warmup=0&out=64").await;
    page.press("Run ").await;
    let first = page.client.window().await.expect("a window");
    let other = page.client.new_window(true).await.expect("another tab");
    page.client
        .switch_to_window(other.handle)
        .await
        .expect("it is in front");
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    page.client.close_window().await.expect("closed");
    page.client.switch_to_window(first).await.expect("back");
    page.wait_for("Save JSON").await;
    let client = page.download_json().await["client"].take();
    // A machine that is busy besides makes it worse, never better.
    assert_ne!(client["verdict"], "trustworthy", "{client}");
    assert!(reasons(&client).contains("The tab was hidden"), "{client}");
    page.close().await;
}

#[tokio::test]
async fn more_than_the_browser_can_send_turns_the_verdict() {
    let demo = Demo::start(&["--ttft-ms", "20", "--itl-ms", "3", "--batch-limit", "64"]);
    let page = Page::open(&format!("url={}&n=30&c=12&warmup=0&out=16&lanes=single", demo.url)).await;
    let text = page
        .wait_for("12 at a time were asked for, but 6 can be on the wire")
        .await;
    assert!(text.contains("Lanes"), "{text}");
    let client = verdict_of(&page, "").await;
    assert_eq!(client["verdict"], "client_limited", "{client}");
    assert_eq!((&client["slots_asked"], &client["slots_had"]), (&12.into(), &6.into()));
    let waited_ms = client["queue_p99_ms"].as_f64().expect("requests waited");
    assert!(waited_ms > 0.0);
    // The demo endpoint says that a burst costs it nothing, so the browser's limit was tried and not assumed.
    assert_eq!(client["streams_seen"], 6, "{client}");
    page.close().await;
}

#[tokio::test]
async fn a_browser_is_calibrated_against_the_demo_endpoint_and_the_figures_stay() {
    let demo = Demo::start(&["--ttft-ms", "20", "--itl-ms", "3"]);
    let page = Page::open(&format!("url={}&n=4&c=2&warmup=0&out=8", demo.url)).await;
    page.press("Run ").await;
    page.wait_for("Save JSON").await;
    page.press("Calibrate this browser").await;
    page.wait_for(&format!("against the demo endpoint's record at {}", demo.url))
        .await;
    let kept = page
        .client
        .execute("return localStorage.getItem('streamgauge.calibration')", vec![])
        .await
        .expect("an answer");
    let kept: Value = serde_json::from_str(kept.as_str().expect("it is kept")).expect("JSON");
    let levels = kept["levels"].as_array().expect("levels");
    let streams: Vec<_> = levels.iter().take(4).map(|level| level["streams"].as_u64()).collect();
    assert_eq!(streams, [Some(1), Some(6), Some(32), Some(100)]);
    for level in &levels[..4] {
        // Every frame of every stream was found in the server's record, and none can be read before it was sent.
        assert_eq!(
            level["frames"].as_u64(),
            level["streams"].as_u64().map(|streams| streams * 75),
            "{level}"
        );
        assert!(level["frame_p50_ms"].as_f64().expect("an error") > -0.5, "{level}");
    }
    page.client.refresh().await.expect("loaded anew");
    page.client
        .execute("location.hash = '#calibrate'", vec![])
        .await
        .expect("the view of its own");
    page.wait_for("What this browser adds").await;
    page.wait_for("against the demo endpoint's record").await;
    page.close().await;
}
