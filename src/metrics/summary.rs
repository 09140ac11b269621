//! What a run comes to.

use serde::{Deserialize, Serialize};

use super::{
    Distribution, Sample, latencies,
    tokens::{arrivals, frame_tokens, token_gaps},
    window::{Window, peak_concurrency},
};
use crate::request::{Outcome, RequestRecord, TokenSource};

/// How many requests ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts([u32; Outcome::ALL.len()]);

impl OutcomeCounts {
    /// Counts one more.
    pub fn add(&mut self, outcome: Outcome) {
        self.0[place(outcome)] += 1;
    }

    /// Counts so many more.
    pub fn add_many(&mut self, outcome: Outcome, count: u32) {
        let sum = &mut self.0[place(outcome)];
        *sum = sum.saturating_add(count);
    }

    /// Adds the counts of another.
    pub fn merge(&mut self, other: &OutcomeCounts) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }

    /// How many ended so.
    pub fn get(&self, outcome: Outcome) -> u32 {
        self.0[place(outcome)]
    }

    /// All of them: the requests sent.
    pub fn total(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Those that failed: all but successes and cancellations.
    pub fn failed(&self) -> u32 {
        Outcome::ALL
            .into_iter()
            .filter(|o| o.is_failure())
            .map(|o| self.get(o))
            .sum()
    }

    /// Share of failures in all that ended by themselves (cancelled requests are in no rate), or `None`.
    pub fn failure_share(&self) -> Option<f64> {
        let ended = self.failed() + self.get(Outcome::Succeeded);
        (ended > 0).then(|| f64::from(self.failed()) / f64::from(ended))
    }
}

/// Where an outcome's count stands.
fn place(outcome: Outcome) -> usize {
    Outcome::ALL
        .iter()
        .position(|o| *o == outcome)
        .expect("ALL lists every outcome")
}

/// What a run comes to. Latencies and token figures are over successes alone, failures have figures of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Requests sent; the outcomes sum to it.
    pub sent: u32,
    /// Requests that succeeded.
    pub succeeded: u32,
    /// Requests that failed.
    pub failed: u32,
    /// Requests cancelled, in no rate.
    pub cancelled: u32,
    /// Outcome name → count, those that occurred.
    pub outcomes: std::collections::BTreeMap<String, u32>,
    /// Length of the measured window, ms.
    pub duration_ms: f64,
    /// Time to first token: dispatch → first token of any kind.
    pub ttft_ms: Distribution,
    /// Time to first answer token: dispatch → first token that is not reasoning.
    pub ttfo_ms: Distribution,
    /// Time to second token: from the first read that brought tokens to the second.
    pub ttst_ms: Distribution,
    /// Time per output token after the first: (last token − first token) / (output tokens − 1), per request with at
    /// least two tokens that came in more than one read.
    pub tpot_ms: Distribution,
    /// Inter-token latency: gaps between reads that brought tokens, divided by the tokens of the later one (as told by the
    /// server, else its frames) and counted once for each; over all requests.
    pub itl_ms: Distribution,
    /// Gaps between reads that brought tokens, however many each brought; over all requests.
    pub read_gap_ms: Distribution,
    /// End to end: dispatch → last token.
    pub e2e_ms: Distribution,
    /// Last token → `[DONE]`.
    pub tail_ms: Distribution,
    /// Time in the client's own queue: scheduled → dispatched.
    pub queue_ms: Distribution,
    /// Output tokens per second that one request's reader sees: 1,000 / TPOT, per request.
    pub user_speed: Distribution,
    /// Successes per second.
    pub request_throughput: Option<f64>,
    /// Output tokens of successes per second.
    pub output_throughput: Option<f64>,
    /// Prompt tokens of successes per second, where the server counted them.
    pub input_throughput: Option<f64>,
    /// Prompt and output tokens of successes per second.
    pub total_throughput: Option<f64>,
    /// Most output tokens of successes that arrived within any one second, each frame with its weight in tokens. Absent
    /// for a window shorter than that.
    pub peak_output_throughput: Option<f64>,
    /// Output tokens of successes per read that brought some.
    pub tokens_per_read: Option<f64>,
    /// Output tokens of successes.
    pub output_tokens: u64,
    /// Prompt tokens of successes, where the server counted them.
    pub prompt_tokens: u64,
    /// Prompt tokens of successes that the server had cached, where it told.
    pub cached_tokens: Option<u64>,
    /// Their share in the prompt tokens of the successes for which it told.
    pub cache_hit_rate: Option<f64>,
    /// Draft tokens accepted per verification step of speculative decoding, where the server told; per request.
    pub spec_accept_length: Distribution,
    /// Token frames that came in requests that then failed or were cancelled: counted nowhere else.
    pub discarded_frames: u64,
    /// Successes whose output tokens are an estimate (one per frame).
    pub estimated_token_counts: u32,
    /// Successes whose usage was not believed.
    pub suspect_token_counts: u32,
    /// Successes whose counts (usage, frames, the server's count of the text) disagree.
    pub disagreeing_token_counts: u32,
    /// Requests in flight on average: Σ (ended − dispatched) / duration.
    pub mean_concurrency: Option<f64>,
    /// Most requests in flight at any moment, by exact sweep.
    pub peak_concurrency: u32,
}

