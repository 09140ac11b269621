//! The rules of the figures, on records made for each.

use super::*;
use crate::request::{
    Failure, FailurePhase, Marks, Outcome, RequestRecord, Rule, Times, TokenCounts, TokenSource, WireCounts,
};

/// A request dispatched at 100 ms whose frames came so many µs later.
fn record(outcome: Outcome, at_us: &[u32], tokens: &[u32]) -> RequestRecord {
    let at = |us: &u32| 100.0 + f64::from(*us) / 1000.0;
    let output = if tokens.is_empty() {
        at_us.len() as u64
    } else {
        tokens.iter().map(|k| u64::from(*k)).sum()
    };
    RequestRecord {
        index: 0,
        warmup: false,
        asked: None,
        lane: 0,
        outcome,
        failure: outcome.is_failure().then(|| failure("no room", 200.0)),
        times: Times {
            scheduled_ms: 100.0,
            dispatched_ms: 100.0,
            first_token_ms: at_us.first().map(at),
            last_token_ms: at_us.last().map(at),
            ended_ms: at_us.last().map_or(200.0, at),
            ..Times::default()
        },
        status: Some(200),
        response_id: None,
        finish_reason: None,
        marks: Marks {
            at_us: at_us.to_vec(),
            tokens: tokens.to_vec(),
        },
        tokens: TokenCounts {
            output: Some(output),
            source: TokenSource::Usage,
            frames: at_us.len() as u32,
            ..TokenCounts::default()
        },
        wire: WireCounts::default(),
        evidence: None,
    }
}

fn failure(message: &str, at_ms: f64) -> Failure {
    Failure {
        rule: Rule::ErrorKey,
        phase: FailurePhase::AfterTokens,
        token_frames_before: 0,
        message: message.to_owned(),
        code: Some("503".to_owned()),
        kind: None,
        at_ms,
    }
}

pub(super) fn success(at_us: &[u32], tokens: &[u32]) -> RequestRecord {
    record(Outcome::Succeeded, at_us, tokens)
}

fn itl(record: RequestRecord) -> (u64, Vec<f64>) {
    let sample = samples(&[record]).itl_ms;
    (sample.len(), sample.values().to_vec())
}

#[test]
fn frames_that_share_a_read_share_the_gap_before_it() {
    assert_eq!(itl(success(&[0, 30_000, 30_000, 30_000], &[])), (3, vec![10.0]));
}

#[test]
fn a_frame_that_brought_several_tokens_gives_a_value_for_each() {
    assert_eq!(itl(success(&[0, 8_000, 20_000], &[5, 4, 1])), (5, vec![2.0, 12.0]));
}

#[test]
fn a_frame_that_brought_no_token_is_passed_over() {
    assert_eq!(itl(success(&[0, 8_000, 20_000], &[1, 0, 1])), (1, vec![20.0]));
}

#[test]
fn one_read_says_nothing_of_the_time_between_tokens() {
    for request in [
        success(&[9_000], &[]),
        success(&[9_000, 9_000], &[]),
        success(&[9_000], &[64]),
    ] {
        let summary = summarize(&[request], 1000.0);
        assert_eq!((summary.tpot_ms.n, summary.tpot_ms.mean), (0, None));
        assert_eq!((summary.itl_ms.n, summary.itl_ms.p99), (0, None));
        assert_eq!(summary.ttft_ms.mean, Some(9.0));
    }
}

#[test]
fn tokens_of_a_failed_request_are_in_no_aggregate_of_successes() {
    let good = success(&[10_000, 20_000], &[]);
    let alone = summarize(std::slice::from_ref(&good), 1000.0);
    for outcome in Outcome::ALL.into_iter().filter(|o| *o != Outcome::Succeeded) {
        let bad = record(outcome, &[1_000, 500_000, 900_000], &[7, 7, 7]);
        let both = summarize(&[good.clone(), bad], 1000.0);
        assert_eq!(both.sent, 2);
        assert_eq!(both.failed + both.cancelled, 1, "{outcome:?}");
        assert_eq!(both.discarded_frames, 3);
        assert_eq!(both.output_tokens, alone.output_tokens);
        assert_eq!(both.output_throughput, alone.output_throughput);
        for (a, b) in [
            (both.ttft_ms, alone.ttft_ms),
            (both.tpot_ms, alone.tpot_ms),
            (both.itl_ms, alone.itl_ms),
            (both.e2e_ms, alone.e2e_ms),
        ] {
            assert_eq!(a, b, "{outcome:?}");
        }
    }
}

