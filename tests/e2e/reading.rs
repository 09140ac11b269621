//! How a person finds the way from a figure to what is behind it, and that nothing is lost on it.

use std::time::Duration;

use serde_json::Value;

use crate::harness::{Demo, Page};

const FAULTY: &str = "n=20&c=5&out=8&sim_itl_ms=3&sim_ttft_ms=10&sim_faults=http_503=0.3,error_mid=0.3";

async fn run_faulty(page: &Page) -> Value {
    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    page.download_json().await
}

async fn script(page: &Page, script: &str) -> Value {
    page.client.execute(script, vec![]).await.expect("a value")
}

#[tokio::test]
async fn a_link_to_a_request_opens_it_once_the_result_is_there() {
    let page = Page::open(FAULTY).await;
    let saved = run_faulty(&page).await;
    let requests = saved["requests"].as_array().expect("requests");
    let failed = requests.iter().find(|request| request["failure"].is_object());
    let index = failed.expect("a failure among 20 with faults in most")["index"]
        .as_u64()
        .expect("an index");
    page.go(&format!("n=9#request-{index}")).await;
    page.wait_for(&format!("This link points at request #{index} of a result"))
        .await;
    page.drop_file("result.json", &saved.to_string()).await;
    let text = page.wait_for(&format!("Request #{index}\n")).await;
    assert!(
        text.contains("Counted as failed") && text.contains("Bytes as they came"),
        "{text}"
    );
    page.close().await;
}

#[tokio::test]
async fn a_finding_follows_the_model_and_goes_with_its_server() {
    let demo = Demo::start(&["--model", "org/tiny"]);
    let page = Page::open(&format!("url={}&model=org/huge", demo.url)).await;
    page.press("Check").await;
    page.wait_for("does not list the model").await;
    page.fill("Model", "org/tiny").await;
    page.wait_for("has the model org/tiny, with a context of").await;
    page.fill("Base URL", "http://127.0.0.1:9").await;
    page.wait_until("no finding", |text| !text.contains("org/tiny")).await;
    page.close().await;
}

#[tokio::test]
async fn an_outcome_leads_to_its_requests() {
    let page = Page::open(FAULTY).await;
    let saved = run_faulty(&page).await;
    let refused = crate::harness::outcomes(&saved)["http_error"];
    page.press(&format!("{refused} HTTP error")).await;
    page.wait_for(&format!("{refused} of 20: HTTP error")).await;
    assert_eq!(script(&page, "return document.activeElement.id").await, "requests");
    let rows = script(&page, "return document.querySelectorAll('#requests tbody tr').length").await;
    assert_eq!(rows, refused);
    page.close().await;
}

#[tokio::test]
async fn while_a_run_goes_on_its_chart_counts_what_its_bar_counts() {
    let page = Page::open("n=400&c=5&warmup=60&out=8&sim_itl_ms=3&sim_ttft_ms=10").await;
    let number_before = |text: &str, words: &str| -> Option<u32> {
        let (before, _) = text.split_once(words)?;
        before.rsplit(char::is_whitespace).next()?.parse().ok()
    };
    page.press("Run 400").await;
    page.wait_until("the same count twice, late enough", |text| {
        let bar = number_before(text, " of 400 ended");
        bar.is_some_and(|bar| bar > 50) && bar == number_before(text, " requests ended: ")
    })
    .await;
    page.close().await;
}

#[tokio::test]
async fn what_was_not_measured_says_why() {
    let page = Page::open("n=5&c=5&out=4&stream=0&sim_ttft_ms=10").await;
    page.press("Run 5").await;
    let text = page.wait_for("n/a: the answers were not streamed").await;
    assert!(!text.contains("NaN"), "{text}");
    page.close().await;
}

#[tokio::test]
async fn the_field_that_holds_up_run_is_one_press_away_though_folded_in() {
    let page = Page::open("").await;
    script(&page, "document.querySelector('details.advanced').open = true").await;
    page.fill("Pause between reads", "-1").await;
    page.wait_for("Go to the field").await;
    script(&page, "document.querySelector('details.advanced').open = false").await;
    page.press("Go to the field").await;
    assert_eq!(script(&page, "return document.activeElement.value").await, "-1");
    page.close().await;
}

#[tokio::test]
async fn a_capture_dropped_onto_explain_is_explained() {
    let page = Page::open("").await;
    let explain = fantoccini::Locator::LinkText("Explain");
    let link = page.client.find(explain).await.expect("the view's link");
    link.click().await.expect("pressed");
    page.wait_for("Captured response").await;
    page.drop_file(
        "capture.txt",
        "data: {\"error\":{\"message\":\"The request queue is full.\",\"code\":503}}\n\n",
    )
    .await;
    page.wait_for("Counted as failed").await;
    page.close().await;
}

#[tokio::test]
async fn a_result_that_is_not_saved_does_not_give_way_unasked() {
    let page = Page::open(FAULTY).await;
    let other = run_faulty(&page).await;
    let demo = Demo::start(&["--model", "org/tiny", "--ttft-ms", "5", "--itl-ms", "2"]);
    page.go(&format!("url={}&n=3&c=3&out=4", demo.url)).await;
    // What History keeps is not lost; what it does not keep is.
    page.view("History").await;
    page.wait_for("kept in it alone").await;
    page.tick("Keep runs in this browser").await;
    page.view("Run").await;
    page.press("Run 3").await;
    page.wait_for("Save JSON").await;
    page.drop_file("other.json", &other.to_string()).await;
    // The file is read first; then the browser asks.
    let mut asked = page.client.get_alert_text().await;
    for _ in 0..100 {
        if asked.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        asked = page.client.get_alert_text().await;
    }
    let asked = asked.expect("a question");
    assert!(asked.contains("not saved") && asked.contains("other.json"), "{asked}");
    page.client.dismiss_alert().await.expect("answered no");
    let text = page.text().await;
    assert!(text.contains("org/tiny") && text.contains("3 sent"), "{text}");
    page.close().await;
}