/// The samples behind a summary's distributions, over successes; charts draw them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Time to first token, ms.
    pub ttft_ms: Sample,
    /// Time to first answer token, ms.
    pub ttfo_ms: Sample,
    /// Time to second token, ms.
    pub ttst_ms: Sample,
    /// Time per output token after the first, ms.
    pub tpot_ms: Sample,
    /// Inter-token latency, ms.
    pub itl_ms: Sample,
    /// Gaps between reads that brought tokens, ms.
    pub read_gap_ms: Sample,
    /// End-to-end latency, ms.
    pub e2e_ms: Sample,
    /// Last token → `[DONE]`, ms.
    pub tail_ms: Sample,
    /// Time in the client's own queue, ms.
    pub queue_ms: Sample,
    /// Output tokens per second that one reader sees.
    pub user_speed: Sample,
}

/// Takes the latencies of the measured requests (no warm-up) that succeeded.
pub fn samples(records: &[RequestRecord]) -> Samples {
    samples_of(records.iter().filter(|r| !r.warmup))
}

fn samples_of<'a>(members: impl Iterator<Item = &'a RequestRecord> + Clone) -> Samples {
    let successes = members.filter(|r| r.outcome == Outcome::Succeeded);
    let of = |latency: fn(&RequestRecord) -> Option<f64>| Sample::new(successes.clone().filter_map(latency).collect());
    let (mut gaps, mut read_gaps) = (Vec::new(), Vec::new());
    for record in successes.clone() {
        let before = gaps.len();
        token_gaps(record, &mut gaps);
        read_gaps.extend(gaps[before..].iter().map(|(gap, tokens)| gap * f64::from(*tokens)));
    }
    Samples {
        ttft_ms: of(latencies::ttft_ms),
        ttfo_ms: of(latencies::ttfo_ms),
        ttst_ms: of(latencies::ttst_ms),
        tpot_ms: of(latencies::tpot_ms),
        itl_ms: Sample::weighted(gaps),
        read_gap_ms: Sample::new(read_gaps),
        e2e_ms: of(latencies::e2e_ms),
        tail_ms: of(latencies::tail_ms),
        queue_ms: of(latencies::queue_ms),
        user_speed: of(latencies::user_speed),
    }
}

/// Computes the summary of the measured requests (no warm-up) over a run of `duration_ms`.
pub fn summarize(records: &[RequestRecord], duration_ms: f64) -> Summary {
    let measured = records.iter().filter(|r| !r.warmup);
    let tokens = measured
        .clone()
        .filter(|r| r.outcome == Outcome::Succeeded)
        .flat_map(frame_tokens);
    let busy_ms = measured
        .clone()
        .map(|r| (r.times.ended_ms - r.times.dispatched_ms).max(0.0))
        .sum();
    let figures = summary_of(measured.clone(), tokens.collect(), duration_ms, None);
    Summary {
        mean_concurrency: mean_level(busy_ms, duration_ms, figures.sent),
        peak_concurrency: peak_concurrency(measured, None),
        ..figures
    }
}

/// As [`summarize`], for a part of the run.
///
/// A request belongs to the window in which it ended: counts, latencies, its prompt. Output tokens count by their own
/// arrival, concurrency by overlap: a throughput must not gain or lose what reaches over the window's edge.
pub fn summarize_window(records: &[RequestRecord], window: &Window) -> Summary {
    let measured = records.iter().filter(|r| !r.warmup);
    let tokens = measured
        .clone()
        .filter(|r| r.outcome == Outcome::Succeeded)
        .flat_map(frame_tokens)
        .filter(|(at_ms, _)| window.contains(*at_ms));
    let busy_ms = measured
        .clone()
        .map(|r| window.overlap_ms(r.times.dispatched_ms, r.times.ended_ms))
        .sum();
    let members = measured.clone().filter(|r| window.contains(r.times.ended_ms));
    let figures = summary_of(members, tokens.collect(), window.duration_ms(), Some(window));
    Summary {
        mean_concurrency: mean_level(busy_ms, window.duration_ms(), measured.clone().count() as u32),
        peak_concurrency: peak_concurrency(measured, Some(window)),
        ..figures
    }
}

fn mean_level(busy_ms: f64, duration_ms: f64, requests: u32) -> Option<f64> {
    (requests > 0 && duration_ms > 0.0)
        .then(|| busy_ms / duration_ms)
        .filter(|level| level.is_finite())
}

