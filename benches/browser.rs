//! What the engine adds to what the browser itself costs, in headless Chromium: events per second beside a bare reader
//! loop in JavaScript and beside one that decodes and parses; the error of frame times with and without the live page
//! drawing; memory and the wait for the result as runs grow. `script/bench` runs it; it prints tables and asserts nothing.

#[path = "common/errors.rs"]
mod errors;
#[path = "common/flood.rs"]
mod flood;
#[path = "../tests/e2e/harness.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod harness;

use std::time::Duration;

use harness::{Demo, Page};
use serde_json::{Value, json};
use streamgauge::metrics::Sample;

const STREAMS: [u32; 3] = [1, 6, 64];
/// Each reader is measured so often, in turn with the others; the median counts.
const TURNS: usize = 3;
/// Events of all streams together, where the server coalesces them and where it does not.
const EVENTS: [(&str, u32); 2] = [("coalesced", 384_000), ("single", 64_000)];

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let parts: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|word| word == part);
    if wanted("events") {
        events().await;
    }
    if wanted("drawing") {
        drawing().await;
    }
    if wanted("growth") {
        growth().await;
    }
}

/// Reads streams in a worker of its own and resolves to the time it took, ms.
const JAVASCRIPT: &str = r#"
const [urls, parses, done] = arguments;
const work = async ({data: [urls, parses]}) => {
  const decoderOf = () => new TextDecoder();
  const one = async url => {
    const response = await fetch(url, {method: 'POST', body: '{}'});
    const reader = response.body.getReader();
    const decoder = decoderOf();
    let rest = '', tokens = 0;
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return tokens;
      if (!parses) continue;
      rest += decoder.decode(value, {stream: true});
      const events = rest.split('\n\n');
      rest = events.pop();
      for (const event of events) {
        const data = event.slice(6);
        if (data === '[DONE]') continue;
        const chunk = JSON.parse(data);
        if (chunk.choices[0].delta.content) tokens++;
      }
    }
  };
  const start = performance.now();
  await Promise.all(urls.map(one));
  postMessage(performance.now() - start);
};
const blob = new Blob([`onmessage = ${work}`], {type: 'text/javascript'});
const worker = new Worker(URL.createObjectURL(blob));
worker.onmessage = ({data}) => { worker.terminate(); done(data); };
worker.postMessage([urls, parses]);
"#;

/// A way to read.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reader {
    /// JavaScript that throws away what it reads.
    Bare,
    /// JavaScript that decodes, splits and parses.
    Parsing,
    /// The engine.
    Engine,
}

