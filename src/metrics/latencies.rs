//! The latencies of one request, each defined once.

use super::tokens::arrivals;
use crate::request::RequestRecord;

/// Time to first token: dispatch → first token of any kind, ms.
pub fn ttft_ms(record: &RequestRecord) -> Option<f64> {
    record.times.first_token_ms.map(|at| at - record.times.dispatched_ms)
}

/// Time to first answer token: dispatch → first token that is not reasoning, ms.
pub(super) fn ttfo_ms(record: &RequestRecord) -> Option<f64> {
    record.times.first_answer_ms.map(|at| at - record.times.dispatched_ms)
}

/// Time to second token: from the first read that brought tokens to the second, ms.
pub(super) fn ttst_ms(record: &RequestRecord) -> Option<f64> {
    let mut arrivals = arrivals(record);
    let (first, second) = (arrivals.next()?, arrivals.next()?);
    Some(f64::from(second.0.saturating_sub(first.0)) / 1000.0)
}

/// Time per output token after the first, ms. Needs two tokens and two reads that brought some: tokens that all came in
/// one read say nothing about the time between them.
pub fn tpot_ms(record: &RequestRecord) -> Option<f64> {
    let span = record.times.last_token_ms? - record.times.first_token_ms?;
    let tokens = record.tokens.output?;
    (tokens > 1 && span > 0.0).then(|| span / (tokens - 1) as f64)
}

/// The speed that one user sees: output tokens after the first per second between first and last token.
pub(super) fn user_speed(record: &RequestRecord) -> Option<f64> {
    tpot_ms(record).map(|ms| 1000.0 / ms)
}

/// End to end: dispatch → last token, ms.
pub fn e2e_ms(record: &RequestRecord) -> Option<f64> {
    record.times.last_token_ms.map(|at| at - record.times.dispatched_ms)
}

/// The tail: last token → `[DONE]`, ms.
pub(super) fn tail_ms(record: &RequestRecord) -> Option<f64> {
    Some(record.times.done_ms? - record.times.last_token_ms?)
}

/// Time in the client's own queue: scheduled → dispatched, ms.
pub(super) fn queue_ms(record: &RequestRecord) -> Option<f64> {
    Some(record.times.dispatched_ms - record.times.scheduled_ms)
}
