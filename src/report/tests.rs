//! The document's text form: what is written is read back, and nothing else is taken for a result.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    config::{Endpoint, RunConfig},
    health::Health,
    metrics::{Summary, Window, summarize},
    request::{
        Evidence, Failure, FailurePhase, Marks, Outcome, ReadEvidence, RequestRecord, Rule, Times, TokenCounts,
        TokenSource, WireCounts,
    },
};

pub(crate) fn record(index: u32, outcome: Outcome) -> RequestRecord {
    let at = f64::from(index) * 10.0;
    let failure = outcome.is_failure().then(|| Failure {
        rule: Rule::ErrorKey,
        phase: FailurePhase::AfterTokens,
        token_frames_before: 2,
        message: "The request queue is full.".to_owned(),
        code: Some("503".to_owned()),
        kind: None,
        at_ms: at + 30.0,
    });
    RequestRecord {
        index,
        warmup: false,
        asked: None,
        lane: 0,
        outcome,
        failure,
        times: Times {
            scheduled_ms: at,
            dispatched_ms: at + 0.1,
            first_token_ms: Some(at + 20.3),
            last_token_ms: Some(at + 28.7),
            ended_ms: at + 30.0,
            ..Times::default()
        },
        status: Some(200),
        response_id: None,
        finish_reason: None,
        marks: Marks {
            at_us: vec![20_200, 28_600],
            tokens: Vec::new(),
        },
        tokens: TokenCounts {
            output: Some(2),
            source: TokenSource::Usage,
            prompt: Some(8),
            frames: 2,
            ..TokenCounts::default()
        },
        wire: WireCounts::default(),
        evidence: None,
    }
}

pub(crate) fn document(requests: Vec<RequestRecord>) -> Document {
    let duration_ms = 1234.5;
    Document {
        format: Format::current(),
        simulated: true,
        started_unix_ms: 1_780_000_000_000.0,
        measured_from_ms: 10.0,
        duration_ms,
        ending: Ending::Completed,
        server: ServerFacts::default(),
        config: RunConfig::default(),
        slots: Slots::default(),
        client: Health::default(),
        notes: Vec::new(),
        server_load: Vec::new(),
        summary: summarize(&requests, duration_ms),
        requests,
        warmup: Vec::new(),
    }
}

pub(crate) fn small() -> Document {
    document(vec![
        record(0, Outcome::Succeeded),
        record(1, Outcome::StreamError),
        record(2, Outcome::Cancelled),
    ])
}

/// The small document with one part of its JSON replaced.
fn altered(pointer: &str, value: serde_json::Value) -> Result<Document, DocumentError> {
    let mut json: serde_json::Value = serde_json::from_str(&small().to_json()).unwrap();
    *json.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    Document::from_json(&json.to_string())
}

fn broken(result: Result<Document, DocumentError>) -> String {
    match result {
        Err(DocumentError::Broken(why)) => why,
        other => panic!("taken for something else: {other:?}"),
    }
}

prop_compose! {
    pub(crate) fn any_record()(
        index in any::<u32>(), lane in any::<u16>(), outcome in 0..Outcome::ALL.len(),
        dispatched in 0.0..1e7, wait in 0.0..1e6, later in 0.0..1e6,
        at_us in prop::collection::vec(any::<u32>(), 0..20), told in any::<bool>(),
        output in prop::option::of(0..10_000_000_u64), prompt in prop::option::of(any::<u64>()),
        message in any::<String>(), code in prop::option::of(any::<String>()),
        bytes in prop::collection::vec(any::<u8>(), 0..40), kept in any::<bool>(),
    ) -> RequestRecord {
        let outcome = Outcome::ALL[outcome];
        let mut record = record(index, outcome);
        record.lane = lane;
        record.asked = told.then_some(crate::request::Asked {
            input_tokens: prompt.map(|tokens| tokens as u32),
            output_tokens: index,
            conversation: kept.then_some(index),
            turn: kept.then_some(1),
        });
        let mut at_us = at_us;
        at_us.sort_unstable();
        record.times.dispatched_ms = dispatched;
        record.times.scheduled_ms = f64::max(dispatched - wait, 0.0);
        (record.times.headers_ms, record.times.first_byte_ms) = (None, None);
        record.times.first_token_ms = Some(dispatched + wait / 3.0);
        record.times.last_token_ms = Some(dispatched + wait);
        record.times.ended_ms = dispatched + wait + later;
        record.marks.tokens = if told { at_us.iter().rev().copied().collect() } else { Vec::new() };
        record.marks.at_us = at_us;
        record.tokens.output = output;
        record.tokens.prompt = prompt;
        if let Some(failure) = &mut record.failure {
            failure.message = message.clone();
            failure.code = code;
        }
        if kept {
            record.evidence = Some(Evidence {
                url: message,
                reads: vec![ReadEvidence { at_ms: wait, bytes }],
                ..Evidence::default()
            });
        }
        record
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn a_document_is_read_back_as_it_was_written(requests in prop::collection::vec(any_record(), 0..12)) {
        let mut requests = requests;
        (0..).zip(&mut requests).for_each(|(index, record)| record.index = index);
        let mut document = document(requests);
        // The window holds its requests.
        document.duration_ms = document.requests.iter().map(|record| record.times.ended_ms).fold(1.0, f64::max);
        document.summary = summarize(&document.requests, document.duration_ms);
        document.client.judge();
        prop_assert_eq!(Document::from_json(&document.to_json()), Ok(document));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,200}", at in 0.0..1.0f64) {
        let _ = Document::from_json(&text);
        let mut json = small().to_json();
        let at = (json.len() as f64 * at) as usize;
        json.insert_str(at, &text);
        let _ = Document::from_json(&json);
    }
}

