//! What several runs come to, in words and tables: the same on the page, in a report and in Markdown.

use super::{Document, Ending, Series, format, history::series_words};
use crate::{
    config::series::Kind,
    load::series::{is_other, load_of},
    metrics::goodput,
};

/// A table of formatted cells; the first of each row names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Heads of the columns.
    pub head: Vec<&'static str>,
    /// Rows of as many cells.
    pub rows: Vec<Vec<String>>,
}

impl Series {
    /// Its kind, in words.
    pub fn title(&self) -> &'static str {
        series_words(self.config.series.kind)
    }

    /// What its loads are.
    pub fn load_unit(&self) -> &'static str {
        if self.config.load.is_open() {
            "req/s"
        } else {
            "at a time"
        }
    }

    /// A run's load, or which endpoint it was on.
    pub fn run_name(&self, position: usize, document: &Document) -> String {
        match (self.config.series.kind, load_of(&document.config)) {
            (Kind::Abba, _) => format!(
                "{}: {}",
                if is_other(position) { "B" } else { "A" },
                document.server.base_url
            ),
            (_, load) => load.map_or_else(
                || format::NOT_AVAILABLE.to_owned(),
                |load| format::as_set(load, self.load_unit()),
            ),
        }
    }

    /// What it comes to, in a sentence.
    pub fn finding(&self) -> String {
        let runs = match self.points.len() {
            1 => "1 run".to_owned(),
            n => format!("{} runs", format::count(n as u64)),
        };
        match self.config.series.kind {
            Kind::Search => match self.best() {
                Some(best) => format!(
                    "The highest load at which {} of the requests kept the objectives: {} ({runs}).",
                    format::percent(self.config.series.attainment),
                    format::as_set(best.load, self.load_unit()),
                ),
                None => format!("At no load did enough requests keep the objectives ({runs})."),
            },
            Kind::Abba => format!("{runs}, in the order A, B, B, A: a drift of the machine favours neither endpoint."),
            Kind::Single | Kind::Sweep => runs,
        }
    }

    /// The share of requests that has to keep the objectives, which a search asks for; for a sweep it is only what was typed
    /// last.
    pub fn enough(&self) -> Option<f64> {
        (self.config.series.kind == Kind::Search).then_some(self.config.series.attainment)
    }

    /// A row per run.
    pub fn run_table(&self) -> Table {
        let row = |(position, document): (usize, &Document)| {
            let summary = &document.summary;
            let ended = summary.succeeded + summary.failed;
            let failed = (ended > 0).then(|| f64::from(summary.failed) / f64::from(ended));
            let goodput = goodput(&document.requests, &self.config.slo, document.duration_ms);
            let ending = match document.ending {
                Ending::Completed => "",
                Ending::StoppedByUser => " (stopped)",
                Ending::Interrupted => " (interrupted)",
            };
            vec![
                format!("{}{ending}", self.run_name(position, document)),
                format::with_unit(summary.output_throughput, "tok/s"),
                format::with_unit(summary.request_throughput, "req/s"),
                format::millis(summary.ttft_ms.p50),
                format::millis(summary.tpot_ms.p50),
                format::millis(summary.e2e_ms.p50),
                format::with_unit(goodput.and_then(|goodput| goodput.request_goodput), "req/s"),
                format::percent(goodput.and_then(|goodput| goodput.attainment)),
                format::percent(failed),
            ]
        };
        Table {
            head: vec![
                "run",
                "output",
                "requests",
                "TTFT, median",
                "TPOT, median",
                "E2E, median",
                "goodput",
                "kept objectives",
                "failed",
            ],
            rows: self.points.iter().enumerate().map(row).collect(),
        }
    }

    /// Two endpoints, pair by pair; no rows for any other series.
    pub fn pair_table(&self) -> Table {
        let rows = self.compared().into_iter().map(|figure| {
            let difference = figure.difference;
            let interval = difference.interval.map_or_else(
                || format::NOT_AVAILABLE.to_owned(),
                |(low, high)| format!("{} to {}", format::number(low), format::with_unit(high, figure.unit)),
            );
            let words = if difference.is_told() {
                "a difference"
            } else {
                "may be chance"
            };
            vec![
                figure.name.to_owned(),
                format::with_unit(figure.means.0, figure.unit),
                format::with_unit(figure.means.1, figure.unit),
                format::with_unit(difference.mean, figure.unit),
                interval,
                difference.pairs.to_string(),
                words.to_owned(),
            ]
        });
        Table {
            head: vec!["figure", "A", "B", "B − A", "95 % confidence", "pairs", "finding"],
            rows: rows.collect(),
        }
    }
}
