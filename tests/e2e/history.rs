//! What the browser keeps of runs, and what is left of one whose page went away.

use serde_json::json;

use crate::harness::{Demo, Page};

async fn show_history(page: &Page) {
    page.view("History").await;
    page.wait_for("kept in it alone").await;
}

async fn is_there(page: &Page, css: &str) -> bool {
    page.client.find(fantoccini::Locator::Css(css)).await.is_ok()
}

#[tokio::test]
async fn a_result_is_kept_with_what_a_person_says_of_it_until_it_is_deleted() {
    let page = Page::open("n=20&c=4&out=6&sim_itl_ms=2&sim_ttft_ms=5&sim_faults=http_503=0.3").await;
    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    let measured = page.download_json().await;
    let failed = measured["summary"]["failed"].as_u64().expect("a count");

    // A page that is opened anew knows it.
    page.go("n=20").await;
    show_history(&page).await;
    let text = page.wait_for("1 result").await;
    assert!(text.contains(&format!("{failed} failed")), "{text}");
    page.press("Edit").await;
    page.fill("Name", "before the patch").await;
    page.fill("Tags, parted by commas", "fp8, nightly").await;
    page.fill("Note", "cold cache").await;
    page.press("Keep").await;
    page.wait_until("its new name", |text| {
        text.contains("before the patch") && text.contains("nightly") && text.contains("cold cache")
    })
    .await;
    page.press("Pin before the patch").await;
    page.wait_for("pinned").await;

    page.fill("Filter the kept runs", "fp8 patch").await;
    page.wait_for("before the patch").await;
    page.fill("Filter the kept runs", "bf16").await;
    page.wait_for("No kept run holds all of these words.").await;
    page.fill("Filter the kept runs", " ").await;

    page.press("Open before the patch").await;
    page.wait_for("Save JSON").await;
    assert_eq!(page.download_json().await, measured);

    show_history(&page).await;
    page.press("Delete before the patch").await;
    page.client.accept_alert().await.expect("it asks first");
    page.wait_for("No run is kept yet").await;
    assert_eq!(page.console_errors().await, [""; 0]);
    page.close().await;
}

#[tokio::test]
async fn ticked_results_are_compared_and_the_oldest_is_the_baseline() {
    let page = Page::open("n=20&c=4&out=6&sim_itl_ms=2&sim_ttft_ms=5").await;
    for seed in [1, 2] {
        page.go(&format!("n=20&c=4&out=6&sim_itl_ms=2&sim_ttft_ms=5&seed={seed}"))
            .await;
        page.press("Run 20").await;
        page.wait_for("Save JSON").await;
        show_history(&page).await;
        page.press("Edit").await;
        page.fill("Name", &format!("run {seed}")).await;
        page.press("Keep").await;
        page.wait_for(&format!("run {seed}")).await;
    }
    for name in ["run 1", "run 2"] {
        page.client
            .find(fantoccini::Locator::Css(&format!("[aria-label='To compare: {name}']")))
            .await
            .expect("a box to tick")
            .click()
            .await
            .expect("ticked");
    }
    page.press("Compare ticked (2)").await;
    page.wait_for("run 2 against run 1").await;
    page.close().await;
}