/// All but the concurrency: of these requests, and of the tokens `(arrival, tokens)` of successes.
fn summary_of<'a>(
    members: impl Iterator<Item = &'a RequestRecord> + Clone,
    tokens: Vec<(f64, f64)>,
    duration_ms: f64,
    window: Option<&Window>,
) -> Summary {
    let successes = members.clone().filter(|r| r.outcome == Outcome::Succeeded);
    let mut counts = OutcomeCounts::default();
    for record in members.clone() {
        counts.add(record.outcome);
    }
    let samples = samples_of(members.clone());
    let per_second = |value: f64| {
        let rate = value / (duration_ms / 1000.0);
        (duration_ms > 0.0 && rate.is_finite()).then_some(rate)
    };
    let sum = |count: fn(&RequestRecord) -> Option<u64>| {
        successes
            .clone()
            .fold(0u64, |sum, r| sum.saturating_add(count(r).unwrap_or(0)))
    };
    // A rate with some of the tokens unknown would be too low, and say nothing of it.
    let all = |count: fn(&RequestRecord) -> Option<u64>| {
        successes.clone().next().is_some() && successes.clone().all(|r| count(r).is_some())
    };
    let output = |r: &RequestRecord| r.tokens.output;
    let prompt = |r: &RequestRecord| r.tokens.prompt;
    let arrived: f64 = match window {
        None => sum(output) as f64,
        Some(_) => tokens.iter().map(|(_, tokens)| tokens).sum(),
    };
    let output_throughput = all(output).then(|| per_second(arrived)).flatten();
    let input_throughput = all(prompt).then(|| per_second(sum(prompt) as f64)).flatten();
    let token_reads: u64 = successes.clone().map(|r| arrivals(r).count() as u64).sum();
    let told = successes
        .clone()
        .filter(|r| r.tokens.cached.is_some() && r.tokens.prompt.is_some());
    let cached = told
        .clone()
        .fold(0u64, |sum, r| sum.saturating_add(r.tokens.cached.unwrap_or(0)));
    let asked = told
        .clone()
        .fold(0u64, |sum, r| sum.saturating_add(r.tokens.prompt.unwrap_or(0)));
    let count_where = |test: fn(&RequestRecord) -> bool| successes.clone().filter(|r| test(r)).count() as u32;
    Summary {
        sent: counts.total(),
        succeeded: counts.get(Outcome::Succeeded),
        failed: counts.failed(),
        cancelled: counts.get(Outcome::Cancelled),
        outcomes: Outcome::ALL
            .into_iter()
            .filter(|o| counts.get(*o) > 0)
            .map(|o| (o.name().to_owned(), counts.get(o)))
            .collect(),
        duration_ms,
        ttft_ms: samples.ttft_ms.distribution(),
        ttfo_ms: samples.ttfo_ms.distribution(),
        ttst_ms: samples.ttst_ms.distribution(),
        tpot_ms: samples.tpot_ms.distribution(),
        itl_ms: samples.itl_ms.distribution(),
        read_gap_ms: samples.read_gap_ms.distribution(),
        e2e_ms: samples.e2e_ms.distribution(),
        tail_ms: samples.tail_ms.distribution(),
        queue_ms: samples.queue_ms.distribution(),
        user_speed: samples.user_speed.distribution(),
        request_throughput: if counts.total() > 0 {
            per_second(f64::from(counts.get(Outcome::Succeeded)))
        } else {
            None
        },
        output_throughput,
        input_throughput,
        total_throughput: output_throughput.zip(input_throughput).map(|(a, b)| a + b),
        peak_output_throughput: (duration_ms >= SECOND_MS && all(output)).then(|| most_in_a_second(tokens)),
        tokens_per_read: (token_reads > 0 && all(output)).then(|| sum(output) as f64 / token_reads as f64),
        output_tokens: sum(output),
        prompt_tokens: sum(prompt),
        cached_tokens: told.clone().next().is_some().then_some(cached),
        cache_hit_rate: (asked > 0).then(|| cached as f64 / asked as f64),
        spec_accept_length: Sample::new(successes.clone().filter_map(|r| r.tokens.spec_accept_length).collect())
            .distribution(),
        discarded_frames: members
            .filter(|r| r.outcome != Outcome::Succeeded)
            .fold(0u64, |sum, r| sum.saturating_add(u64::from(r.tokens.frames))),
        estimated_token_counts: count_where(|r| r.tokens.source == TokenSource::Frames),
        suspect_token_counts: count_where(|r| r.tokens.suspect.is_some()),
        disagreeing_token_counts: count_where(|r| r.tokens.disagree()),
        mean_concurrency: None,
        peak_concurrency: 0,
    }
}

const SECOND_MS: f64 = 1000.0;

/// The most tokens whose arrivals lie within less than a second of each other.
fn most_in_a_second(mut tokens: Vec<(f64, f64)>) -> f64 {
    tokens.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut first, mut sum, mut most) = (0, 0.0f64, 0.0f64);
    for (at_ms, count) in &tokens {
        sum += count;
        while at_ms - tokens[first].0 >= SECOND_MS {
            sum -= tokens[first].1;
            first += 1;
        }
        most = most.max(sum);
    }
    most
}
