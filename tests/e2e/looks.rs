//! The form, its link, and how the page behaves at the edges.

use crate::harness::Page;

#[tokio::test]
async fn a_link_reproduces_the_form() {
    let page = Page::open("url=http://127.0.0.1:30000&n=77&c=5&out=9&model=m").await;
    assert_eq!(page.value("Base URL").await, "http://127.0.0.1:30000");
    assert_eq!(page.value("Requests").await, "77");
    page.fill("Requests", "78").await;
    let url = page.client.current_url().await.expect("a URL");
    assert!(url.query().is_some_and(|query| query.contains("n=78")), "{url}");
    page.close().await;
}

#[tokio::test]
async fn what_a_link_gets_wrong_is_said_and_a_key_in_it_is_not_used() {
    let page = Page::open("n=ten&key=s3cret").await;
    let text = page.wait_for("should be a whole number").await;
    assert!(text.contains("keys do not belong in links"), "{text}");
    assert!(!text.contains("s3cret"));
    page.close().await;
}

#[tokio::test]
async fn a_wrong_field_is_told_beside_it_and_run_waits() {
    let page = Page::open("url=http://127.0.0.1:30000").await;
    page.fill("Requests", "0").await;
    page.wait_for("Enter a whole number from 1").await;
    page.close().await;
}

#[tokio::test]
async fn the_page_is_isolated_for_the_finer_clock() {
    let page = Page::open("").await;
    let isolated = page
        .client
        .execute("return crossOriginIsolated", vec![])
        .await
        .expect("a value");
    assert_eq!(isolated, true);
    page.close().await;
}

#[tokio::test]
async fn at_390_px_the_page_does_not_scroll_sideways() {
    let page = Page::open("n=10&c=5&out=8&sim_itl_ms=3&sim_ttft_ms=10").await;
    page.client.set_window_size(500, 900).await.expect("resized");
    page.emulate_width(390).await;
    let overflow = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(page.client.execute(overflow, vec![]).await.expect("a value"), 0);
    page.press("Run 10").await;
    page.wait_for("Save JSON").await;
    assert_eq!(page.client.execute(overflow, vec![]).await.expect("a value"), 0);
    page.close().await;
}

#[tokio::test]
async fn a_captured_response_is_explained_event_by_event() {
    let page = Page::open("").await;
    page.client
        .find(fantoccini::Locator::LinkText("Explain"))
        .await
        .expect("the view's link")
        .click()
        .await
        .expect("pressed");
    page.press("Show an example").await;
    let text = page.wait_for("Counted as failed").await;
    assert!(
        text.contains("The server answered 200 but sent an error event after 1 token: The request queue is full (503)"),
        "{text}"
    );
    assert!(text.contains("answer text") && text.contains("end of stream"), "{text}");
    page.fill("Captured response", "{\"detail\":\"nothing of the kind\"}")
        .await;
    page.wait_for("is no event stream").await;
    page.close().await;
}
