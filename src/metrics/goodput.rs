//! Which requests kept the service level objectives.

use serde::{Deserialize, Serialize};

use super::latencies::{e2e_ms, tpot_ms, ttft_ms};
use crate::{
    config::slo::Slo,
    request::{Outcome, RequestRecord},
};

/// Requests that kept the objectives. All shares are of the requests that ended by themselves: failures count as missed,
/// cancelled requests are in no rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Goodput {
    /// Successes that kept all objectives.
    pub good: u32,
    /// Requests that ended by themselves: successes and failures.
    pub of: u32,
    /// Good requests per second of the measured window.
    pub request_goodput: Option<f64>,
    /// Output tokens of good requests per second; absent if one of their counts is unknown.
    pub output_goodput: Option<f64>,
    /// Share of good requests.
    pub attainment: Option<f64>,
    /// Share that kept the objective for TTFT, if there is one.
    pub ttft_attainment: Option<f64>,
    /// Share that kept the objective for TPOT, if there is one.
    pub tpot_attainment: Option<f64>,
    /// Share that kept the objective for E2E, if there is one.
    pub e2e_attainment: Option<f64>,
}

/// Counts the measured requests (no warm-up) that kept the objectives, over a window of `duration_ms`; `None` if there is
/// no objective.
///
/// A success without the figure in question missed its objective, but for TPOT of an answer of one token, which has none
/// to miss (as in SGLang's and vLLM's goodput).
pub fn goodput(records: &[RequestRecord], slo: &Slo, duration_ms: f64) -> Option<Goodput> {
    if slo.is_empty() {
        return None;
    }
    let mut counts = Goodput::default();
    let (mut ttft, mut tpot, mut e2e) = (0, 0, 0);
    let mut tokens = Some(0u64);
    for record in records.iter().filter(|r| !r.warmup && r.outcome != Outcome::Cancelled) {
        counts.of += 1;
        if record.outcome != Outcome::Succeeded {
            continue;
        }
        let keeps =
            |limit: Option<f64>, value: Option<f64>| limit.is_none_or(|limit| value.is_some_and(|v| v <= limit));
        let kept = (
            keeps(slo.ttft_ms, ttft_ms(record)),
            record.tokens.output == Some(1) || keeps(slo.tpot_ms, tpot_ms(record)),
            keeps(slo.e2e_ms, e2e_ms(record)),
        );
        ttft += u32::from(kept.0);
        tpot += u32::from(kept.1);
        e2e += u32::from(kept.2);
        if kept == (true, true, true) {
            counts.good += 1;
            tokens = tokens.and_then(|sum| sum.checked_add(record.tokens.output?));
        }
    }
    let share = |kept: u32| (counts.of > 0).then(|| f64::from(kept) / f64::from(counts.of));
    let per_second = |value: f64| (duration_ms > 0.0 && counts.of > 0).then(|| value / (duration_ms / 1000.0));
    Some(Goodput {
        request_goodput: per_second(f64::from(counts.good)),
        output_goodput: tokens.and_then(|tokens| per_second(tokens as f64)),
        attainment: share(counts.good),
        ttft_attainment: slo.ttft_ms.and_then(|_| share(ttft)),
        tpot_attainment: slo.tpot_ms.and_then(|_| share(tpot)),
        e2e_attainment: slo.e2e_ms.and_then(|_| share(e2e)),
        ..counts
    })
}
