//! Every captured or written response is read as its case says, however its bytes are split.
#![cfg(not(target_arch = "wasm32"))]

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use streamgauge::request::case::{BodyEnd, Case, misses};
use streamgauge::request::replay::read_folder;
use streamgauge::request::{Reading, Times};

fn cases() -> Vec<Case> {
    let cases = read_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).unwrap();
    let cases: Vec<Case> = cases.into_iter().map(Result::unwrap).collect();
    assert!(cases.len() >= 72, "cases are missing");
    cases
}

/// A reading without what a split must change: moments, reads, and what depends on them.
fn timeless(mut reading: Reading) -> Reading {
    reading.times = Times::default();
    reading.marks.at_us.clear();
    reading.wire.reads = 0;
    reading.wire.coalesced_frames = 0;
    let joined = reading.reads.iter().flat_map(|read| read.bytes.clone()).collect();
    reading.reads.clear();
    reading.reads.push(streamgauge::request::ReadEvidence {
        at_ms: 0.0,
        bytes: joined,
    });
    if let Some(failure) = &mut reading.failure {
        failure.at_ms = 0.0;
    }
    reading
}

/// Nothing is read after `[DONE]`, so how much of the rest came along depends on the split.
fn without_tail(case: &Case, mut reading: Reading) -> Reading {
    if reading.times.done_ms.is_some() || case.body.windows(6).any(|bytes| bytes == b"[DONE]") {
        reading.wire.bytes = 0;
        reading.reads.clear();
        reading.dropped_bytes = 0;
    }
    timeless(reading)
}

#[test]
fn every_case_is_read_as_it_should_be() {
    let cases = cases();
    assert!(
        cases
            .iter()
            .all(|case| case.expect["ok"].is_boolean() || case.expect["judge"] == "either")
    );
    let told = |case: &Case| {
        misses(case, &case.read())
            .into_iter()
            .map(|miss| format!("{}: {miss}", case.name))
            .collect::<Vec<_>>()
    };
    let misses: Vec<String> = cases.iter().flat_map(told).collect();
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn a_split_at_any_byte_changes_nothing() {
    for case in cases() {
        let whole = without_tail(&case, case.read_split(&[case.body.len()]));
        // Long bodies are tried at every fifth byte: their frames are all alike.
        let step = if case.body.len() > 1500 { 5 } else { 1 };
        for at in (0..case.body.len()).step_by(step) {
            let split = without_tail(&case, case.read_split(&[at, case.body.len()]));
            assert_eq!(split, whole, "{} split at {at}", case.name);
        }
    }
}

#[test]
fn one_byte_a_read_changes_nothing() {
    for case in cases() {
        let whole = without_tail(&case, case.read_split(&[case.body.len()]));
        let each: Vec<usize> = (1..=case.body.len()).collect();
        assert_eq!(without_tail(&case, case.read_split(&each)), whole, "{}", case.name);
    }
}

#[test]
fn a_cut_anywhere_is_never_a_success_before_done() {
    for case in cases()
        .iter()
        .filter(|case| case.status == 200 && case.end == BodyEnd::Eof)
    {
        let done = case
            .body
            .windows(6)
            .position(|bytes| bytes == b"[DONE]")
            .map_or(case.body.len(), |at| at + 6);
        for at in 0..done {
            let cut = Case {
                body: case.body[..at].to_vec(),
                end: BodyEnd::Cut,
                ..case.clone()
            };
            let reading = cut.read_split(&[at]);
            assert!(reading.failure.is_some(), "{} cut at {at}", case.name);
        }
    }
}

#[test]
fn random_splits_change_nothing() {
    let cases = cases();
    // Seeded, so that a failure comes again.
    let config = ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (any::<Index>(), prop::collection::vec(any::<Index>(), 0..40));
    let tried = runner.run(&strategy, |(which, cuts)| {
        let case = which.get(&cases);
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(case.body.len() + 1)).collect();
        ends.push(case.body.len());
        ends.sort_unstable();
        let whole = without_tail(case, case.read_split(&[case.body.len()]));
        prop_assert_eq!(without_tail(case, case.read_split(&ends)), whole, "{}", case.name);
        Ok(())
    });
    tried.unwrap();
}