#[test]
fn a_run_of_failures_alone_has_no_latency_and_no_throughput_of_tokens() {
    let summary = summarize(&[record(Outcome::StreamError, &[1_000, 2_000], &[])], 1000.0);
    assert_eq!(summary.ttft_ms, Distribution::default());
    assert_eq!((summary.output_throughput, summary.input_throughput), (None, None));
    assert_eq!(summary.request_throughput, Some(0.0));
}

#[test]
fn a_token_count_that_is_missing_makes_the_throughput_unknown() {
    let known = success(&[1_000], &[]);
    let mut unknown = known.clone();
    unknown.tokens = TokenCounts::default();
    assert_eq!(
        summarize(std::slice::from_ref(&known), 1000.0).output_throughput,
        Some(1.0)
    );
    assert_eq!(summarize(&[known, unknown], 1000.0).output_throughput, None);
}

#[test]
fn warm_up_requests_are_in_no_figure() {
    let mut warm = success(&[1_000, 2_000], &[]);
    warm.warmup = true;
    assert_eq!(summarize(&[warm.clone()], 1000.0).sent, 0);
    assert!(
        failure_groups(&[RequestRecord {
            failure: Some(failure("x", 1.0)),
            outcome: Outcome::Empty,
            ..warm.clone()
        }])
        .is_empty()
    );
    assert_eq!(timeline(&[warm], 0.0, 1000.0, 250.0).tokens, [0.0; 4]);
}

#[test]
fn outcomes_sum_to_the_requests_sent() {
    let records: Vec<_> = Outcome::ALL.into_iter().map(|o| record(o, &[1_000], &[])).collect();
    let summary = summarize(&records, 1000.0);
    assert_eq!(summary.sent, 10);
    assert_eq!(summary.outcomes.values().sum::<u32>(), 10);
    assert_eq!((summary.succeeded, summary.failed, summary.cancelled), (1, 8, 1));
}

#[test]
fn cancelled_requests_are_in_no_rate() {
    let mut counts = OutcomeCounts::default();
    assert_eq!(counts.failure_share(), None);
    counts.add(Outcome::Cancelled);
    assert_eq!(counts.failure_share(), None);
    counts.add(Outcome::Timeout);
    counts.add(Outcome::Succeeded);
    assert_eq!(counts.failure_share(), Some(0.5));
    assert_eq!((counts.total(), counts.failed()), (3, 1));
}

/// A success that was in flight for a span of time, ms.
pub(super) fn span(from_ms: f64, to_ms: f64) -> RequestRecord {
    let mut record = success(&[1_000], &[]);
    record.times.dispatched_ms = from_ms;
    record.times.ended_ms = to_ms;
    record
}

#[test]
fn a_request_that_begins_as_another_ends_does_not_overlap_it() {
    let peak = |spans: &[(f64, f64)]| {
        let records: Vec<_> = spans.iter().map(|(from, to)| span(*from, *to)).collect();
        summarize(&records, 1000.0).peak_concurrency
    };
    assert_eq!(peak(&[(0.0, 10.0), (10.0, 20.0), (20.0, 30.0)]), 1);
    assert_eq!(peak(&[(0.0, 10.0), (9.9, 20.0), (5.0, 30.0)]), 3);
    assert_eq!(peak(&[]), 0);
}

#[test]
fn the_timeline_keeps_every_token_and_every_request() {
    let records = [
        success(&[0, 300_000, 620_000], &[1, 4, 5]),
        success(&[100_000, 200_000], &[]),
        record(Outcome::Truncated, &[10_000, 600_000], &[]),
        record(Outcome::HttpError, &[], &[]),
    ];
    let line = timeline(&records, 100.0, 620.0, 250.0);
    assert_eq!(line.tokens, [3.0, 4.0, 5.0]);
    assert_eq!(line.discarded, [1.0, 0.0, 1.0]);
    assert_eq!(
        line.outcomes.iter().map(OutcomeCounts::total).collect::<Vec<_>>(),
        [2, 0, 2]
    );
    assert_eq!(line.bucket_length_ms(2), 120.0);
    // The first and the third are there throughout; the second for 200 ms, the fourth for 100 ms; the third ends at 600.
    let wanted = [2.0 + 300.0 / 250.0, 2.0, 1.0 + 100.0 / 120.0];
    for (level, wanted) in line.in_flight.iter().zip(wanted) {
        assert!((level - wanted).abs() < 1e-9, "{:?}", line.in_flight);
    }
}

