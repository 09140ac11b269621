//! How far the page's times are from the truth: it measures the demo endpoint, whose record says when each frame was
//! handed to its socket, on the same machine and clock. `script/accuracy` runs it; it prints a table and asserts nothing.

#[path = "common/errors.rs"]
mod errors;
#[path = "../tests/e2e/harness.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod harness;

use errors::errors;
use harness::{Demo, Page};
use streamgauge::metrics::Sample;

const STREAMS: [u32; 4] = [1, 6, 32, 100];
const ITL_MS: u32 = 20;
const TOKENS: u32 = 150;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    println!("Error of the page's times against the demo endpoint's record, {ITL_MS} ms between tokens, ms.");
    println!(
        "A frame's error: read in the page − handed to the socket. TTFT's: seen by the page − seen by the server.\n"
    );
    println!("| streams | frames | frame p50 | p90 | p99 | max | TTFT p50 | p99 | max | page stall | client |");
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    for streams in STREAMS {
        let demo = Demo::start(&[
            "--itl-ms",
            &ITL_MS.to_string(),
            "--ttft-ms",
            "50",
            "--load-slowdown",
            "0",
            "--batch-limit",
            "1000",
        ]);
        let requests = streams * 3;
        let query = format!(
            "url={}&n={requests}&c={streams}&warmup={streams}&out={TOKENS}",
            demo.url
        );
        let page = Page::open(&query).await;
        page.press("Run").await;
        page.wait_for("Save JSON").await;
        let result = page.download_json().await;
        page.close().await;
        let (frames, ttfts) = errors(&result, &demo.truth().await);
        let [frame, ttft] = [Sample::new(frames), Sample::new(ttfts)];
        let at = |sample: &Sample, p: f64| sample.percentile(p).map_or("n/a".into(), |ms| format!("{ms:.2}"));
        println!(
            "| {streams} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            frame.values().len(),
            at(&frame, 50.0),
            at(&frame, 90.0),
            at(&frame, 99.0),
            at(&frame, 100.0),
            at(&ttft, 50.0),
            at(&ttft, 99.0),
            at(&ttft, 100.0),
            result["client"]["page_stall_max_ms"]
                .as_f64()
                .map_or("n/a".into(), |ms| format!("{ms:.0}")),
            result["client"]["verdict"].as_str().unwrap_or("?"),
        );
    }
    calibrate().await;
}

/// The page's own calibration, as its button does it.
async fn calibrate() {
    println!("\nThe page's own calibration:\n");
    println!("| streams | frames/s | frame p50 | p99 | TTFT p50 | p99 | kept up |");
    println!("|---:|---:|---:|---:|---:|---:|---|");
    let demo = Demo::start(&[]);
    let page = Page::open(&format!("url={}&n=1&c=1&warmup=0&out=8", demo.url)).await;
    page.press("Run ").await;
    page.wait_for("Save JSON").await;
    page.press("Calibrate this browser").await;
    page.wait_for("against the demo endpoint's record").await;
    let kept = "return JSON.parse(localStorage.getItem('streamgauge.calibration'))";
    let kept = page.client.execute(kept, vec![]).await.expect("it is kept");
    page.close().await;
    for level in kept["levels"].as_array().expect("levels") {
        let figure = |key: &str, digits: usize| match level[key].as_f64() {
            Some(value) => format!("{value:.digits$}"),
            None => "n/a".to_owned(),
        };
        println!(
            "| {} | {} | {} | {} | {} | {} | {} |",
            level["streams"],
            figure("frames_per_s", 0),
            figure("frame_p50_ms", 2),
            figure("frame_p99_ms", 2),
            figure("ttft_p50_ms", 2),
            figure("ttft_p99_ms", 2),
            level["kept_up"]
        );
    }
}
