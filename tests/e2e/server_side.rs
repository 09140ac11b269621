//! What is asked of the server, and done to it, besides the requests that are measured.

use serde_json::Value;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use crate::harness::{Demo, Page, get_json};

const KEY: &str = "sk-hunter2hunter2";

/// Starts a long answer that the page knows nothing of; it lasts as long as the socket.
async fn long_answer(demo: &Demo) -> TcpStream {
    let host = demo.url.trim_start_matches("http://");
    let body = r#"{"model":"m","stream":true,"max_tokens":4000,"ignore_eos":true,"messages":[{"role":"user","content":"hi"}]}"#;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut socket = TcpStream::connect(host).await.expect("the server listens");
    socket.write_all((head + body).as_bytes()).await.expect("sent");
    socket
}

#[tokio::test]
async fn the_servers_settings_are_shown_and_kept_by_tick_without_its_key() {
    let demo = Demo::start(&["--ttft-ms", "5", "--itl-ms", "2", "--api-key", KEY]);
    let page = Page::open(&format!("url={}&n=20&c=4&out=6&warmup=1", demo.url)).await;
    page.fill("API key", KEY).await;
    page.press("Check").await;
    let text = page.wait_for("It is idle now").await;
    assert!(text.contains("streamgauge demo") && !text.contains("hunter2"), "{text}");

    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    let plain = page.download_json().await;
    assert_eq!(plain["server"].get("details"), None);
    assert_eq!(get_json(&format!("{}/demo/flushed", demo.url)).await, 0);

    page.go(&format!(
        "url={}&n=20&c=4&out=6&warmup=1&flush_cache=1&keep_details=1",
        demo.url
    ))
    .await;
    page.fill("API key", KEY).await;
    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    assert_eq!(get_json(&format!("{}/demo/flushed", demo.url)).await, 1);
    let kept = page.download_json().await;
    let version = &kept["server"]["details"]["server_info"]["version"];
    assert!(
        version.as_str().is_some_and(|it| it.starts_with("streamgauge demo")),
        "{version}"
    );
    assert!(!kept.to_string().contains("hunter2"));
    assert!(page.text().await.contains("Its settings before the run"));
    assert_eq!(page.console_errors().await, [""; 0]);
    page.close().await;
}

#[tokio::test]
async fn a_cache_that_is_not_flushed_ends_the_run_and_says_what_to_do() {
    let demo = Demo::start(&["--ttft-ms", "5", "--itl-ms", "20"]);
    let _busy = long_answer(&demo).await;
    let page = Page::open(&format!("url={}&n=20&c=4&out=6&warmup=0&flush_cache=1", demo.url)).await;
    page.press("Run 20").await;
    let text = page.wait_for("did not flush its cache, because it was not idle").await;
    assert!(!text.contains("Save JSON"), "{text}");
    page.close().await;
}

#[tokio::test]
async fn the_servers_load_is_drawn_and_its_end_is_waited_for() {
    let demo = Demo::start(&["--ttft-ms", "5", "--itl-ms", "20"]);
    let page = Page::open(&format!("url={}&n=400&c=4&out=40&warmup=0", demo.url)).await;
    page.press("Run 400").await;
    page.wait_for("Load that the server told of").await;
    page.wait_for("requests ran at a time").await;
    let busy = long_answer(&demo).await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    page.press("Stop").await;
    page.wait_for("Waiting until the server is idle: ").await;
    page.press("Do not wait").await;
    page.wait_for("Save JSON").await;
    let stopped = page.download_json().await;
    assert_eq!(stopped["ending"], "stopped_by_user");
    let samples = stopped["server_load"].as_array().expect("samples");
    let most = samples.iter().filter_map(|sample| sample["running"].as_u64()).max();
    assert!(most.is_some_and(|most| (4..=5).contains(&most)), "{samples:?}");
    assert!(page.text().await.contains("Load that the server told of"));
    drop(busy);

    // Where it is not wanted, nothing is asked.
    page.go(&format!("url={}&n=20&c=4&out=6&warmup=0&watch=0", demo.url))
        .await;
    page.press("Run 20").await;
    page.wait_for("Save JSON").await;
    let unwatched = page.download_json().await;
    assert!(
        unwatched["server_load"].as_array().is_none_or(Vec::<Value>::is_empty),
        "{unwatched}"
    );
    page.close().await;
}