#[test]
fn what_lies_outside_the_window_is_not_lost() {
    let line = timeline(&[success(&[0, 900_000], &[])], 500.0, 300.0, 100.0);
    assert_eq!(line.tokens, [1.0, 0.0, 1.0]);
    assert_eq!(line.in_flight, [1.0, 1.0, 1.0]);
}

#[test]
fn the_timeline_of_a_part_leaves_out_what_lies_outside() {
    let records = [
        success(&[0, 300_000, 620_000], &[1, 4, 5]),
        record(Outcome::Truncated, &[10_000, 480_000], &[]),
    ];
    let whole = timeline(&records, 100.0, 620.0, 250.0);
    let part = Window {
        from_ms: 350.0,
        to_ms: 600.0,
    };
    let line = timeline_of_part(&records, 100.0, &part, 250.0);
    assert_eq!((line.from_ms, line.tokens.len()), (250.0, 1));
    // Its one bucket is the second of the whole run's.
    assert_eq!(
        (line.tokens[0], line.discarded[0]),
        (whole.tokens[1], whole.discarded[1])
    );
    assert_eq!(line.outcomes[0], whole.outcomes[1]);
    assert_eq!(line.in_flight[0], whole.in_flight[1]);
}

#[test]
fn the_frames_share_the_output_the_server_counted() {
    let mut request = success(&[0, 50_000, 300_000, 310_000], &[]);
    request.tokens.output = Some(10);
    let line = timeline(&[request], 100.0, 500.0, 250.0);
    assert_eq!(line.tokens, [5.0, 5.0]);
}

#[test]
fn a_window_of_any_length_has_a_bounded_number_of_buckets() {
    let records = [success(&[0, 900_000], &[])];
    for duration_ms in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        assert!(timeline(&records, 0.0, duration_ms, 250.0).tokens.is_empty());
    }
    for (duration_ms, bucket_ms) in [(1e12, 250.0), (f64::MAX, 1e-300), (1e-300, 250.0)] {
        let line = timeline(&records, 0.0, duration_ms, bucket_ms);
        assert!((1..=20_000).contains(&line.tokens.len()));
        assert_eq!(line.tokens.iter().sum::<f64>(), 2.0);
    }
}

#[test]
fn times_that_no_clock_gives_make_no_panic() {
    let mut odd = success(&[50, 20, u32::MAX, 0], &[u32::MAX; 4]);
    odd.tokens.output = Some(u64::MAX);
    for value in [f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, -1.0] {
        odd.times.dispatched_ms = value;
        odd.times.ended_ms = -value;
        let summary = summarize(&[odd.clone(), odd.clone()], 1000.0);
        assert_eq!(summary.output_tokens, u64::MAX);
        assert_eq!(timeline(std::slice::from_ref(&odd), 0.0, 1000.0, 250.0).tokens.len(), 4);
    }
}

#[test]
fn failures_with_the_same_words_are_one_group_the_largest_first() {
    let failed = |message: &str, at_ms: f64| RequestRecord {
        failure: Some(failure(message, at_ms)),
        ..record(Outcome::StreamError, &[1_000], &[])
    };
    let records = [
        failed("no worker", 5.0),
        failed("queue full (12 > 8)", 30.0),
        success(&[1_000], &[]),
        failed("queue full (9 > 8)", 20.0),
        record(Outcome::Cancelled, &[], &[]),
    ];
    let groups = failure_groups(&records);
    assert_eq!(groups.len(), 2);
    let first = &groups[0];
    assert_eq!(
        (first.pattern.as_str(), first.example.as_str()),
        ("queue full (… > …)", "queue full (12 > 8)")
    );
    assert_eq!((first.count, first.share), (2, 0.5));
    assert_eq!((first.first_ms, first.last_ms), (20.0, 30.0));
    assert_eq!(first.members, [1, 3]);
    assert_eq!((groups[1].count, groups[1].share), (1, 0.25));
}