#[test]
fn a_cut_document_is_recognised_wherever_it_is_cut() {
    let text = small().to_json();
    for end in 1..text.trim_end().len() {
        assert_eq!(
            Document::from_json(&text[..end]),
            Err(DocumentError::Cut { bytes: end })
        );
    }
}

#[test]
fn a_document_has_one_line_per_request() {
    let text = small().to_json();
    assert!(text.starts_with("{\n  \"format\": {\n    \"name\": \"streamgauge\",\n"));
    let lines: Vec<_> = text.lines().filter(|l| l.contains("\"at_us\":[20200,28600]")).collect();
    assert_eq!(lines.len(), 3);
    assert!(text.ends_with("  \"warmup\": []\n}\n"), "{text}");
}

#[test]
fn the_summary_is_recomputed_from_the_requests() {
    let forged = Summary {
        succeeded: 99,
        ..small().summary
    };
    let read = altered("/summary", serde_json::to_value(forged).unwrap()).unwrap();
    assert_eq!(read.summary, small().summary);
}

#[test]
fn what_is_no_result_is_told_from_what_is_a_broken_one() {
    let cases = [
        ("", "empty"),
        ("   ", "empty"),
        ("<html>", "not JSON"),
        ("{} trailing", "not JSON"),
        ("{}", "not a result"),
        ("[]", "not a result"),
        ("3", "not a result"),
        ("null", "not a result"),
        ("{\"format\": \"streamgauge\"}", "not a result"),
        ("{\"format\": {\"name\": \"other\", \"version\": 1}}", "not a result"),
        ("{\"format\": {\"name\": \"streamgauge\"}}", "format.version"),
        (
            "{\"format\": {\"name\": \"streamgauge\", \"version\": -1}}",
            "format.version",
        ),
        (
            "{\"format\": {\"name\": \"streamgauge\", \"version\": 1}}",
            "missing field",
        ),
        (
            "{\"format\": {\"name\": \"streamgauge\", \"version\": 2}}",
            "newer Streamgauge",
        ),
    ];
    for (text, told) in cases {
        let message = Document::from_json(text).unwrap_err().to_string();
        assert!(message.contains(told), "{text}: {message}");
    }
}

#[test]
fn wrong_types_and_huge_numbers_are_errors() {
    for (pointer, value) in [
        ("/requests", json!("many")),
        ("/requests/0/index", json!(1e20)),
        ("/requests/0/index", json!(-1)),
        ("/requests/0/lane", json!(70_000)),
        ("/requests/0/outcome", json!("fine")),
        ("/requests/0/marks/at_us", json!([1, "2"])),
        ("/requests/0/times/ended_ms", json!(null)),
        ("/config/requests", json!([])),
        ("/duration_ms", json!(-1)),
    ] {
        assert!(
            matches!(altered(pointer, value.clone()), Err(DocumentError::Broken(_))),
            "{pointer} {value}"
        );
    }
    let out_of_range = small().to_json().replace("1234.5", "1e999");
    assert!(Document::from_json(&out_of_range).is_err());
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    for depth in [200, 200_000] {
        let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Document::from_json(&nested).is_err());
        let inside = small()
            .to_json()
            .replace("\"extra_body\": {}", &format!("\"extra_body\": {{\"a\":{nested}}}"));
        assert!(inside.len() > nested.len() + 1000);
        assert!(Document::from_json(&inside).is_err());
    }
}

#[test]
fn a_document_that_contradicts_itself_is_refused() {
    assert!(broken(altered("/simulated", json!(false))).contains("simulated"));
    assert!(broken(altered("/requests/1/outcome", json!("succeeded"))).contains("in spite of a failure"));
    assert!(broken(altered("/requests/0/outcome", json!("network"))).contains("does not say why"));
    assert!(broken(altered("/requests/0/times/first_token_ms", json!(null))).contains("without a token"));
    assert!(broken(altered("/requests/0/marks/tokens", json!([1]))).contains("differ in length"));
    assert!(broken(altered("/requests/0/warmup", json!(true))).contains("requests[0]"));
    assert!(broken(altered("/requests/0/times/ended_ms", json!(-5))).contains("before it was dispatched"));
}

