//! The report carries the result, shows it, and runs nothing.

use proptest::prelude::*;

use super::*;
use crate::report::{
    link,
    tests::{any_record, document, record, small},
};

fn all() -> Keep {
    Keep {
        hosts: true,
        prompts: true,
        evidence: true,
    }
}

/// A text that would do harm if it were not taken as text.
const HOSTILE: &str = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \"'& ]]>";

/// The names of the elements in a page, in order, by a reader that knows tags alone.
fn elements(html: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in html.split('<').skip(1) {
        let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
        if !name.is_empty() {
            names.push(name);
        }
    }
    names
}

fn hostile() -> Document {
    let mut document = small();
    document.simulated = false;
    document.config.endpoint = crate::config::Endpoint::Http {
        base_url: format!("http://h/{HOSTILE}"),
    };
    document.config.model = HOSTILE.to_owned();
    document.server.model = HOSTILE.to_owned();
    document.server.base_url = format!("http://h/{HOSTILE}");
    document.notes = vec![HOSTILE.to_owned()];
    let told = serde_json::json!({"version": HOSTILE, HOSTILE: HOSTILE});
    document.server.details = crate::report::ServerDetails::new(None, Some(told)).map(Box::new);
    document.client.reasons = vec![HOSTILE.to_owned()];
    let failed = &mut document.requests[1];
    let failure = failed.failure.as_mut().unwrap();
    (failure.message, failure.code) = (HOSTILE.to_owned(), Some(HOSTILE.to_owned()));
    failed.evidence = Some(crate::request::Evidence {
        url: HOSTILE.to_owned(),
        request_body: HOSTILE.to_owned(),
        headers: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        reads: vec![crate::request::ReadEvidence {
            at_ms: 1.0,
            bytes: HOSTILE.as_bytes().to_vec(),
        }],
        dropped_bytes: 0,
    });
    document
}

#[test]
fn what_a_server_or_a_person_wrote_stays_text() {
    for requests in [true, false] {
        let page = html(&hostile(), &all(), requests);
        let names = elements(&page);
        let harmless = html(&small(), &all(), requests);
        assert_eq!(
            names.iter().filter(|name| *name == "script").count(),
            1,
            "the carried result alone"
        );
        assert!(
            !names
                .iter()
                .any(|name| name == "img" || name == "iframe" || name == "object")
        );
        assert!(!page.contains("<!--") && !page.contains("onerror=alert(2)>"));
        assert_eq!(page.matches("</script").count(), harmless.matches("</script").count());
    }
}

#[test]
fn nothing_is_fetched() {
    let page = html(&small(), &all(), true);
    for word in ["src=", "href=", "url(", "@import", "<link", "<iframe"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_report_shows_the_figures_and_the_charts() {
    let document = document(
        (0..40)
            .map(|i| {
                record(
                    i,
                    if i % 5 == 1 {
                        Outcome::StreamError
                    } else {
                        Outcome::Succeeded
                    },
                )
            })
            .collect(),
    );
    let page = html(&document, &all(), true);
    assert!(page.contains("40 sent = 32 succeeded + 8 "), "outcomes add up");
    assert_eq!(page.matches("<svg").count(), 12);
    assert!(page.contains("The request queue is full."));
    assert!(page.contains("40 of 40; the file itself carries all."));
    assert!(page.contains("2026-05-28 20:26 UTC"));
}

#[test]
fn without_single_requests_a_snapshot_is_carried() {
    let document = document((0..40).map(|i| record(i, Outcome::Succeeded)).collect());
    let page = html(&document, &all(), false);
    assert!(!page.contains("<h2>Requests</h2>"));
    let Some(Embedded::Link(fragment)) = embedded(&page) else {
        panic!("no link is carried")
    };
    let snapshot = link::open(&fragment).unwrap();
    assert_eq!((snapshot.document.summary.sent, snapshot.rows.len()), (40, 0));
}

#[test]
fn a_date_is_that_of_the_calendar() {
    for (unix_s, words) in [
        (0_u32, "1970-01-01 00:00 UTC"),
        (951_782_399, "2000-02-28 23:59 UTC"),
        (951_782_400, "2000-02-29 00:00 UTC"),
        (1_709_251_140, "2024-02-29 23:59 UTC"),
        (1_798_761_599, "2026-12-31 23:59 UTC"),
        (4_107_542_400, "2100-03-01 00:00 UTC"),
    ] {
        assert_eq!(date_utc(f64::from(unix_s) * 1000.0), words);
    }
}

#[test]
fn other_pages_carry_nothing() {
    assert_eq!(embedded(""), None);
    assert_eq!(embedded("<html><script id=\"streamgauge-result\">{"), None);
    let saved = "<script id='streamgauge-result' type='application/json'>{}</script >";
    assert_eq!(embedded(saved), Some(Embedded::Document("{}".to_owned())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_result_comes_out_of_its_report_as_it_went_in(records in prop::collection::vec(any_record(), 0..12)) {
        let before = document(records);
        let page = html(&before, &all(), true);
        let Some(Embedded::Document(json)) = embedded(&page) else {
            panic!("no document is carried")
        };
        let after: serde_json::Value = serde_json::from_str(&json).unwrap();
        let before: serde_json::Value = serde_json::from_str(&before.to_share(&all()).to_json()).unwrap();
        prop_assert_eq!(after, before);
    }
}

fn sweep() -> crate::report::Series {
    let mut series = crate::report::Series::new(&small().config);
    series.config.series.kind = crate::config::series::Kind::Sweep;
    for concurrency in [1, 2, 4] {
        let mut run = hostile();
        run.config.concurrency = concurrency;
        series.points.push(run);
    }
    series
}

#[test]
fn a_report_of_several_runs_shows_each_and_carries_all() {
    let series = sweep();
    let page = series_html(&series, &all());
    let Some(Embedded::Document(json)) = embedded(&page) else {
        panic!("nothing is carried");
    };
    let carried = crate::report::Series::from_json(&json).expect("a series");
    assert_eq!(carried.points.len(), 3);
    for (carried, run) in carried.points.iter().zip(&series.points) {
        assert!(carried.requests == run.requests && carried.summary == run.summary);
    }
    assert_eq!(page.matches("<svg").count(), 4);
    for load in [1.0, 2.0, 4.0] {
        assert!(
            page.contains(&format!(
                "<td>{}</td>",
                crate::report::format::as_set(load, "at a time")
            )),
            "{load}"
        );
    }
    // The one script is data, whatever texts the runs hold.
    assert_eq!(elements(&page).iter().filter(|name| *name == "script").count(), 1);
    assert!(!elements(&page).iter().any(|name| name == "img"));
}

#[test]
fn what_is_not_let_out_is_not_in_a_report_of_several_runs() {
    let mut series = sweep();
    for run in &mut series.points {
        run.server.base_url = "http://secret-host.example:1".to_owned();
        run.server.model = "m".to_owned();
    }
    assert!(!series_html(&series, &Keep::default()).contains("secret-host"));
    let text = crate::report::series_markdown(&series);
    assert!(!text.contains("secret-host"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("| ")).count(), 4);
}