#[tokio::test]
async fn a_reload_in_mid_run_loses_nothing_that_was_measured() {
    let demo = Demo::start(&["--ttft-ms", "5", "--itl-ms", "5"]);
    let page = Page::open(&format!("url={}&n=2000&c=4&out=8", demo.url)).await;
    page.press("Run 2").await;
    page.wait_until("that some requests ended", |text| {
        text.split_once(" of 2,000 ended")
            .and_then(|(before, _)| before.rsplit([' ', '\n']).next()?.parse::<u32>().ok())
            .is_some_and(|ended| ended > 100)
    })
    .await;
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;

    page.go("n=20").await;
    page.wait_for("A run was interrupted").await;
    page.press("Show it").await;
    page.wait_for("Save JSON").await;
    let document = page.download_json().await;
    assert_eq!(document["ending"], "interrupted");
    let requests = document["requests"].as_array().expect("requests").len();
    let ended = demo.truth().await.len();
    assert!(requests > 100 && requests <= ended, "{requests} of {ended}");
    assert!(
        document["server"]["base_url"]
            .as_str()
            .expect("a URL")
            .contains("127.0.0.1")
    );

    // It is offered once, and stays in the list.
    page.go("n=20").await;
    show_history(&page).await;
    let text = page.wait_for("1 result").await;
    assert!(
        text.contains("interrupted") && !text.contains("A run was interrupted"),
        "{text}"
    );
    assert_eq!(page.console_errors().await, [""; 0]);
    page.close().await;
}

#[tokio::test]
async fn a_run_that_goes_on_in_another_tab_is_not_taken_for_a_lost_one() {
    let page = Page::open("n=4000&c=2&out=8&sim_itl_ms=5&sim_ttft_ms=5").await;
    page.press("Run 4").await;
    page.wait_for("of 4,000 ended").await;
    let first = page.client.window().await.expect("a tab");
    let other = page.client.new_window(true).await.expect("another tab");
    page.client.switch_to_window(other.handle).await.expect("there");
    page.go("n=20").await;
    tokio::time::sleep(std::time::Duration::from_millis(2_500)).await;
    let text = page.text().await;
    assert!(!text.contains("A run was interrupted"), "{text}");
    page.client.close_window().await.expect("closed");
    page.client.switch_to_window(first).await.expect("back");
    page.press("Stop").await;
    page.wait_for("Save JSON").await;
    show_history(&page).await;
    page.wait_for("stopped").await;
    page.close().await;
}

#[tokio::test]
async fn a_result_is_not_kept_where_that_is_not_wanted() {
    let page = Page::open("n=10&c=4&out=6&sim_itl_ms=2&sim_ttft_ms=5").await;
    show_history(&page).await;
    page.tick("Keep runs in this browser").await;
    page.view("Run").await;
    page.press("Run 10").await;
    page.wait_for("Save JSON").await;
    page.go("n=10").await;
    show_history(&page).await;
    page.wait_for("No run is kept yet").await;
    assert!(
        !is_there(&page, ".kept-settings input:checked").await,
        "the choice is kept"
    );
    page.close().await;
}

#[tokio::test]
async fn a_browser_that_keeps_nothing_is_told_of_and_the_result_is_shown() {
    let page = Page::open("n=10").await;
    let source =
        "Object.defineProperty(window, 'indexedDB', {get() { throw new DOMException('denied', 'SecurityError'); }});";
    page.cdp("Page.addScriptToEvaluateOnNewDocument", json!({"source": source}))
        .await;
    page.go("n=10&c=4&out=6&sim_itl_ms=2&sim_ttft_ms=5").await;
    page.press("Run 10").await;
    page.wait_for("Save JSON").await;
    page.wait_for("This result was not kept in History").await;
    assert_eq!(page.download_json().await["summary"]["succeeded"], 10);
    show_history(&page).await;
    page.wait_for("Nothing can be kept now").await;
    page.close().await;
}

#[tokio::test]
async fn a_full_storage_is_told_of_and_the_result_is_shown() {
    let page = Page::open("n=40&c=8&out=40&sim_itl_ms=2&sim_ttft_ms=5").await;
    let quota = json!({"origin": page.url.trim_end_matches('/'), "quotaSize": 2_000});
    page.cdp("Storage.overrideQuotaForOrigin", quota).await;
    page.press("Run 40").await;
    page.wait_for("Save JSON").await;
    let text = page.wait_for("This result was not kept in History").await;
    assert!(text.contains("is full"), "{text}");
    assert_eq!(page.download_json().await["summary"]["succeeded"], 40);
    page.close().await;
}