#[test]
fn a_document_knows_no_secret() {
    let mut document = small();
    document.simulated = false;
    document.config.endpoint = Endpoint::Http {
        base_url: "https://me:hunter2@host/v1".to_owned(),
    };
    document.config.extra_headers = vec![("Authorization".to_owned(), "Bearer hunter2".to_owned())];
    document
        .config
        .extra_body
        .insert("api_key".to_owned(), "hunter2".into());
    document.server.base_url = "https://me:hunter2@host/v1".to_owned();
    document.slots.lanes = vec!["https://host?api_key=hunter2".to_owned()];
    document.requests[1].evidence = Some(Evidence {
        url: "https://me:hunter2@host/v1/chat/completions".to_owned(),
        request_body: "{\"model\":\"m\",\"api_key\":\"hunter2\"}".to_owned(),
        headers: vec![("set-cookie".to_owned(), "hunter2".to_owned())],
        ..Evidence::default()
    });
    assert_eq!(document.to_json().matches("hunter2").count(), 8);
    let text = document.without_secrets().to_json();
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.contains("https://host/v1/chat/completions") && text.contains(HIDDEN));
}

#[test]
fn a_body_without_secrets_stays_as_it_was_sent() {
    let mut document = small();
    let body = "{ \"model\": \"m\",  \"max_tokens\": 1.0 }";
    document.requests[1].evidence = Some(Evidence {
        request_body: body.to_owned(),
        ..Evidence::default()
    });
    let document = document.without_secrets();
    assert_eq!(document.requests[1].evidence.as_ref().unwrap().request_body, body);
}

#[test]
fn the_markdown_summary_tells_failures_and_simulation_and_no_host() {
    let mut document = small();
    document.server.base_url = "http://secret-host:30000".to_owned();
    document.server.model = "m`| <b>\nx".to_owned();
    let text = markdown(&document);
    assert!(
        text.starts_with("**simulated server** · model `m'| <b> x` · 100 requests, 6 at a time · 3 sent"),
        "{text}"
    );
    assert!(
        text.contains("**1 succeeded, 1 failed (50.0\u{202f}%)** · error in stream 1 · cancelled 1"),
        "{text}"
    );
    assert!(text.contains("| TTFT | 20.2\u{202f}ms |"), "{text}");
    assert!(!text.contains("secret-host"));
    let nothing = markdown(&super::tests::document(Vec::new()));
    assert!(nothing.contains("| TTFT | n/a | n/a |") && !nothing.contains("NaN"));
}

#[test]
fn what_no_run_can_produce_is_refused() {
    for (pointer, value, why) in [
        ("/requests/0/status", json!(500), "status"),
        ("/requests/0/finish_reason", json!("abort"), "aborted"),
        ("/requests/0/times/first_token_ms", json!(-5.0), "out of order"),
        ("/requests/0/times/last_token_ms", json!(1e9), "out of order"),
        ("/requests/0/marks/at_us", json!([9, 3]), "out of order"),
        (
            "/requests/0/tokens/output",
            json!(1_000_000_000_000_000_u64),
            "more tokens",
        ),
        ("/requests/1/index", json!(0), "twice"),
        ("/duration_ms", json!(0.5), "shorter than its requests"),
        ("/started_unix_ms", json!(1e20), "no date"),
    ] {
        let said = broken(altered(pointer, value));
        assert!(said.contains(why), "{pointer}: {said}");
    }
}

#[test]
fn the_clients_verdict_is_judged_anew() {
    let document = altered("/client/hidden_ms", json!(5000.0)).expect("a document");
    assert_ne!(document.client.verdict, crate::health::Verdict::Trustworthy);
}

#[test]
fn a_part_holds_what_ended_in_it_and_parts_add_up_to_the_run() {
    let whole = small();
    let part = |from_ms, to_ms| whole.part(&Window { from_ms, to_ms });
    // The requests end at 30, 40 and 50 ms; the start of a window is in it, its end is not.
    let (early, late) = (part(0.0, 40.0), part(40.0, 60.0));
    let members = |document: &Document| document.requests.iter().map(|r| r.index).collect::<Vec<_>>();
    assert_eq!((members(&early), members(&late)), (vec![0], vec![1, 2]));
    assert_eq!(early.summary.sent + late.summary.sent, whole.summary.sent);
    assert_eq!((late.measured_from_ms, late.duration_ms), (40.0, 20.0));
    assert_eq!((&late.config, late.summary.failed), (&whole.config, 1));
}
