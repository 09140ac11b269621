//! What a run comes to.

use serde::{Deserialize, Serialize};

use super::{Distribution, Sample, tokens::token_gaps};
use crate::request::{Outcome, RequestRecord, Times, TokenSource};

/// How many requests ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts([u32; Outcome::ALL.len()]);

impl OutcomeCounts {
    /// Counts one more.
    pub fn add(&mut self, outcome: Outcome) {
        self.0[place(outcome)] += 1;
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
    /// Time per output token after the first: (last token − first token) / (output tokens − 1), per request with at
    /// least two tokens that came in more than one read.
    pub tpot_ms: Distribution,
    /// Inter-token latency: gaps between reads that brought tokens, divided by the tokens of the later one (as told by the
    /// server, else its frames) and counted once for each; over all requests.
    pub itl_ms: Distribution,
    /// End to end: dispatch → last token.
    pub e2e_ms: Distribution,
    /// Time in the client's own queue: scheduled → dispatched.
    pub queue_ms: Distribution,
    /// Successes per second.
    pub request_throughput: Option<f64>,
    /// Output tokens of successes per second.
    pub output_throughput: Option<f64>,
    /// Prompt tokens of successes per second, where the server counted them.
    pub input_throughput: Option<f64>,
    /// Output tokens of successes.
    pub output_tokens: u64,
    /// Prompt tokens of successes, where the server counted them.
    pub prompt_tokens: u64,
    /// Token frames that came in requests that then failed or were cancelled: counted nowhere else.
    pub discarded_frames: u64,
    /// Successes whose output tokens are an estimate (one per frame).
    pub estimated_token_counts: u32,
    /// Successes whose usage was not believed.
    pub suspect_token_counts: u32,
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
    /// Time per output token after the first, ms.
    pub tpot_ms: Sample,
    /// Inter-token latency, ms.
    pub itl_ms: Sample,
    /// End-to-end latency, ms.
    pub e2e_ms: Sample,
    /// Time in the client's own queue, ms.
    pub queue_ms: Sample,
}

/// Takes the latencies of the measured requests (no warm-up) that succeeded.
pub fn samples(records: &[RequestRecord]) -> Samples {
    let successes = || records.iter().filter(|r| !r.warmup && r.outcome == Outcome::Succeeded);
    let since_dispatch = |moment: fn(&Times) -> Option<f64>| {
        let value = |r: &RequestRecord| moment(&r.times).map(|at| at - r.times.dispatched_ms);
        Sample::new(successes().filter_map(value).collect())
    };
    let mut gaps = Vec::new();
    for record in successes() {
        token_gaps(record, &mut gaps);
    }
    Samples {
        ttft_ms: since_dispatch(|t| t.first_token_ms),
        ttfo_ms: since_dispatch(|t| t.first_answer_ms),
        tpot_ms: Sample::new(successes().filter_map(tpot_ms).collect()),
        itl_ms: Sample::weighted(gaps),
        e2e_ms: since_dispatch(|t| t.last_token_ms),
        queue_ms: Sample::new(
            successes()
                .map(|r| r.times.dispatched_ms - r.times.scheduled_ms)
                .collect(),
        ),
    }
}

/// Time per output token after the first. Needs two tokens and two reads that brought some: tokens that all came in one
/// read say nothing about the time between them.
fn tpot_ms(record: &RequestRecord) -> Option<f64> {
    let span = record.times.last_token_ms? - record.times.first_token_ms?;
    let tokens = record.tokens.output?;
    (tokens > 1 && span > 0.0).then(|| span / (tokens - 1) as f64)
}

/// Computes the summary of measured requests (no warm-up) over a window of `duration_ms`.
pub fn summarize(records: &[RequestRecord], duration_ms: f64) -> Summary {
    let measured = || records.iter().filter(|r| !r.warmup);
    let successes = || measured().filter(|r| r.outcome == Outcome::Succeeded);
    let mut counts = OutcomeCounts::default();
    for record in measured() {
        counts.add(record.outcome);
    }
    let samples = samples(records);
    let per_second = |value: f64| {
        let rate = value / (duration_ms / 1000.0);
        (duration_ms > 0.0 && rate.is_finite()).then_some(rate)
    };
    let sum = |count: fn(&RequestRecord) -> Option<u64>| {
        successes().fold(0u64, |sum, r| sum.saturating_add(count(r).unwrap_or(0)))
    };
    // A rate with some of the tokens unknown would be too low, and say nothing of it.
    let all = |count: fn(&RequestRecord) -> Option<u64>| {
        successes().next().is_some() && successes().all(|r| count(r).is_some())
    };
    let rate = |count: fn(&RequestRecord) -> Option<u64>| {
        if all(count) {
            per_second(sum(count) as f64)
        } else {
            None
        }
    };
    let output = |r: &RequestRecord| r.tokens.output;
    let prompt = |r: &RequestRecord| r.tokens.prompt;
    let count_where = |test: fn(&RequestRecord) -> bool| successes().filter(|r| test(r)).count() as u32;
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
        tpot_ms: samples.tpot_ms.distribution(),
        itl_ms: samples.itl_ms.distribution(),
        e2e_ms: samples.e2e_ms.distribution(),
        queue_ms: samples.queue_ms.distribution(),
        request_throughput: if counts.total() > 0 {
            per_second(f64::from(counts.get(Outcome::Succeeded)))
        } else {
            None
        },
        output_throughput: rate(output),
        input_throughput: rate(prompt),
        output_tokens: sum(output),
        prompt_tokens: sum(prompt),
        discarded_frames: measured()
            .filter(|r| r.outcome != Outcome::Succeeded)
            .fold(0u64, |sum, r| sum.saturating_add(u64::from(r.tokens.frames))),
        estimated_token_counts: count_where(|r| r.tokens.source == TokenSource::Frames),
        suspect_token_counts: count_where(|r| r.tokens.suspect.is_some()),
        mean_concurrency: if counts.total() > 0 && duration_ms > 0.0 {
            let busy: f64 = measured()
                .map(|r| (r.times.ended_ms - r.times.dispatched_ms).max(0.0))
                .sum();
            Some(busy / duration_ms).filter(|c| c.is_finite())
        } else {
            None
        },
        peak_concurrency: peak_concurrency(measured()),
    }
}

/// Most requests in flight at any moment. A request that ends at the moment another begins does not overlap it.
fn peak_concurrency<'a>(records: impl Iterator<Item = &'a RequestRecord>) -> u32 {
    let mut events: Vec<(f64, i32)> = Vec::new();
    for record in records.filter(|r| r.times.ended_ms > r.times.dispatched_ms) {
        events.push((record.times.dispatched_ms, 1));
        events.push((record.times.ended_ms, -1));
    }
    events.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut now, mut peak) = (0, 0);
    for (_, change) in events {
        now += change;
        peak = peak.max(now);
    }
    peak.unsigned_abs()
}
