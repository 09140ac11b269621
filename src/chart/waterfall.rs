//! The spans of one request's life, as the waterfall draws them.

use crate::request::RequestRecord;

/// What a request was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Its time had come, but it was not yet on the wire.
    Queue,
    /// Sent; no token yet.
    Wait,
    /// Tokens of reasoning arrive.
    Reasoning,
    /// Tokens of the answer arrive.
    Answer,
}

/// A span of one request, ms since the run began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// What it was doing.
    pub phase: Phase,
    /// From.
    pub from_ms: f64,
    /// To; never before `from_ms`.
    pub to_ms: f64,
}

/// The spans of a request in order, without gaps from its scheduled time to its end; those of no length are left out.
///
/// The wait ends with the first token of any kind. Tokens before the first of the answer are reasoning.
pub fn spans(record: &RequestRecord) -> Vec<Span> {
    let times = &record.times;
    let end = times.ended_ms;
    let first_token = times.first_token_ms.unwrap_or(end);
    // Without a token of the answer, all that came was reasoning.
    let first_answer = times.first_answer_ms.unwrap_or(end).max(first_token);
    let bounds = [
        (Phase::Queue, times.scheduled_ms, times.dispatched_ms),
        (Phase::Wait, times.dispatched_ms, first_token),
        (Phase::Reasoning, first_token, first_answer),
        (Phase::Answer, first_answer, end),
    ];
    bounds
        .into_iter()
        .map(|(phase, from_ms, to_ms)| Span {
            phase,
            from_ms,
            to_ms: to_ms.min(end),
        })
        .filter(|span| span.to_ms > span.from_ms)
        .collect()
}

/// The part of a list of rows that is in view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rows {
    /// First row, inclusive.
    pub first: usize,
    /// Last row, exclusive.
    pub end: usize,
}

/// Rows of `row_px` that show in a view of `view_px` scrolled by `scroll_px`.
pub fn rows_in_view(total: usize, row_px: f64, scroll_px: f64, view_px: f64) -> Rows {
    // A cast from f64 saturates at 0.
    let first = ((scroll_px / row_px).floor() as usize).min(total);
    let end = (((scroll_px + view_px) / row_px).ceil() as usize).clamp(first, total);
    Rows { first, end }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use crate::request::{Outcome, Times};

    fn record(first_token_ms: Option<f64>, first_answer_ms: Option<f64>) -> RequestRecord {
        let times = Times {
            scheduled_ms: 10.0,
            dispatched_ms: 15.0,
            first_token_ms,
            first_answer_ms,
            ended_ms: 100.0,
            ..Times::default()
        };
        crate::chart::tests::record(Outcome::Succeeded, times)
    }

    fn told(record: &RequestRecord) -> Vec<(Phase, f64, f64)> {
        let spans = spans(record);
        spans.iter().map(|s| (s.phase, s.from_ms, s.to_ms)).collect()
    }

    #[test]
    fn spans_follow_one_another_from_the_schedule_to_the_end() {
        assert_eq!(
            told(&record(Some(40.0), Some(60.0))),
            [
                (Phase::Queue, 10.0, 15.0),
                (Phase::Wait, 15.0, 40.0),
                (Phase::Reasoning, 40.0, 60.0),
                (Phase::Answer, 60.0, 100.0)
            ]
        );
    }

    #[test]
    fn a_request_without_a_token_only_waited() {
        assert_eq!(
            told(&record(None, None)),
            [(Phase::Queue, 10.0, 15.0), (Phase::Wait, 15.0, 100.0)]
        );
    }

    #[test]
    fn an_answer_without_reasoning_has_none() {
        let told = told(&record(Some(40.0), Some(40.0)));
        assert_eq!(told[2..], [(Phase::Answer, 40.0, 100.0)]);
    }

    #[test]
    fn only_the_rows_in_view_are_drawn() {
        assert_eq!(rows_in_view(10_000, 12.0, 1206.0, 360.0), Rows { first: 100, end: 131 });
        assert_eq!(rows_in_view(3, 12.0, 0.0, 360.0), Rows { first: 0, end: 3 });
        assert_eq!(rows_in_view(3, 12.0, 9e9, 360.0), Rows { first: 3, end: 3 });
        assert_eq!(rows_in_view(0, 12.0, -5.0, 360.0), Rows { first: 0, end: 0 });
    }
}
