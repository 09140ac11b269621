//! What goes into a link comes out of it, or what does not is said; whatever else comes is turned away.

use proptest::prelude::*;

use super::*;
use crate::{
    metrics::summarize,
    report::tests::{any_record, document, record, small},
};

const PAGE: &str = "https://gauge.example/";

fn all() -> Keep {
    Keep {
        hosts: true,
        prompts: true,
        evidence: true,
    }
}

fn run(requests: u32) -> Document {
    let made = (0..requests).map(|i| {
        let failed = i % 7 == 3;
        let mut record = record(
            i,
            if failed {
                Outcome::StreamError
            } else {
                Outcome::Succeeded
            },
        );
        // Scattered, as times are: regular ones would deflate to nothing.
        let mixed = (i ^ 0x9e37).wrapping_mul(0x85eb_ca6b);
        let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
        let scatter = f64::from((mixed ^ (mixed >> 16)) % 4096) / 100.0;
        let times = &mut record.times;
        times.dispatched_ms = f64::from(i) * 0.1 + scatter / 7.0;
        times.first_token_ms = Some(times.dispatched_ms + 20.0 + scatter);
        times.last_token_ms = Some(times.dispatched_ms + 90.0 + scatter * 3.0);
        times.ended_ms = times.dispatched_ms + 91.0 + scatter * 3.0;
        record
    });
    let mut document = document(made.collect());
    document.duration_ms = 1300.0;
    document.summary = summarize(&document.requests, document.duration_ms);
    document
}

fn near(ours: Option<f64>, theirs: Option<f64>, error: f64) -> bool {
    match (ours, theirs) {
        (Some(a), Some(b)) => (a - b).abs() <= error * b.abs().max(1e-9),
        (None, None) => true,
        _ => false,
    }
}

#[test]
fn a_link_holds_the_figures_the_distributions_and_the_course() {
    let before = run(200);
    let link = chat_link(&before, &all(), PAGE);
    assert!(link.url.len() <= CHAT_LETTERS, "{}", link.url.len());
    let after = open(&link.url).unwrap();
    assert_eq!(after.document.summary.sent, 200);
    assert_eq!(after.document.summary.outcomes, before.summary.outcomes);
    assert!(near(
        after.document.summary.ttft_ms.p99,
        before.summary.ttft_ms.p99,
        1e-4
    ));
    assert_eq!(after.document.config, before.config);
    let (sketch, exact) = (&after.samples[0], metrics::samples(&before.requests).ttft_ms);
    assert_eq!(sketch.len(), exact.len());
    assert!(near(sketch.percentile(50.0), exact.percentile(50.0), 0.2));
    let timeline = after.timeline.expect("a course");
    let ended: u32 = timeline.outcomes.iter().map(|counts| counts.total()).sum();
    assert_eq!(ended, 200);
    assert_eq!(after.groups[0].count, 29);
    assert!(
        after.rows.is_empty()
            && link
                .left_out
                .iter()
                .any(|words| words.contains("each of the 200 requests"))
    );
    assert_eq!(after.left_out, link.left_out);
}

#[test]
fn a_full_link_has_a_row_for_each_request_as_far_as_they_fit() {
    for (requests, whole) in [(200, true), (10_000, false)] {
        let before = run(requests);
        let link = full_link(&before, &all(), PAGE);
        assert!(link.url.len() <= FULL_LETTERS, "{}", link.url.len());
        let after = open(&link.url).unwrap();
        assert_eq!(after.rows.len() == requests as usize, whole, "{}", after.rows.len());
        let row = &after.rows[12];
        assert_eq!(
            (row.index, row.outcome, row.output_tokens),
            (12, Outcome::Succeeded, Some(2))
        );
        assert!(near(row.ttft_ms, metrics::ttft_ms(&before.requests[12]), 0.01));
        assert_eq!(
            link.left_out.iter().any(|words| words.ends_with("of 10000 requests")),
            !whole
        );
    }
}

