//! The HTML report: read without JavaScript and without a network, and opened again on the page.

use fantoccini::Locator;
use serde_json::json;

use crate::harness::Page;

#[tokio::test]
async fn a_report_is_read_without_javascript_and_opens_on_the_page() {
    let page = Page::open("n=30&c=6&out=8&sim_itl_ms=2&sim_ttft_ms=5&sim_faults=http_503=0.3").await;
    page.press("Run 30").await;
    page.wait_for("Save JSON").await;
    let before = page.download_json().await;
    page.press("Share").await;
    page.wait_for("What may go out").await;
    let report = page.download("Save .html", "html").await;
    page.tick("Each request by itself").await;
    let short = page.download("Save .html", "html").await;
    assert!(short.len() < report.len());

    let path = std::env::temp_dir().join(format!("streamgauge-report-{}.html", std::process::id()));
    std::fs::write(&path, &report).expect("written");
    page.cdp("Emulation.setScriptExecutionDisabled", json!({"value": true}))
        .await;
    page.cdp("Network.enable", json!({})).await;
    page.cdp(
        "Network.emulateNetworkConditions",
        json!({"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}),
    )
    .await;
    page.client
        .goto(&format!("file://{}", path.display()))
        .await
        .expect("opened");
    let text = page.wait_for("Client and configuration").await;
    let failed = before["summary"]["failed"].as_u64().expect("a count");
    assert!(
        text.contains("Simulated server") && text.contains(&format!("{failed} HTTP error")),
        "{text}"
    );
    let charts = page.client.find_all(Locator::Css("figure svg")).await.expect("a query");
    assert_eq!(charts.len(), 13);
    for chart in charts {
        let (_, _, width, height) = chart.rectangle().await.expect("a place");
        assert!(width > 300.0 && height > 50.0, "{width} × {height}");
    }
    std::fs::remove_file(&path).expect("removed");

    page.cdp("Emulation.setScriptExecutionDisabled", json!({"value": false}))
        .await;
    page.cdp(
        "Network.emulateNetworkConditions",
        json!({"offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}),
    )
    .await;
    page.go("n=1").await;
    page.drop_file("report.html", &report).await;
    page.wait_for("Save JSON").await;
    let after = page.download_json().await;
    assert_eq!(after["summary"], before["summary"]);
    page.go("n=1").await;
    page.drop_file("short.html", &short).await;
    page.wait_for("From a link").await;
    page.go("n=1").await;
    page.drop_file("broken.html", &short.replace("#r=AQ", "#r=AQAA")).await;
    page.wait_for("the result in it is damaged").await;
    page.close().await;
}

#[tokio::test]
async fn a_chart_is_saved_as_svg_and_as_png() {
    let page = Page::open("n=20&c=5&out=8&sim_itl_ms=2&sim_ttft_ms=5").await;
    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    let svg = page.download("SVG of Output tokens over time", "svg").await;
    assert!(svg.starts_with("<svg width=") && !svg.contains("var(--"), "{svg}");
    let png = page.download_bytes("PNG of Output tokens over time", "png").await;
    assert!(png.starts_with(b"\x89PNG"));
    let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert!(size(16) > 800 && size(20) > 400, "{} × {}", size(16), size(20));
    page.close().await;
}
