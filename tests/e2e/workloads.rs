//! Prompts from files, and conversations.

use serde_json::Value;

use crate::harness::{Demo, Page, outcomes};

const QUICK: [&str; 4] = ["--ttft-ms", "10", "--itl-ms", "2"];

#[tokio::test]
async fn a_dropped_file_of_prompts_is_previewed_and_asked() {
    let demo = Demo::start(&QUICK);
    let page = Page::open(&format!("url={}&api=completions&n=4&c=2&warmup=0&out=5", demo.url)).await;
    page.drop_file(
        "prompts.jsonl",
        "{\"prompt\": \"one two three\", \"output_tokens\": 7}\n{\"prompt\": 5}\n{\"prompt\": \"one two three four\"}\n",
    )
    .await;
    let text = page.wait_for("2 items of prompts with their answers' lengths").await;
    assert!(text.contains("Line 2: \"prompt\" is no text."), "{text}");
    page.press("Run 4").await;
    let text = page.wait_for("Save JSON").await;
    assert!(text.contains("The file has 2 items for 4 requests"), "{text}");
    let truth = demo.truth().await;
    let mut asked: Vec<(u64, u64)> = truth
        .iter()
        .map(|request| {
            (
                request["prompt_tokens"].as_u64().unwrap(),
                request["tokens_planned"].as_u64().unwrap(),
            )
        })
        .collect();
    asked.sort_unstable();
    assert_eq!(asked, [(3, 7), (3, 7), (4, 5), (4, 5)]);
    assert_eq!(page.console_errors().await, Vec::<String>::new());
    page.close().await;
}

#[tokio::test]
async fn a_link_says_which_file_to_pick() {
    let page = Page::open("workload=file&file=mine.jsonl&file_bytes=12&file_sum=0123456789abcdef").await;
    page.wait_for("Pick mine.jsonl again (12 bytes, checksum 0123456789abcdef)")
        .await;
    page.press("Run").await;
    page.wait_for("a link or a saved result names a file of prompts but cannot carry it")
        .await;
    page.close().await;
}

#[tokio::test]
async fn a_conversation_carries_the_servers_answers_on() {
    let demo = Demo::start(&QUICK);
    let page = Page::open(&format!("url={}&n=2&c=2&warmup=0&in=20&out=6&turns=3", demo.url)).await;
    page.press("Run 2").await;
    page.wait_for("Save JSON").await;
    let document = page.download_json().await;
    assert_eq!(outcomes(&document).get("succeeded"), Some(&6));
    for conversation in document["requests"].as_array().unwrap().chunks(3) {
        let prompts: Vec<u64> = conversation
            .iter()
            .map(|r| r["tokens"]["prompt"].as_u64().unwrap())
            .collect();
        // 20 words, and from turn to turn an answer and 20 more.
        assert_eq!(prompts[0], 20);
        assert!(prompts[1] > 40 && prompts[2] > prompts[1] + 20, "{prompts:?}");
        let turns: Vec<&Value> = conversation.iter().map(|r| &r["asked"]["turn"]).collect();
        assert_eq!(turns, [0, 1, 2]);
    }
    page.close().await;
}