#[test]
fn whatever_is_in_a_result_its_links_keep_their_length() {
    let long = "<script>alert(1)</script>\u{1f600}".repeat(400);
    let mut requests = Vec::new();
    for i in 0..500 {
        let mut failed = record(i, Outcome::StreamError);
        let failure = failed.failure.as_mut().unwrap();
        let name: String = (0..40)
            .map(|k| char::from(b'a' + ((i * 7 + k * k * (i + 3)) % 26) as u8))
            .collect();
        failure.message = format!("{name} {long}");
        failure.code = Some(name);
        requests.push(failed);
    }
    let mut document = document(requests);
    document.server.model = long.clone();
    document.config.model = long.clone();
    document.config.workload.prompt = long.clone();
    document.notes = vec![long.clone(); 20];
    document.client.reasons = vec![long; 20];
    for (link, most) in [
        (chat_link(&document, &all(), PAGE), CHAT_LETTERS),
        (full_link(&document, &all(), PAGE), FULL_LETTERS),
    ] {
        assert!(link.url.len() <= most, "{} of {most}", link.url.len());
        let after = open(&link.url).unwrap();
        assert_eq!(after.document.summary.failed, 500);
        assert!(after.left_out.iter().any(|words| words.contains("groups of failures")));
    }
}

#[test]
fn a_link_that_was_cut_says_so_wherever_it_was_cut() {
    let link = chat_link(&run(50), &all(), PAGE).url;
    let start = link.find(PREFIX).unwrap() + PREFIX.len();
    for end in start..link.len() {
        match open(&link[..end]) {
            Err(LinkError::Cut { letters, of }) => assert!(letters <= end - start && of <= link.len() - start + 2),
            Err(LinkError::NoResult) => assert!(end - start < 2),
            other => panic!("cut at {end}: {other:?}"),
        }
    }
    assert!(open(&link[..start + 100]).unwrap_err().to_string().contains("was cut"));
}

#[test]
fn what_mail_and_chat_do_to_a_link_does_no_harm() {
    let link = chat_link(&small(), &all(), PAGE).url;
    let whole = open(&link).unwrap();
    let wrapped: String = link
        .as_bytes()
        .chunks(76)
        .map(|line| format!("{}\r\n  ", std::str::from_utf8(line).unwrap()))
        .collect();
    for changed in [
        format!("<{link}>"),
        format!("see {link}."),
        format!("{link}) and"),
        wrapped,
    ] {
        assert_eq!(open(&changed.replace(" and", ")")).as_ref(), Ok(&whole), "{changed}");
    }
}

#[test]
fn a_link_of_another_version_asks_for_a_newer_page() {
    let link = format!("{PREFIX}AgAAAAAAAAA");
    assert_eq!(open(&link), Err(LinkError::Version(2)));
    assert!(open(&link).unwrap_err().to_string().contains("newer copy"));
    assert_eq!(open("#r="), Err(LinkError::NoResult));
    assert_eq!(open("https://gauge.example/#latency"), Err(LinkError::NoResult));
    assert_eq!(
        open(&format!("{PREFIX}{}", "A".repeat(300_000))),
        Err(LinkError::TooLong)
    );
}

#[test]
fn what_inflates_beyond_reason_is_not_inflated() {
    let bomb = bytes::seal(&" ".repeat(5 << 20));
    assert!(bomb.len() < 20_000, "{}", bomb.len());
    assert_eq!(open(&bomb), Err(LinkError::Damaged));
}

