//! The figures as SGLang's own client, `sglang.benchmark.serving` 0.5, would print them for the same records.
//!
//! Its definitions differ from ours: E2E runs to the last line (`[DONE]` included), TPOT is taken from that, ITL is the
//! gap between messages (per token with `/generate` alone), the peak counts one per message in buckets of a second, and
//! empty samples are 0. What is *not* taken over: it counts requests that failed inside a 200 response, and credits the
//! requested length where the server told none. The records here are those of requests that succeeded, with the tokens
//! they really brought.

use std::fmt::Write;

use serde::Serialize;

use super::Sample;
use crate::{
    config::{Api, RunConfig, slo::Slo},
    request::{Outcome, RequestRecord},
};

/// The statistics it prints of a latency, ms, and of how many. Of an empty sample all are 0, as it writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Size of the sample: where it is 0, the zeros are its client's habit and no figures.
    pub n: u64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Standard deviation, ddof 0.
    pub std: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest value (it prints that of ITL alone).
    pub max: f64,
}

impl Statistics {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let d = Sample::new(values.collect()).distribution();
        let or_0 = |value: Option<f64>| value.unwrap_or(0.0);
        Self {
            n: d.n as u64,
            mean: or_0(d.mean),
            median: or_0(d.p50),
            std: or_0(d.std),
            p90: or_0(d.p90),
            p95: or_0(d.p95),
            p99: or_0(d.p99),
            max: or_0(d.max),
        }
    }
}

/// One request as its client keeps it; seconds as it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Dispatch, s since the run began.
    pub start_s: f64,
    /// Time to first token, s; the whole latency if the answer was not streamed.
    pub ttft_s: f64,
    /// Dispatch → last line of the body, s.
    pub latency_s: f64,
    /// Its inter-token latencies, s.
    pub itl_s: Vec<f64>,
    /// Output tokens.
    pub output_tokens: u64,
    /// Prompt tokens as the server counted them; 0 if it did not.
    pub prompt_tokens: u64,
}

impl Output {
    /// A request that succeeded, as that client sees it.
    pub fn of(record: &RequestRecord, api: Api) -> Self {
        let times = &record.times;
        let since = |at_ms: f64| (at_ms - times.dispatched_ms) / 1000.0;
        let latency_s = since(times.done_ms.unwrap_or(times.ended_ms));
        let marks = &record.marks;
        let per_token = api == Api::Generate && marks.tokens.len() == marks.at_us.len();
        let mut itl_s = Vec::new();
        let mut previous: Option<u32> = None;
        for (i, at_us) in marks.at_us.iter().enumerate() {
            let tokens = if per_token { marks.tokens[i] } else { 1 };
            if tokens == 0 {
                continue;
            }
            if let Some(previous) = previous {
                let gap_s = f64::from(at_us.saturating_sub(previous)) / 1e6;
                let each = gap_s / f64::from(tokens);
                itl_s.extend(std::iter::repeat_n(each, tokens as usize));
            }
            previous = Some(*at_us);
        }
        Self {
            start_s: times.dispatched_ms / 1000.0,
            ttft_s: times.first_token_ms.map_or(latency_s, since),
            latency_s,
            itl_s,
            output_tokens: record.tokens.output.unwrap_or(0),
            prompt_tokens: record.tokens.prompt.unwrap_or(0),
        }
    }

    /// Time per output token after the first, s; its client has none for a single token.
    fn tpot_s(&self) -> Option<f64> {
        (self.output_tokens > 1).then(|| (self.latency_s - self.ttft_s) / (self.output_tokens - 1) as f64)
    }
}

/// Its goodput: TPOT and E2E by its definitions, shares of all requests sent, TPOT of a single token 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Goodput {
    /// Good requests per second.
    pub request_goodput: f64,
    /// Share of good requests.
    pub slo_attainment: f64,
    /// Share that kept the objective for TTFT, if there is one.
    pub ttft: Option<f64>,
    /// Share that kept the objective for TPOT, if there is one.
    pub tpot: Option<f64>,
    /// Share that kept the objective for E2E (`e2el`), if there is one.
    pub e2el: Option<f64>,
}

