//! What the list of kept runs shows of each without reading it.

use serde::{Deserialize, Serialize};

use super::{Document, Ending, Measured, format, load_words};
use crate::{config::series, health::Verdict};

/// A kept result in the list: what a person says of it, and what it says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its key, of this browser alone.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What the person wrote to it.
    #[serde(default)]
    pub note: String,
    /// Words to find it by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether it stays when all others are deleted.
    #[serde(default)]
    pub pinned: bool,
    /// Length of its JSON document, bytes.
    pub bytes: u64,
    /// What it says of itself.
    pub facts: Facts,
}

/// A result in a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// When it began, ms since the Unix epoch.
    pub started_unix_ms: f64,
    /// Whether the server was the simulated one.
    pub simulated: bool,
    /// Model asked for; empty if the server chose.
    pub model: String,
    /// Base URL of the server.
    pub server: String,
    /// What was asked, in words.
    pub load: String,
    /// Its runs: 1, or those of a series.
    pub runs: u32,
    /// How the last of them ended.
    pub ending: Ending,
    /// The worst verdict of the client on itself.
    pub verdict: Verdict,
    /// Successes of all runs.
    pub succeeded: u64,
    /// Failures of all runs.
    pub failed: u64,
    /// Output tokens of successes per second, of the best run.
    pub output_throughput: Option<f64>,
    /// Median time to first token, ms, of one run; absent for a series.
    pub ttft_ms: Option<f64>,
}

impl Facts {
    /// Those of a result; `None` if there is no run in it.
    pub fn of(kept: &Measured) -> Option<Self> {
        let runs = kept.runs();
        let (first, last) = (runs.first()?, runs.last()?);
        let sum = |count: fn(&Document) -> u32| runs.iter().map(|run| u64::from(count(run))).sum();
        let throughputs = runs.iter().filter_map(|run| run.summary.output_throughput);
        let (load, ttft_ms) = match kept {
            Measured::Run(document) => (load_words(&document.config), document.summary.ttft_ms.p50),
            Measured::Series(series) => (series_words(series.config.series.kind).to_owned(), None),
        };
        Some(Self {
            started_unix_ms: first.started_unix_ms,
            simulated: runs.iter().any(|run| run.simulated),
            model: first.server.model.clone(),
            server: first.server.base_url.clone(),
            load,
            runs: runs.len() as u32,
            ending: last.ending,
            verdict: runs.iter().map(|run| run.client.verdict).max().unwrap_or_default(),
            succeeded: sum(|run| run.summary.succeeded),
            failed: sum(|run| run.summary.failed),
            output_throughput: throughputs.reduce(f64::max),
            ttft_ms,
        })
    }

    /// The figures that matter first, in a line.
    pub fn words(&self) -> String {
        let failed = match self.failed {
            0 => "none failed".to_owned(),
            failed => format!(
                "{} failed ({})",
                format::count(failed),
                format::percent(Some(failed as f64 / (self.succeeded + failed) as f64))
            ),
        };
        let mut words = vec![self.load.clone()];
        if self.runs > 1 {
            words.push(format!("{} runs", self.runs));
        }
        let at_best = if self.runs > 1 { "at best " } else { "" };
        words.push(format!(
            "{at_best}{}",
            format::with_unit(self.output_throughput, "tok/s")
        ));
        if self.ttft_ms.is_some() {
            words.push(format!("TTFT {}", format::millis(self.ttft_ms)));
        }
        words.push(format!("{} succeeded", format::count(self.succeeded)));
        words.push(failed);
        words.join(" · ")
    }
}

/// What several runs are, in a word or two.
pub fn series_words(kind: series::Kind) -> &'static str {
    match kind {
        series::Kind::Search => "Search for the highest load",
        series::Kind::Abba => "Two endpoints in turn",
        series::Kind::Single | series::Kind::Sweep => "Sweep",
    }
}

impl Entry {
    /// Whether each word of a query stands in it: in its name, note, tags, model, server or load.
    pub fn matches(&self, query: &str) -> bool {
        let facts = &self.facts;
        let marks = [
            ("simulated", facts.simulated),
            ("interrupted", facts.ending == Ending::Interrupted),
            ("pinned", self.pinned),
            ("failed", facts.failed > 0),
        ];
        let marks = marks.iter().filter(|(_, is)| *is).map(|(mark, _)| *mark);
        let texts = [&self.name, &self.note, &facts.model, &facts.server, &facts.load];
        let texts = texts.into_iter().chain(&self.tags).map(String::as_str).chain(marks);
        let all = texts.collect::<Vec<_>>().join("\n").to_lowercase();
        query.to_lowercase().split_whitespace().all(|word| all.contains(word))
    }
}

/// The tags that a person typed: parted by commas, without blanks around them, none twice.
pub fn tags(typed: &str) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in typed.split(',').map(str::trim).filter(|tag| !tag.is_empty()) {
        if !tags.iter().any(|there| there == tag) {
            tags.push(tag.to_owned());
        }
    }
    tags
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        config::RunConfig,
        report::{
            Series,
            tests::{document, record, small},
        },
        request::Outcome,
    };

    fn entry(kept: &Measured) -> Entry {
        Entry {
            id: "1".into(),
            name: "Before the update".into(),
            note: "with chunked prefill".into(),
            tags: tags(" h100, baseline ,, h100"),
            pinned: false,
            bytes: 10,
            facts: Facts::of(kept).expect("facts"),
        }
    }

    #[test]
    fn a_run_in_a_line() {
        let facts = entry(&Measured::Run(Arc::new(small()))).facts;
        assert_eq!((facts.succeeded, facts.failed, facts.runs), (1, 1, 1));
        let words = facts.words();
        assert!(
            words.starts_with("100 requests, 6 at a time · ")
                && words.ends_with("1 succeeded · 1 failed (50.0\u{202f}%)"),
            "{words}"
        );
        assert!(words.contains("TTFT 20.2\u{202f}ms"), "{words}");
    }

    #[test]
    fn a_series_sums_its_runs_and_shows_the_best() {
        let mut config = RunConfig::default();
        config.series.kind = series::Kind::Sweep;
        let mut series = Series::new(&config);
        series.points = vec![
            small(),
            document(vec![record(0, Outcome::Succeeded), record(1, Outcome::Succeeded)]),
        ];
        let facts = entry(&Measured::Series(Arc::new(series))).facts;
        assert_eq!(
            (facts.succeeded, facts.failed, facts.runs, facts.ttft_ms),
            (3, 1, 2, None)
        );
        assert!(
            facts.words().starts_with("Sweep · 2 runs · at best "),
            "{}",
            facts.words()
        );
        assert_eq!(Facts::of(&Measured::Series(Arc::new(Series::new(&config)))), None);
    }

    #[test]
    fn an_entry_is_found_by_what_stands_in_it() {
        let entry = entry(&Measured::Run(Arc::new(small())));
        assert_eq!(entry.tags, ["h100", "baseline"]);
        for (query, found) in [
            ("", true),
            ("UPDATE", true),
            ("h100 prefill", true),
            ("simulated failed", true),
            ("at a time", true),
            ("pinned", false),
            ("h100 a100", false),
        ] {
            assert_eq!(entry.matches(query), found, "{query}");
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let entry = entry(&Measured::Run(Arc::new(small())));
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
    }
}
