//! Charts under the pointer: figures are read, parts chosen, runs opened.

use serde_json::{Value, json};

use crate::harness::Page;

/// Where a share of a chart's picture is on the screen, once it is scrolled into view.
async fn place(page: &Page, section: &str, nth: usize, x: f64, y: f64) -> (f64, f64) {
    let script = "const area = document.querySelectorAll(arguments[0] + ' .chart-area')[arguments[1]]; \
                  area.scrollIntoView({block: 'center'}); \
                  const box = area.getBoundingClientRect(); \
                  return [box.left + box.width * arguments[2], box.top + box.height * arguments[3]]";
    let found = page
        .client
        .execute(script, vec![json!(section), json!(nth), json!(x), json!(y)])
        .await
        .expect("a chart");
    let at = |i: usize| found[i].as_f64().expect("a place");
    (at(0), at(1))
}

async fn mouse(page: &Page, kind: &str, (x, y): (f64, f64), pressed: bool, clicks: u32) {
    page.cdp(
        "Input.dispatchMouseEvent",
        json!({"type": kind, "x": x, "y": y, "button": if pressed { "left" } else { "none" }, "buttons": u32::from(pressed), "clickCount": clicks}),
    )
    .await;
}

async fn drag(page: &Page, section: &str, nth: usize, from: f64, to: f64) {
    let (start, end) = (
        place(page, section, nth, from, 0.4).await,
        place(page, section, nth, to, 0.4).await,
    );
    mouse(page, "mouseMoved", start, false, 0).await;
    mouse(page, "mousePressed", start, true, 1).await;
    mouse(page, "mouseMoved", ((start.0 + end.0) / 2.0, start.1), true, 0).await;
    mouse(page, "mouseMoved", end, true, 0).await;
    mouse(page, "mouseReleased", end, true, 1).await;
}

async fn click(page: &Page, at: (f64, f64)) {
    mouse(page, "mouseMoved", at, false, 0).await;
    mouse(page, "mousePressed", at, true, 1).await;
    mouse(page, "mouseReleased", at, true, 1).await;
}

/// What stands beside the pointer.
async fn read(page: &Page) -> String {
    let found = page
        .client
        .execute(
            "return document.querySelector('.read-figures')?.textContent ?? ''",
            vec![],
        )
        .await
        .expect("a script runs");
    found.as_str().expect("text").to_owned()
}

#[tokio::test]
async fn a_chart_is_read_under_the_pointer_and_a_drag_chooses_a_part_of_everything() {
    let page = Page::open("n=60&c=4&out=20&sim_itl_ms=6&sim_ttft_ms=10&sim_faults=http_503=0.2").await;
    page.press("Run 60").await;
    page.wait_for("Save JSON").await;
    let whole: Value = page.download_json().await;
    let at = place(&page, "#over-time", 0, 0.5, 0.4).await;
    mouse(&page, "mouseMoved", at, false, 0).await;
    let figures = read(&page).await;
    assert!(figures.contains("in flight") && figures.contains("output"), "{figures}");

    drag(&page, "#over-time", 0, 0.4, 0.8).await;
    let text = page.wait_for("ended in this part").await;
    let ended = |text: &str| {
        let line = text
            .lines()
            .find(|line| line.contains("ended in this part"))
            .expect("a line");
        line.split_whitespace()
            .next()
            .and_then(|n| n.parse::<u64>().ok())
            .expect("a count")
    };
    let part = ended(&text);
    assert!(0 < part && part < 60, "{part} of 60");
    // All sections are of the part: outcomes over time, prompts, and the table of requests.
    assert!(text.contains(&format!("{part} requests ended")), "{text}");
    assert!(text.contains(&format!("All {part}")), "{text}");
    // A second drag goes on from there: the axis is that of the part.
    drag(&page, "#over-time", 1, 0.3, 0.7).await;
    let closer = ended(&page.wait_until("fewer requests", |text| ended(text) < part).await);
    assert!(closer < part);

    let middle = place(&page, "#over-time", 0, 0.5, 0.4).await;
    click(&page, middle).await;
    mouse(&page, "mousePressed", middle, true, 2).await;
    mouse(&page, "mouseReleased", middle, true, 2).await;
    let text = page.wait_for("The figures are of the whole run").await;
    assert!(text.contains("60 sent"), "{text}");
    assert_eq!(
        page.download_json().await,
        whole,
        "what was looked at changes no result"
    );
    assert_eq!(page.console_errors().await, [""; 0]);
    page.close().await;
}

#[tokio::test]
async fn a_latency_s_axis_is_logarithmic_or_a_range_if_asked() {
    let page = Page::open("n=80&c=8&out=10&sim_itl_ms=3&sim_ttft_ms=10").await;
    page.press("Run 80").await;
    page.wait_for("Save JSON").await;
    let legend = || async {
        let found = page
            .client
            .execute(
                "return document.querySelector('#spread .chart-picture').textContent",
                vec![],
            )
            .await
            .expect("a script runs");
        found.as_str().expect("text").to_owned()
    };
    page.tick("Log scale").await;
    assert!(legend().await.contains("TTFT, ms, log scale"), "{}", legend().await);
    drag(&page, "#spread", 0, 0.5, 0.7).await;
    page.wait_for("the percentiles stay those of all values").await;
    assert!(legend().await.contains("not shown"), "{}", legend().await);
    page.press("All values").await;
    page.wait_for("Drag over a chart to see a range of it closer").await;
    assert!(!legend().await.contains("before the axis"), "{}", legend().await);
    page.close().await;
}

#[tokio::test]
async fn a_dot_of_a_sweep_opens_its_run() {
    let page = Page::open("n=12&out=6&warmup=0&sim_itl_ms=2&sim_ttft_ms=5&pause_s=0&series=sweep&loads=1,4").await;
    page.press("Run 2 loads").await;
    page.wait_for("Throughput against latency").await;
    let series = page.download_json().await;
    // The shares stand evenly: the last load is at the right.
    let at = place(&page, "#sweep", 3, 0.8, 0.5).await;
    mouse(&page, "mouseMoved", at, false, 0).await;
    assert!(read(&page).await.contains("load"), "{}", read(&page).await);
    click(&page, at).await;
    page.wait_for("Back to all runs").await;
    assert_eq!(page.download_json().await["summary"], series["points"][1]["summary"]);
    page.close().await;
}