impl Goodput {
    fn of(outputs: &[Output], sent: usize, slo: &Slo, duration_s: f64) -> Option<Self> {
        if slo.is_empty() || sent == 0 || duration_s <= 0.0 {
            return None;
        }
        let keeps = |limit: Option<f64>, value_s: f64| limit.is_none_or(|limit| value_s * 1000.0 <= limit);
        let ttft = |o: &&Output| keeps(slo.ttft_ms, o.ttft_s);
        let tpot = |o: &&Output| keeps(slo.tpot_ms, o.tpot_s().unwrap_or(0.0));
        let e2el = |o: &&Output| keeps(slo.e2e_ms, o.latency_s);
        let share = |kept: usize| kept as f64 / sent as f64;
        let good = outputs.iter().filter(|o| ttft(o) && tpot(o) && e2el(o)).count();
        Some(Self {
            request_goodput: good as f64 / duration_s,
            slo_attainment: share(good),
            ttft: slo.ttft_ms.map(|_| share(outputs.iter().filter(ttft).count())),
            tpot: slo.tpot_ms.map(|_| share(outputs.iter().filter(tpot).count())),
            e2el: slo.e2e_ms.map(|_| share(outputs.iter().filter(e2el).count())),
        })
    }
}

/// All it prints, in its units.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Successes.
    pub completed: u32,
    /// Length of the run, s.
    pub duration: f64,
    /// Prompt tokens.
    pub total_input_tokens: u64,
    /// Output tokens.
    pub total_output_tokens: u64,
    /// Successes per second.
    pub request_throughput: f64,
    /// Prompt tokens per second.
    pub input_throughput: f64,
    /// Output tokens per second.
    pub output_throughput: f64,
    /// Both per second.
    pub total_throughput: f64,
    /// E2E to the last line, ms.
    pub e2e_latency_ms: Statistics,
    /// TTFT, ms.
    pub ttft_ms: Statistics,
    /// TPOT, ms.
    pub tpot_ms: Statistics,
    /// ITL, ms.
    pub itl_ms: Statistics,
    /// Σ latency / duration.
    pub concurrency: f64,
    /// Most messages in one of the seconds counted from the first start.
    pub max_output_tokens_per_s: f64,
    /// Most requests that touch one of the seconds counted from the first start.
    pub max_concurrent_requests: u32,
    /// Goodput, if there are objectives.
    pub goodput: Option<Goodput>,
}

/// Its figures for the measured requests (no warm-up) that succeeded, over `duration_ms`.
pub fn figures(records: &[RequestRecord], config: &RunConfig, duration_ms: f64) -> Figures {
    let measured = records.iter().filter(|r| !r.warmup);
    let outputs: Vec<Output> = measured
        .clone()
        .filter(|r| r.outcome == Outcome::Succeeded)
        .map(|r| Output::of(r, config.api))
        .collect();
    let duration = duration_ms / 1000.0;
    let rate = |value: f64| if duration > 0.0 { value / duration } else { 0.0 };
    let sum = |count: fn(&Output) -> u64| outputs.iter().fold(0u64, |sum, o| sum.saturating_add(count(o)));
    let (input, output) = (sum(|o| o.prompt_tokens), sum(|o| o.output_tokens));
    let ms = |s: f64| s * 1000.0;
    let (peak_tokens, peak_requests) = peaks(&outputs);
    Figures {
        completed: outputs.len() as u32,
        duration,
        total_input_tokens: input,
        total_output_tokens: output,
        request_throughput: rate(outputs.len() as f64),
        input_throughput: rate(input as f64),
        output_throughput: rate(output as f64),
        total_throughput: rate(input as f64 + output as f64),
        e2e_latency_ms: Statistics::of(outputs.iter().map(|o| ms(o.latency_s))),
        ttft_ms: Statistics::of(outputs.iter().map(|o| ms(o.ttft_s))),
        tpot_ms: Statistics::of(outputs.iter().filter_map(Output::tpot_s).map(ms)),
        itl_ms: Statistics::of(outputs.iter().flat_map(|o| o.itl_s.iter().copied()).map(ms)),
        concurrency: rate(outputs.iter().map(|o| o.latency_s).sum()),
        max_output_tokens_per_s: peak_tokens,
        max_concurrent_requests: peak_requests,
        goodput: Goodput::of(&outputs, measured.count(), &config.slo, duration),
    }
}