#[test]
fn numbers_beyond_reason_are_not_believed() {
    let link = chat_link(&run(50), &all(), PAGE).url;
    let text = bytes::open(&link).unwrap();
    let honest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(open(&bytes::seal(&honest.to_string())).is_ok());
    for (pointer, value) in [
        ("/t/2", serde_json::json!(1e300)),
        ("/t/2", serde_json::json!(-1)),
        ("/l/0", serde_json::json!(0)),
        ("/l/0", serde_json::json!(1e-9)),
        ("/l/1/0", serde_json::json!(-5)),
        ("/l/4", serde_json::json!([[9_999_999, 0, 1]])),
        ("/l/4", serde_json::json!([[0, 77, 1]])),
        ("/k/0/0", serde_json::json!(1)),
        ("/k/0/1", serde_json::json!(2_000_000_000)),
        ("/o", serde_json::json!([1])),
        ("/g/0/0", serde_json::json!(200)),
        ("/s", serde_json::json!([1, 2])),
        ("/s/0", serde_json::json!("<script>")),
    ] {
        let mut hostile = honest.clone();
        *hostile
            .pointer_mut(pointer)
            .unwrap_or_else(|| panic!("no {pointer}: {text}")) = value;
        assert_eq!(
            open(&bytes::seal(&hostile.to_string())),
            Err(LinkError::Damaged),
            "{pointer}"
        );
    }
}

#[test]
fn no_host_prompt_or_byte_goes_into_a_link_without_a_tick() {
    let mut document = run(10);
    document.simulated = false;
    document.config.endpoint = crate::config::Endpoint::Http {
        base_url: "http://gpu-7.corp.example:30000".to_owned(),
    };
    document.server.base_url = "http://gpu-7.corp.example:30000".to_owned();
    document.config.workload.kind = crate::config::workload::Kind::Typed;
    document.config.workload.prompt = "the secret prompt".to_owned();
    let link = full_link(&document, &Keep::default(), PAGE).url;
    let text = bytes::open(&link).unwrap();
    assert!(!text.contains("gpu-7") && !text.contains("secret"), "{text}");
    let after = open(&link).unwrap();
    assert!(
        matches!(after.document.config.endpoint, crate::config::Endpoint::Http { base_url } if base_url == "(hidden)")
    );
    assert!(
        bytes::open(&full_link(&document, &all(), PAGE).url)
            .unwrap()
            .contains("gpu-7")
    );
}

/// A link of version 1: it opens for ever.
#[test]
fn the_first_link_still_opens() {
    let snapshot = open(include_str!("first_link.txt")).unwrap();
    assert_eq!(snapshot.document.summary.sent, 200);
    assert_eq!(snapshot.document.summary.failed, 29);
    assert_eq!(snapshot.rows.len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_result_goes_through_a_link(records in prop::collection::vec(any_record(), 0..30)) {
        let mut before = document(records);
        before.duration_ms = before.requests.iter().map(|r| r.times.ended_ms).fold(1.0, f64::max);
        before.summary = summarize(&before.requests, before.duration_ms);
        for (link, most) in [
            (chat_link(&before, &all(), PAGE), CHAT_LETTERS),
            (full_link(&before, &all(), PAGE), FULL_LETTERS),
        ] {
            prop_assert!(link.url.len() <= most);
            let after = open(&link.url).unwrap();
            let (ours, theirs) = (&after.document.summary, &before.summary);
            prop_assert_eq!(&ours.outcomes, &theirs.outcomes);
            prop_assert_eq!(ours.output_tokens, theirs.output_tokens);
            for (a, b) in [
                (ours.ttft_ms.p50, theirs.ttft_ms.p50),
                (ours.e2e_ms.mean, theirs.e2e_ms.mean),
                (ours.output_throughput, theirs.output_throughput),
            ] {
                prop_assert!(near(a, b, 1e-4), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn no_letters_make_the_page_fall(letters in "[A-Za-z0-9_-]{0,400}", flips in prop::collection::vec((0..1500_usize, 0..64_u8), 1..4)) {
        let _ = open(&format!("#r={letters}"));
        let _ = open(&format!("#r=AQ{letters}"));
        let link = chat_link(&small(), &all(), PAGE).url;
        let start = link.find(PREFIX).unwrap() + PREFIX.len();
        let mut changed = link.clone().into_bytes();
        for (place, letter) in flips {
            let at = start + place % (link.len() - start);
            changed[at] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[usize::from(letter)];
        }
        let changed = String::from_utf8(changed).unwrap();
        if let Ok(snapshot) = open(&changed) {
            prop_assert_eq!(snapshot, open(&link).unwrap());
        }
    }
}
