//! A result passed on as a link: it opens on any copy of the page, and a bad one says what is wrong with it.

use fantoccini::Locator;

use crate::harness::Page;

/// The link that the dialogue's button copies; asked of the page where the clipboard is closed to tests.
async fn copied_link(page: &Page, name: &str) -> String {
    let script = "navigator.clipboard.writeText = async text => { window.copiedText = text; }";
    page.client.execute(script, vec![]).await.expect("replaced");
    page.press(&format!("Copy {name}")).await;
    page.wait_for(&format!("{name} copied")).await;
    let link = page
        .client
        .execute("return window.copiedText", vec![])
        .await
        .expect("a value");
    link.as_str().expect("a link").to_owned()
}

async fn open(page: &Page, url: &str) {
    page.client.goto("about:blank").await.expect("left");
    page.client.goto(url).await.expect("opened");
}

#[tokio::test]
async fn a_result_opens_from_its_link_with_the_same_figures() {
    let page = Page::open("n=40&c=8&out=8&sim_itl_ms=2&sim_ttft_ms=5&sim_faults=http_503=0.3").await;
    page.press("Run 40").await;
    page.wait_for("Save JSON").await;
    let document = page.download_json().await;
    page.press("Share").await;
    page.wait_for("letters. It leaves out").await;
    let chat = copied_link(&page, "Link for a chat").await;
    let full = copied_link(&page, "Full link").await;
    assert!(chat.len() <= 2000 && full.len() <= 30_000 && chat.len() < full.len());

    open(&page, &chat).await;
    let text = page.wait_for("From a link").await;
    let failed = document["summary"]["failed"].as_u64().expect("a count");
    assert!(
        text.contains("40 sent") && text.contains(&format!("{failed} HTTP error")),
        "{text}"
    );
    assert!(text.contains("The request queue is full"), "{text}");
    assert!(text.contains("each of the 40 requests by itself"), "{text}");
    assert!(!text.contains("#39"), "{text}");
    let charts = page
        .client
        .find_all(Locator::Css(".chart-picture svg"))
        .await
        .expect("a query");
    assert!(charts.len() >= 4, "{}", charts.len());

    open(&page, &full).await;
    page.wait_for("#39").await;
    page.press("Use this configuration").await;
    page.wait_for("Run 40").await;
    assert!(page.console_errors().await.is_empty());
    page.close().await;
}

#[tokio::test]
async fn a_cut_link_and_a_strange_one_say_so_and_leave_the_form() {
    let page = Page::open("n=5").await;
    for (fragment, words) in [
        ("#r=AQAEXwAAAAAAAAAAAAAA", "This link was cut on its way"),
        ("#r=AQAAAwAAAAAAAAAA", "This link is damaged"),
        ("#r=CQAAAAAAAAA", "newer copy of the page"),
        ("#r=", "There is no result in this link"),
    ] {
        open(&page, &format!("{}?n=5{fragment}", page.url)).await;
        page.wait_for(words).await;
        page.wait_for("Run 5").await;
    }
    page.close().await;
}