/// A run longer than this has no peaks: the clock of such a record is broken.
const MOST_SECONDS: f64 = 1e6;

/// Its peaks, in buckets of one second from the earliest start: messages, and requests that touch the bucket.
fn peaks(outputs: &[Output]) -> (f64, u32) {
    let origin_s = outputs.iter().map(|o| o.start_s).fold(f64::INFINITY, f64::min);
    let end_s = outputs.iter().map(|o| o.start_s + o.latency_s).fold(0.0, f64::max);
    let usable = (0.0..MOST_SECONDS).contains(&(end_s - origin_s));
    if !usable {
        return (0.0, 0);
    }
    let buckets = (end_s - origin_s) as usize + 2;
    let (mut tokens, mut requests) = (vec![0u32; buckets], vec![0u32; buckets]);
    let bucket = |at_s: f64| ((at_s - origin_s) as usize).min(buckets - 1);
    for output in outputs {
        let mut at_s = output.start_s + output.ttft_s;
        tokens[bucket(at_s)] += 1;
        for itl_s in &output.itl_s {
            at_s += itl_s;
            tokens[bucket(at_s)] += 1;
        }
        let touched = bucket(output.start_s)..=bucket(output.start_s + output.latency_s);
        requests[touched].iter_mut().for_each(|n| *n += 1);
    }
    let most = |counts: &[u32]| counts.iter().copied().max().unwrap_or(0);
    (f64::from(most(&tokens)), most(&requests))
}

/// The name it gives to the backend that an API is measured with.
pub fn backend(api: Api) -> &'static str {
    match api {
        Api::Chat => "sglang-oai-chat",
        Api::Completions => "sglang-oai",
        Api::Generate => "sglang",
    }
}

/// Its console table, row for row; rows that need what no browser knows (retokenised counts) are left out.
pub fn table(figures: &Figures, config: &RunConfig) -> String {
    let mut text = format!("{}\n", rule(" Serving Benchmark Result ", '='));
    let row = |text: &mut String, label: &str, value: &str| {
        let _ = writeln!(text, "{label:<40} {value:<10}");
    };
    let float = |value: f64| format!("{value:.2}");
    row(&mut text, "Backend:", backend(config.api));
    row(&mut text, "Traffic request rate:", &request_rate(config));
    let cap = config.most_in_flight().map_or("not set".to_owned(), |n| n.to_string());
    row(&mut text, "Max request concurrency:", &cap);
    row(&mut text, "Successful requests:", &figures.completed.to_string());
    row(&mut text, "Benchmark duration (s):", &float(figures.duration));
    row(
        &mut text,
        "Total input tokens:",
        &figures.total_input_tokens.to_string(),
    );
    row(
        &mut text,
        "Total input text tokens:",
        &figures.total_input_tokens.to_string(),
    );
    row(
        &mut text,
        "Total generated tokens:",
        &figures.total_output_tokens.to_string(),
    );
    row(
        &mut text,
        "Request throughput (req/s):",
        &float(figures.request_throughput),
    );
    row(
        &mut text,
        "Input token throughput (tok/s):",
        &float(figures.input_throughput),
    );
    row(
        &mut text,
        "Output token throughput (tok/s):",
        &float(figures.output_throughput),
    );
    row(
        &mut text,
        "Peak output token throughput (tok/s):",
        &float(figures.max_output_tokens_per_s),
    );
    row(
        &mut text,
        "Peak concurrent requests:",
        &figures.max_concurrent_requests.to_string(),
    );
    row(
        &mut text,
        "Total token throughput (tok/s):",
        &float(figures.total_throughput),
    );
    row(&mut text, "Concurrency:", &float(figures.concurrency));
    if let Some(goodput) = &figures.goodput {
        let _ = writeln!(text, "{}", rule("Goodput", '-'));
        let limits = [
            ("ttft", config.slo.ttft_ms),
            ("tpot", config.slo.tpot_ms),
            ("e2el", config.slo.e2e_ms),
        ];
        let given: Vec<String> = limits
            .iter()
            .filter_map(|(name, ms)| Some(format!("{name}:{}", (*ms)?)))
            .collect();
        row(&mut text, "SLOs (ms):", &given.join(" "));
        row(&mut text, "Request goodput (req/s):", &float(goodput.request_goodput));
        row(&mut text, "SLO attainment (%):", &float(goodput.slo_attainment * 100.0));
        for (name, share) in [("TTFT", goodput.ttft), ("TPOT", goodput.tpot), ("E2EL", goodput.e2el)] {
            if let Some(share) = share {
                row(&mut text, &format!("{name} SLO attainment (%):"), &float(share * 100.0));
            }
        }
    }
    for (title, name, statistics) in [
        ("End-to-End Latency", "E2E Latency", &figures.e2e_latency_ms),
        ("Time to First Token", "TTFT", &figures.ttft_ms),
        ("Time per Output Token (excl. 1st token)", "TPOT", &figures.tpot_ms),
        ("Inter-Token Latency", "ITL", &figures.itl_ms),
    ] {
        let _ = writeln!(text, "{}", rule(title, '-'));
        let mut rows = vec![
            ("Mean", statistics.mean),
            ("Median", statistics.median),
            ("P90", statistics.p90),
            ("P95", statistics.p95),
            ("P99", statistics.p99),
        ];
        if name == "ITL" {
            rows.push(("Max", statistics.max));
        }
        for (which, value) in rows {
            row(&mut text, &format!("{which} {name} (ms):"), &float(value));
        }
    }
    let _ = writeln!(text, "{}", "=".repeat(WIDTH));
    text
}

