//! What it costs to read a stream: our parser and state machine, beside `eventsource-stream` with serde_json and beside
//! a bare scan for line ends, which is the limit. Criterion measures; the table of ratios is made of its medians, all
//! from one run on one machine. `script/bench` runs it.
#![cfg(not(target_arch = "wasm32"))]

use std::{convert::Infallible, fmt::Write as _, hint::black_box, ops::ControlFlow, path::PathBuf, time::Duration};

use criterion::{Criterion, Throughput};
use eventsource_stream::Eventsource;
use futures_util::{FutureExt, StreamExt, stream};
use serde::Deserialize;
use streamgauge::{
    request::{Machine, Spec},
    sse::Parser,
};

/// Token events of the stream.
const EVENTS: usize = 4_000;
/// A read of a stream that is behind: as much as a browser hands out at a time.
const COALESCED: usize = 64 * 1024;

/// A chunk as a client's own types have it, with the strings that it would go on with.
#[derive(Deserialize)]
#[expect(dead_code, reason = "they are there to be filled")]
struct TypedChunk {
    id: String,
    model: String,
    choices: Vec<TypedChoice>,
    usage: Option<TypedUsage>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "they are there to be filled")]
struct TypedChoice {
    index: u32,
    delta: TypedDelta,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "they are there to be filled")]
struct TypedDelta {
    role: Option<String>,
    content: Option<String>,
    reasoning_content: Option<String>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "they are there to be filled")]
struct TypedUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

/// A chat stream as SGLang sends it, with the counts that it sends along when asked. Its time of creation is that of
/// the request; where it is each frame's own, no frame is like the one before.
fn sglang_stream(alike: bool) -> Vec<String> {
    let mut events: Vec<String> = (1..=EVENTS)
        .map(|n| {
            let created = 1_763_000_000 + if alike { 0 } else { n };
            format!(
                "data: {{\"id\":\"9c1c0e2f4b7d4d0e8d6c6b8e0f6a1b2c\",\"object\":\"chat.completion.chunk\",\"created\":{created},\
                 \"model\":\"demo-model\",\"choices\":[{{\"index\":0,\"delta\":{{\"role\":null,\"content\":\" token\",\
                 \"reasoning_content\":null,\"tool_calls\":null}},\"logprobs\":null,\"finish_reason\":null,\"matched_stop\":null}}],\
                 \"usage\":{{\"prompt_tokens\":128,\"total_tokens\":{},\"completion_tokens\":{n},\"prompt_tokens_details\":null}}}}\n\n",
                128 + n
            )
        })
        .collect();
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn scan(reads: &[&[u8]]) -> usize {
    reads.iter().map(|read| memchr::memchr_iter(b'\n', read).count()).sum()
}

fn parse(reads: &[&[u8]]) -> usize {
    let mut parser = Parser::new();
    let mut events = 0;
    for read in reads {
        let flow = parser.push(read, &mut |item| {
            black_box(&item);
            events += 1;
            ControlFlow::Continue(())
        });
        assert!(flow.is_ok());
    }
    events
}

fn judge(reads: &[&[u8]]) -> usize {
    let mut machine = Machine::new(Spec::default(), 0.0);
    machine.headers(200, Some("text/event-stream"), 0.0);
    for (n, read) in reads.iter().enumerate() {
        let _ = black_box(machine.read(read, n as f64));
    }
    machine.token_frames() as usize
}

/// The peer; `take` reads the data of an event.
fn peer(reads: &[&[u8]], mut take: impl FnMut(&str)) -> usize {
    let reads = stream::iter(reads.iter().map(|read| Ok::<_, Infallible>(*read)));
    let all = reads.eventsource().fold(0, |events, event| {
        if let Ok(event) = event {
            take(&event.data);
            return std::future::ready(events + 1);
        }
        std::future::ready(events)
    });
    all.now_or_never().expect("nothing to wait for")
}

fn peer_typed(data: &str) {
    if data != "[DONE]" {
        black_box(serde_json::from_str::<TypedChunk>(data).expect("a chunk"));
    }
}

fn peer_tree(data: &str) {
    if data != "[DONE]" {
        black_box(serde_json::from_str::<serde_json::Value>(data).expect("JSON"));
    }
}

/// A reader and what it is called.
type Reader = (&'static str, fn(&[&[u8]]) -> usize);

const READERS: [Reader; 6] = [
    ("line scan", scan),
    ("parser", parse),
    ("parser and state machine", judge),
    ("eventsource-stream", |reads| {
        peer(reads, |data| {
            black_box(data);
        })
    }),
    ("eventsource-stream, typed", |reads| peer(reads, peer_typed)),
    ("eventsource-stream, tree", |reads| peer(reads, peer_tree)),
];

fn main() {
    let events = sglang_stream(true);
    let (whole, unlike) = (events.concat(), sglang_stream(false).concat());
    let cuts: [(&str, Vec<&[u8]>); 3] = [
        ("64 KiB reads", whole.as_bytes().chunks(COALESCED).collect()),
        ("an event a read", events.iter().map(String::as_bytes).collect()),
        (
            "64 KiB reads, no frame like the last",
            unlike.as_bytes().chunks(COALESCED).collect(),
        ),
    ];
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30)
        .configure_from_args();
    for (cut, reads) in &cuts {
        let mut group = criterion.benchmark_group(*cut);
        group.throughput(Throughput::Bytes(whole.len() as u64));
        for (name, read) in READERS {
            group.bench_function(name, |bencher| bencher.iter(|| read(black_box(reads))));
        }
        group.finish();
    }
    criterion.final_summary();
    print!("{}", table(cuts.map(|(cut, _)| cut), whole.len()));
}

/// Speeds, and how many times the peer's speed each is; of the figures that this run left behind.
fn table(cuts: [&str; 3], bytes: usize) -> String {
    let mut text = format!(
        "\n{EVENTS} events of {} bytes.\n\n| reads | reader | MB/s | k events/s | × eventsource-stream + typed serde_json |\n|---|---|---:|---:|---:|\n",
        bytes / EVENTS
    );
    for cut in cuts {
        let peer_ns = median_ns(cut, "eventsource-stream, typed");
        for (name, _) in READERS {
            let Some(ns) = median_ns(cut, name) else { continue };
            let ratio = peer_ns.map_or("n/a".to_owned(), |peer_ns| format!("{:.2}", peer_ns / ns));
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "| {cut} | {name} | {:.0} | {:.0} | {ratio} |",
                bytes as f64 * 1e3 / ns,
                EVENTS as f64 * 1e6 / ns
            );
        }
    }
    text
}

/// The median that criterion wrote down, ns.
fn median_ns(group: &str, name: &str) -> Option<f64> {
    let home = std::env::var_os("CRITERION_HOME")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            std::env::var_os("CARGO_TARGET_DIR")
                .map_or_else(|| PathBuf::from("target"), PathBuf::from)
                .join("criterion")
        });
    let text = std::fs::read(home.join(group).join(name).join("new/estimates.json")).ok()?;
    serde_json::from_slice::<serde_json::Value>(&text).ok()?["median"]["point_estimate"].as_f64()
}
