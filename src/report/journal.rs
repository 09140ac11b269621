//! A run that goes on, written down bit by bit, so that what was measured outlives the page.
//!
//! A journal is a list of entries, each a JSON text of its own. What can be read of it gives a result that is marked as
//! interrupted; an entry that cannot be read costs no more than itself.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Document, Ending, Format, LoadSample, Measured, Series, ServerFacts, Slots,
    secrets::{self, without_secrets},
};
use crate::{
    config::{Endpoint, RunConfig, series::Kind},
    health::Health,
    metrics::summarize,
    request::RequestRecord,
};

/// What a result that was pieced together says of itself.
const INTERRUPTED: &str = "The page was closed, reloaded or lost during this run. This is what had been measured by then: requests on the wire at that moment are not in it.";

/// What the last whole run of a series says, if no other had begun.
const BETWEEN: &str =
    "The page was closed, reloaded or lost before the series was over: runs that were to follow are not in it.";

/// One entry.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    /// What was asked for: one run, or a series of them. The first of a journal.
    Asked(Box<RunConfig>),
    /// A run began.
    Began(Box<Began>),
    /// What ended since the last entry.
    Ended(Box<Ended>),
    /// The run is over.
    Over(Box<Over>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Began {
    started_unix_ms: f64,
    config: RunConfig,
    slots: Slots,
    server: ServerFacts,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ended {
    records: Vec<RequestRecord>,
    client: Health,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    server_load: Vec<LoadSample>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Over {
    measured_from_ms: f64,
    duration_ms: f64,
    ending: Ending,
    client: Health,
    notes: Vec<String>,
    /// What the server counted after the run: `(index, tokens)` of measured requests.
    counted: Vec<(u32, u64)>,
}

fn text(entry: &Entry) -> String {
    serde_json::to_string(entry).expect("an entry is always serialisable")
}

/// The first entry: what was asked for. Secrets are hidden in it, as in all that follow.
pub fn asked(config: &RunConfig) -> String {
    text(&Entry::Asked(Box::new(without_secrets(config))))
}

/// A run began.
pub fn began(started_unix_ms: f64, config: &RunConfig, slots: &Slots, server: &ServerFacts) -> String {
    let (mut slots, mut server) = (slots.clone(), server.clone());
    secrets::hide_in_connection(&mut slots, &mut server);
    text(&Entry::Began(Box::new(Began {
        started_unix_ms,
        config: without_secrets(config),
        slots,
        server,
    })))
}

/// Requests that ended, the client's state by then, and what the server told of its load.
pub fn ended(mut records: Vec<RequestRecord>, client: Health, server_load: Vec<LoadSample>) -> String {
    records.iter_mut().for_each(secrets::mask_evidence);
    text(&Entry::Ended(Box::new(Ended {
        records,
        client,
        server_load,
    })))
}

/// The run is over, and its result is this. Its requests are in the entries before; what was counted anew since then is
/// taken from the result.
pub fn over(document: &Document) -> String {
    let counted = document
        .requests
        .iter()
        .filter_map(|record| Some((record.index, record.tokens.retokenized?)))
        .collect();
    text(&Entry::Over(Box::new(Over {
        measured_from_ms: document.measured_from_ms,
        duration_ms: document.duration_ms,
        ending: document.ending,
        client: document.client.clone(),
        notes: document.notes.clone(),
        counted,
    })))
}

/// The run that the entries read so far tell of.
struct Open {
    began: Began,
    records: Vec<RequestRecord>,
    server_load: Vec<LoadSample>,
    client: Health,
    over: Option<Over>,
}

/// What was measured, of the entries of a journal in their order; `None` if nothing was.
///
/// Of a series, the run that was going on comes last, and those before it are whole.
pub fn restore<'a>(entries: impl IntoIterator<Item = &'a str>) -> Option<Measured> {
    let mut asked = None;
    let mut done: Vec<Document> = Vec::new();
    let mut open: Option<Open> = None;
    let mut unread = 0;
    for entry in entries {
        match serde_json::from_str(entry) {
            Ok(Entry::Asked(config)) => asked = Some(*config),
            Ok(Entry::Began(began)) => {
                done.extend(open.take().and_then(|open| document(open, 0)));
                open = Some(Open {
                    began: *began,
                    records: Vec::new(),
                    server_load: Vec::new(),
                    client: Health::default(),
                    over: None,
                });
            }
            Ok(Entry::Ended(ended)) => {
                if let Some(open) = &mut open {
                    open.records.extend(ended.records);
                    open.server_load.extend(ended.server_load);
                    open.client = ended.client;
                }
            }
            Ok(Entry::Over(over)) => {
                if let Some(open) = &mut open {
                    open.over = Some(*over);
                }
            }
            Err(_) => unread += 1,
        }
    }
    done.extend(open.and_then(|open| document(open, unread)));
    let asked = asked?;
    if asked.series.kind == Kind::Single {
        return done.pop().map(|document| Measured::Run(Arc::new(document)));
    }
    if let Some(last) = done.last_mut().filter(|last| last.ending == Ending::Completed) {
        last.notes.push(BETWEEN.to_owned());
    }
    (!done.is_empty()).then(|| {
        let mut series = Series::new(&asked);
        series.points = done;
        Measured::Series(Arc::new(series))
    })
}

/// The result of a run, whole or interrupted; `None` if no measured request of it ended.
fn document(open: Open, unread: usize) -> Option<Document> {
    let Open {
        began,
        records,
        server_load,
        client,
        over,
    } = open;
    let (mut warmup, mut requests): (Vec<_>, Vec<_>) = records.into_iter().partition(|record| record.warmup);
    for records in [&mut warmup, &mut requests] {
        records.sort_by_key(|record| record.index);
        records.dedup_by_key(|record| record.index);
    }
    if requests.is_empty() {
        return None;
    }
    let mut over = over.unwrap_or_else(|| {
        let from = requests.iter().map(|record| record.times.dispatched_ms);
        let measured_from_ms = from.fold(f64::INFINITY, f64::min);
        let to = requests.iter().map(|record| record.times.ended_ms);
        Over {
            measured_from_ms,
            duration_ms: to.fold(measured_from_ms, f64::max) - measured_from_ms,
            ending: Ending::Interrupted,
            client,
            notes: vec![INTERRUPTED.to_owned()],
            counted: Vec::new(),
        }
    });
    if unread > 0 {
        over.notes.push(format!(
            "{unread} entries of this run's journal could not be read; what they held is missing."
        ));
    }
    for (index, tokens) in &over.counted {
        if let Ok(position) = requests.binary_search_by_key(index, |record| record.index) {
            requests[position].tokens.retokenize(*tokens);
        }
    }
    Some(Document {
        format: Format::current(),
        simulated: began.config.endpoint == Endpoint::Simulated,
        started_unix_ms: began.started_unix_ms,
        measured_from_ms: over.measured_from_ms,
        duration_ms: over.duration_ms,
        ending: over.ending,
        server: began.server,
        config: began.config,
        slots: began.slots,
        client: over.client,
        notes: over.notes,
        server_load,
        summary: summarize(&requests, over.duration_ms),
        requests,
        warmup,
    })
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        report::tests::{any_record, document as whole, record},
        request::{Evidence, Outcome},
    };

    /// The journal of a run whose requests ended in batches of that size, without its end.
    fn journal(document: &Document, batch: usize) -> Vec<String> {
        let mut entries = vec![
            asked(&document.config),
            began(
                document.started_unix_ms,
                &document.config,
                &document.slots,
                &document.server,
            ),
        ];
        let records: Vec<RequestRecord> = document.warmup.iter().chain(&document.requests).cloned().collect();
        entries.extend(
            records
                .chunks(batch.max(1))
                .map(|records| ended(records.to_vec(), document.client.clone(), Vec::new())),
        );
        entries
    }

    fn read(entries: &[String]) -> Option<Measured> {
        restore(entries.iter().map(String::as_str))
    }

    fn run(kept: Option<Measured>) -> Document {
        match kept {
            Some(Measured::Run(document)) => Arc::unwrap_or_clone(document),
            other => panic!("no run: {other:?}"),
        }
    }

    fn of(outcomes: &[Outcome]) -> Document {
        whole(
            (0..)
                .zip(outcomes)
                .map(|(index, outcome)| record(index, *outcome))
                .collect(),
        )
    }

    #[test]
    fn what_had_ended_is_restored_and_marked() {
        let document = of(&[Outcome::Succeeded, Outcome::StreamError, Outcome::Succeeded]);
        let mut entries = journal(&document, 1);
        entries.truncate(4);
        let restored = run(read(&entries));
        assert_eq!(restored.ending, Ending::Interrupted);
        assert_eq!((restored.summary.succeeded, restored.summary.failed), (1, 1));
        assert_eq!(restored.requests, document.requests[..2]);
        assert_eq!((restored.measured_from_ms, restored.duration_ms), (0.1, 39.9));
        assert!(restored.notes[0].contains("reloaded"), "{:?}", restored.notes);
        assert_eq!(
            Measured::from_json(&restored.to_json()),
            Ok(Measured::Run(Arc::new(restored))),
            "it is a result like any other"
        );
    }

    #[test]
    fn nothing_measured_is_nothing_kept() {
        let mut document = of(&[]);
        document.warmup = vec![record(0, Outcome::Succeeded)];
        document.warmup[0].warmup = true;
        assert_eq!(read(&journal(&document, 5)), None);
        assert_eq!(read(&[]), None);
        assert_eq!(read(&["no entry".to_owned(), "{}".to_owned()]), None);
    }

    #[test]
    fn an_entry_that_cannot_be_read_costs_itself_alone() {
        let document = of(&[Outcome::Succeeded, Outcome::Succeeded, Outcome::Succeeded]);
        let mut entries = journal(&document, 1);
        let half = entries[3].len() / 2;
        entries[3].truncate(half);
        let restored = run(read(&entries));
        let indexes: Vec<u32> = restored.requests.iter().map(|record| record.index).collect();
        assert_eq!(indexes, [0, 2]);
        assert!(restored.notes[1].contains("1 entries"), "{:?}", restored.notes);
    }

    #[test]
    fn a_series_keeps_its_whole_runs_and_the_one_that_was_cut() {
        let mut config = RunConfig::default();
        config.series.kind = Kind::Sweep;
        let (mut first, second) = (
            of(&[Outcome::Succeeded; 3]),
            of(&[Outcome::Succeeded, Outcome::StreamError]),
        );
        first.requests[0].tokens.retokenized = Some(2);
        let mut entries = vec![asked(&config)];
        entries.extend(journal(&first, 2).drain(1..));
        entries.push(over(&first));
        entries.extend(journal(&second, 2).drain(1..));
        let Some(Measured::Series(series)) = read(&entries) else {
            panic!("no series")
        };
        assert_eq!(series.points.len(), 2);
        assert_eq!(
            series.points[0].requests, first.requests,
            "with what the server counted after it"
        );
        assert_eq!(series.points[0].ending, Ending::Completed);
        assert_eq!(series.points[1].ending, Ending::Interrupted);
        assert_eq!(Measured::from_json(&series.to_json()), Ok(Measured::Series(series)));

        let Some(Measured::Series(series)) = read(&entries[..5]) else {
            panic!("no series")
        };
        assert!(
            series.points.len() == 1 && series.points[0].notes == [BETWEEN],
            "cut between two runs"
        );
    }

    #[test]
    fn a_journal_holds_no_secret() {
        let mut document = of(&[Outcome::StreamError]);
        document.simulated = false;
        document.config.endpoint = Endpoint::Http {
            base_url: "https://me:hunter2@host/v1".to_owned(),
        };
        document.config.extra_headers = vec![("Authorization".to_owned(), "Bearer hunter2".to_owned())];
        document.server.base_url = "https://me:hunter2@host/v1".to_owned();
        document.slots.lanes = vec!["https://host?api_key=hunter2".to_owned()];
        document.requests[0].evidence = Some(Evidence {
            url: "https://me:hunter2@host/v1/chat/completions".to_owned(),
            request_body: r#"{"api_key":"hunter2"}"#.to_owned(),
            headers: vec![("set-cookie".to_owned(), "hunter2".to_owned())],
            ..Evidence::default()
        });
        let all = journal(&document, 1).concat();
        assert!(all.contains("https://host/v1") && !all.contains("hunter2"), "{all}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

        #[test]
        fn a_finished_run_is_restored_whole(
            requests in prop::collection::vec(any_record(), 1..12), batch in 1..5_usize, counts in any::<bool>(),
        ) {
            let mut requests = requests;
            (0..).zip(&mut requests).for_each(|(index, record)| record.index = index);
            let mut document = whole(requests);
            document.duration_ms = document.requests.iter().map(|record| record.times.ended_ms).fold(1.0, f64::max);
            let mut entries = journal(&document, batch);
            if counts {
                for record in &mut document.requests {
                    record.tokens.retokenize(7);
                }
            }
            document.summary = summarize(&document.requests, document.duration_ms);
            entries.push(over(&document));
            prop_assert_eq!(read(&entries), Some(Measured::Run(Arc::new(document))));
        }

        #[test]
        fn wherever_a_journal_ends_what_it_tells_is_a_result(
            requests in prop::collection::vec(any_record(), 1..12), entries in 0..14_usize,
        ) {
            let mut requests = requests;
            (0..).zip(&mut requests).for_each(|(index, record)| record.index = index);
            let all = journal(&whole(requests), 1);
            let restored = read(&all[..entries.min(all.len())]);
            prop_assert_eq!(restored.is_some(), entries > 2);
            if let Some(kept) = restored {
                let mut same = Measured::from_json(&kept.to_json()).map_err(|e| TestCaseError::fail(e.to_string()))?;
                if let (Measured::Run(same), Measured::Run(kept)) = (&mut same, &kept) {
                    Arc::make_mut(same).client = kept.client.clone();
                }
                prop_assert_eq!(same, kept);
            }
        }
    }
}