/// Its request rate: a closed loop is a cap on an infinite one. A rate that changes is ours alone, and written as we do.
pub fn request_rate(config: &RunConfig) -> String {
    if config.load.is_open() {
        config.load.rate.to_string()
    } else {
        "inf".to_owned()
    }
}

const WIDTH: usize = 50;

/// A title in the middle of a rule, as Python's `str.center` puts it.
fn rule(title: &str, fill: char) -> String {
    let spare = WIDTH.saturating_sub(title.chars().count());
    // Python gives the odd one to the left if the width is odd, to the right if not.
    let left = spare / 2 + (spare & WIDTH & 1);
    let fill = |n: usize| fill.to_string().repeat(n);
    format!("{}{title}{}", fill(left), fill(spare - left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::success;

    fn config(api: Api) -> RunConfig {
        RunConfig {
            api,
            ..RunConfig::default()
        }
    }

    #[test]
    fn messages_make_its_gaps_and_tokens_do_with_its_native_backend() {
        let record = success(&[10_000, 30_000, 30_000, 60_000], &[1, 2, 0, 3]);
        let gaps = |api| Output::of(&record, api).itl_s;
        assert_eq!(gaps(Api::Chat), [0.02, 0.0, 0.03]);
        assert_eq!(gaps(Api::Generate), [0.01, 0.01, 0.01, 0.01, 0.01]);
    }

    #[test]
    fn its_latency_runs_to_done_and_its_tpot_with_it() {
        let mut record = success(&[10_000, 30_000, 60_000], &[]);
        record.times.done_ms = Some(record.times.dispatched_ms + 70.0);
        let figures = figures(&[record], &config(Api::Chat), 1000.0);
        assert!((figures.e2e_latency_ms.mean - 70.0).abs() < 1e-9);
        assert!((figures.tpot_ms.mean - 30.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_that_succeeded_gives_its_zeros() {
        let figures = figures(&[], &config(Api::Chat), 1000.0);
        assert_eq!((figures.completed, figures.e2e_latency_ms), (0, Statistics::default()));
        assert_eq!(figures.goodput, None);
    }

    #[test]
    fn the_table_has_its_rows_in_its_widths() {
        let mut config = config(Api::Generate);
        config.slo.ttft_ms = Some(500.0);
        let figures = figures(&[success(&[10_000, 30_000], &[])], &config, 2000.0);
        let table = table(&figures, &config);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "============ Serving Benchmark Result ============");
        assert_eq!(lines[1], "Backend:                                 sglang    ");
        assert!(lines.contains(&"---------------------Goodput----------------------"));
        assert!(lines.contains(&"SLOs (ms):                               ttft:500  "));
        assert!(lines.contains(&"TTFT SLO attainment (%):                 100.00    "));
        assert!(lines.contains(&"Mean TTFT (ms):                          10.00     "));
        assert_eq!(*lines.last().unwrap(), "=".repeat(50));
    }
}
