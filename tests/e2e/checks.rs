//! *Check connection*: what is wrong, in plain words.

use crate::harness::{Demo, Page};

async fn checked(page: &Page, words: &str) -> String {
    page.press("Check").await;
    page.wait_for(words).await
}

#[tokio::test]
async fn a_server_that_works_is_told_with_its_model() {
    let demo = Demo::start(&["--model", "org/tiny"]);
    let page = Page::open(&format!("url={}", demo.url)).await;
    let text = checked(&page, "org/tiny").await;
    assert!(text.contains("sglang") || text.contains("SGLang"), "{text}");
    page.close().await;
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_unreachable() {
    let page = Page::open("url=http://127.0.0.1:9").await;
    checked(&page, "Nothing answers").await;
    page.close().await;
}

#[tokio::test]
async fn a_server_without_cors_is_told_from_one_that_is_away() {
    let demo = Demo::start(&["--cors", "off"]);
    let page = Page::open(&format!("url={}", demo.url)).await;
    let text = checked(&page, "CORS").await;
    assert!(!text.contains("Nothing answers"), "{text}");
    page.close().await;
}

#[tokio::test]
async fn a_wrong_key_is_named_as_the_likely_cause_though_the_401_cannot_be_read() {
    let demo = Demo::start(&["--api-key", "right"]);
    let page = Page::open(&format!("url={}", demo.url)).await;
    page.fill("API key", "wrong").await;
    checked(&page, "key").await;
    page.wait_until("likely the key", |text| {
        text.to_lowercase().contains("likely") && text.contains("401")
    })
    .await;
    page.fill("API key", "right").await;
    checked(&page, "works").await;
    let url = page.client.current_url().await.expect("a URL");
    assert!(!url.as_str().contains("right"), "the key is never in the URL: {url}");
    page.close().await;
}

#[tokio::test]
async fn a_server_of_another_kind_is_not_taken_for_an_endpoint() {
    let page = Page::open("").await;
    let own = page.url.trim_end_matches('/').to_owned();
    page.go(&format!("url={own}")).await;
    checked(&page, "OpenAI-compatible").await;
    page.close().await;
}

#[tokio::test]
async fn a_model_that_the_server_does_not_list_is_told() {
    let demo = Demo::start(&["--model", "org/tiny"]);
    let page = Page::open(&format!("url={}&model=org/huge", demo.url)).await;
    let text = checked(&page, "org/huge").await;
    assert!(text.contains("org/tiny"), "{text}");
    page.close().await;
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_told_beside_its_field() {
    let page = Page::open("url=http://127.0.0.1:30000").await;
    page.fill("API key", "日本").await;
    page.wait_for("plain Latin letters").await;
    page.close().await;
}

#[tokio::test]
async fn a_key_kept_for_one_server_is_not_offered_to_another() {
    let page = Page::open("url=http://127.0.0.1:30000").await;
    page.fill("API key", "k3pt").await;
    page.tick("Keep the key").await;
    page.go("url=http://127.0.0.1:30000/v1").await;
    assert_eq!(page.value("API key").await, "k3pt");
    page.go("url=http://127.0.0.1:30001").await;
    assert_eq!(page.value("API key").await, "");
    page.close().await;
}