async fn events() {
    println!("Events per second, thousands; median of {TURNS}. The server sends as fast as it is read.\n");
    println!("| writes | streams | bare JavaScript | JavaScript, JSON.parse | engine | ÷ bare | ÷ JSON.parse |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let port = flood::start().await;
    let page = Page::open("").await;
    for (mode, all) in EVENTS {
        for streams in STREAMS {
            let each = all / streams;
            let mut rates = [const { Vec::new() }; 3];
            for _ in 0..TURNS {
                for (reader, rates) in [Reader::Bare, Reader::Parsing, Reader::Engine]
                    .into_iter()
                    .zip(&mut rates)
                {
                    let ms = read(&page, reader, port, mode, streams, each).await;
                    rates.push(f64::from(each * streams) / ms);
                }
            }
            let [bare, parsing, engine] =
                rates.map(|rates| Sample::new(rates).percentile(50.0).expect("it was measured"));
            let words = if mode == "coalesced" { "64 KiB" } else { "one event" };
            println!(
                "| {words} | {streams} | {bare:.0} | {parsing:.0} | {engine:.0} | {:.2} | {:.2} |",
                engine / bare,
                engine / parsing
            );
        }
    }
    page.close().await;
}

/// How long one reader takes for all streams, ms.
async fn read(page: &Page, reader: Reader, port: u16, mode: &str, streams: u32, each: u32) -> f64 {
    let base = format!("http://localhost:{port}/{mode}/{each}");
    if reader == Reader::Engine {
        page.go(&format!("url={base}&n={streams}&c={streams}&warmup=0&out={each}"))
            .await;
        page.press("Run ").await;
        // Asked in few words: to read the whole page over and over would cost the engine its processor.
        let over = "return [...document.querySelectorAll('button')].some(b => b.textContent.includes('Save JSON'))";
        while page.client.execute(over, vec![]).await.expect("an answer") != json!(true) {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        let result = page.download_json().await;
        let requests = result["requests"].as_array().expect("requests");
        let frames: u64 = requests.iter().filter_map(|r| r["tokens"]["frames"].as_u64()).sum();
        assert_eq!(frames, u64::from(each * streams), "frames are missing");
        return result["duration_ms"].as_f64().expect("a duration");
    }
    // The names that the engine would use: six connections each.
    let urls: Vec<String> = (0..streams)
        .map(|stream| match stream / 6 {
            0 => format!("{base}/v1/chat/completions"),
            name => format!(
                "{}/v1/chat/completions",
                base.replace("localhost", &format!("sg{name}.localhost"))
            ),
        })
        .collect();
    page.client
        .execute_async(JAVASCRIPT, vec![json!(urls), json!(reader == Reader::Parsing)])
        .await
        .expect("the worker reads")
        .as_f64()
        .expect("a time")
}

async fn drawing() {
    const TOKENS: u32 = 600;
    println!("\nError of frame times, 64 streams of 100 tokens/s each, against the demo endpoint's record, ms.\n");
    println!("| live page | frames | p50 | p90 | p99 | max | reading, share of the run |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for draws in [true, false, true, false] {
        let demo = Demo::start(&[
            "--itl-ms",
            "10",
            "--ttft-ms",
            "50",
            "--load-slowdown",
            "0",
            "--batch-limit",
            "1000",
        ]);
        let page = Page::open(&format!("url={}&n=64&c=64&warmup=64&out={TOKENS}", demo.url)).await;
        page.press("Run ").await;
        let show = async |tab: &str| {
            let press = "[...document.querySelectorAll('nav a')].find(a => a.hash === arguments[0]).click()";
            page.client.execute(press, vec![tab.into()]).await.expect("pressed");
        };
        if !draws {
            show("#explain").await;
        }
        // Warm-up and run, without a question in between: to answer one costs the page time.
        tokio::time::sleep(Duration::from_millis(u64::from(TOKENS) * 10 * 2 + 3_000)).await;
        if !draws {
            show("#run").await;
        }
        page.wait_for("Save JSON").await;
        let result = page.download_json().await;
        page.close().await;
        let frames = Sample::new(errors::errors(&result, &demo.truth().await).0);
        let at = |p: f64| frames.percentile(p).map_or("n/a".into(), |ms| format!("{ms:.2}"));
        let share = |key: &str| result["client"][key].as_f64().unwrap_or(f64::NAN);
        println!(
            "| {} | {} | {} | {} | {} | {} | {:.1} % |",
            if draws { "draws" } else { "out of sight" },
            frames.values().len(),
            at(50.0),
            at(90.0),
            at(99.0),
            at(100.0),
            100.0 * share("parse_ms") / share("elapsed_ms")
        );
    }
}

/// Notes when the result is there, without asking for it from outside.
const NOTE_THE_RESULT: &str = r#"
window.resultAt = 0;
const look = () => {
  if (window.resultAt || ![...document.querySelectorAll('button')].some(b => b.textContent.includes('Save JSON'))) return;
  window.resultAt = Date.now();
};
new MutationObserver(look).observe(document.body, {childList: true, subtree: true});
"#;

async fn growth() {
    println!("\nRuns of 64 tokens a request, 64 at a time, as they grow.\n");
    println!(
        "| requests | run, s | tab before, MB | tab at most, MB | last answer → result, s | per 1,000 requests, s |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    for requests in [1_000, 5_000, 20_000] {
        let demo = Demo::start(&[
            "--itl-ms",
            "0.1",
            "--ttft-ms",
            "1",
            "--load-slowdown",
            "0",
            "--batch-limit",
            "1000",
        ]);
        let page = Page::open(&format!("url={}&n={requests}&c=64&warmup=64&out=64", demo.url)).await;
        page.client.execute(NOTE_THE_RESULT, vec![]).await.expect("noted");
        let before = tab_mb();
        page.press("Run ").await;
        let mut most = before;
        let start = std::time::Instant::now();
        let result_at = loop {
            most = most.max(tab_mb());
            let at = page
                .client
                .execute("return window.resultAt", vec![])
                .await
                .expect("a time");
            if let Some(at) = at.as_f64().filter(|at| *at > 0.0) {
                break at;
            }
            assert!(start.elapsed() < Duration::from_secs(300), "the run does not end");
            tokio::time::sleep(Duration::from_millis(250)).await;
        };
        let result = page.download_json().await;
        page.close().await;
        let number = |value: &Value| value.as_f64().expect("a number");
        let (from, length) = (number(&result["measured_from_ms"]), number(&result["duration_ms"]));
        let last_at = number(&result["started_unix_ms"]) + from + length;
        println!(
            "| {requests} | {:.1} | {before:.0} | {most:.0} | {:.2} | {:.2} |",
            length / 1e3,
            (result_at - last_at) / 1e3,
            length / f64::from(requests)
        );
    }
}

/// Memory of this process's largest descendant that draws a page: resident and its own, MB; 0 where nobody tells.
fn tab_mb() -> f64 {
    let mut most = 0.0_f64;
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        if !read("cmdline").contains("--type=renderer") || !descends(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let kb: f64 = read("smaps_rollup")
            .lines()
            .filter(|line| line.starts_with("Private_"))
            .filter_map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok())
            .sum();
        most = most.max(kb / 1000.0);
    }
    most
}

/// Whether a process comes from this one.
fn descends(pid: &str) -> bool {
    let us = std::process::id().to_string();
    let mut pid = pid.to_owned();
    for _ in 0..16 {
        if pid == us {
            return true;
        }
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name may hold spaces; what follows its bracket does not.
        match stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)) {
            Some(parent) => pid = parent.to_owned(),
            None => return false,
        }
    }
    false
}
