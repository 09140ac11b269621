//! Several runs together: a sweep, a search, two endpoints in turn.

use serde::{Deserialize, Serialize};

use super::{Document, DocumentError, Format, codec, secrets::without_secrets};
use crate::{
    config::{RunConfig, series::Kind},
    load::series::{is_other, keeps, load_of},
    metrics::{self, Goodput, PairedDifference},
};

/// What a document of several runs calls itself.
pub const SERIES_NAME: &str = "streamgauge-series";

/// Several runs, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What this file is.
    pub format: Format,
    /// What was asked: `config.series` says which runs.
    pub config: RunConfig,
    /// The runs, in the order in which they were made.
    pub points: Vec<Document>,
}

/// One run of a series in a few figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its position among the runs.
    pub position: usize,
    /// Concurrency or requests per second asked.
    pub load: f64,
    /// Output tokens of successes per second.
    pub output_throughput: Option<f64>,
    /// Successes per second.
    pub request_throughput: Option<f64>,
    /// Median time to first token, ms.
    pub ttft_ms: Option<f64>,
    /// Median time per output token, ms.
    pub tpot_ms: Option<f64>,
    /// Median end-to-end latency, ms.
    pub e2e_ms: Option<f64>,
    /// Share of failures in what ended by itself.
    pub failure_share: Option<f64>,
    /// Requests that kept the objectives, if there are any.
    pub goodput: Option<Goodput>,
    /// Whether enough did, as the series asks.
    pub keeps: bool,
}

/// A figure of two endpoints compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What it is.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Mean over the runs of the first endpoint, and of the second, that are in a pair.
    pub means: (f64, f64),
    /// Second − first.
    pub difference: PairedDifference,
}

impl Series {
    /// A series without any run yet.
    pub fn new(config: &RunConfig) -> Self {
        Self {
            format: Format {
                name: SERIES_NAME.to_owned(),
                ..Format::current()
            },
            config: without_secrets(config),
            points: Vec::new(),
        }
    }

    /// JSON for people and programs: one line per setting and per run.
    pub fn to_json(&self) -> String {
        codec::in_lines(&serde_json::to_string(self).expect("a document is always serialisable"))
    }

    /// Whether a file calls itself a series.
    pub fn is_series(text: &str) -> bool {
        codec::check_version(text.trim_start_matches('\u{feff}'), SERIES_NAME) != Err(DocumentError::NotAResult)
    }

    /// Reads a series; each run is checked and its summary recomputed, as that of a document of its own.
    ///
    /// # Errors
    /// As [`Document::from_json`], or if there is no run in it.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let text = text.trim_start_matches('\u{feff}');
        codec::check_version(text, SERIES_NAME)?;
        let mut series: Series = serde_json::from_str(text).map_err(|e| codec::broken(text, &e))?;
        if series.points.is_empty() {
            return Err(DocumentError::Broken("there is no run in it".to_owned()));
        }
        for (position, document) in series.points.iter_mut().enumerate() {
            codec::recompute(document).map_err(|why| DocumentError::Broken(format!("points[{position}]: {why}")))?;
        }
        Ok(series)
    }

    /// The runs that have a load, in order of it.
    pub fn by_load(&self) -> Vec<Point> {
        let mut points: Vec<Point> = self
            .points
            .iter()
            .enumerate()
            .filter_map(|(position, document)| {
                let summary = &document.summary;
                let ended = summary.succeeded + summary.failed;
                Some(Point {
                    position,
                    load: load_of(&document.config)?,
                    output_throughput: summary.output_throughput,
                    request_throughput: summary.request_throughput,
                    ttft_ms: summary.ttft_ms.p50,
                    tpot_ms: summary.tpot_ms.p50,
                    e2e_ms: summary.e2e_ms.p50,
                    failure_share: (ended > 0).then(|| f64::from(summary.failed) / f64::from(ended)),
                    goodput: metrics::goodput(&document.requests, &self.config.slo, document.duration_ms),
                    keeps: keeps(document, &self.config),
                })
            })
            .collect();
        points.sort_by(|a, b| a.load.total_cmp(&b.load));
        points
    }

    /// The highest load at which enough requests kept the objectives and at no lower one too few did.
    pub fn best(&self) -> Option<Point> {
        self.by_load().into_iter().take_while(|point| point.keeps).last()
    }

    /// The figures of two endpoints in pairs (1st and 2nd run, 4th and 3rd …), where every run has them; empty unless the
    /// series is one of two endpoints.
    pub fn compared(&self) -> Vec<Compared> {
        if self.config.series.kind != Kind::Abba {
            return Vec::new();
        }
        type Figure = (&'static str, &'static str, fn(&Document) -> Option<f64>);
        let figures: [Figure; 5] = [
            ("Output throughput", "tok/s", |d| d.summary.output_throughput),
            ("TTFT, median", "ms", |d| d.summary.ttft_ms.p50),
            ("TPOT, median", "ms", |d| d.summary.tpot_ms.p50),
            ("E2E, median", "ms", |d| d.summary.e2e_ms.p50),
            ("Failed", "%", |d| {
                let ended = d.summary.succeeded + d.summary.failed;
                (ended > 0).then(|| 100.0 * f64::from(d.summary.failed) / f64::from(ended))
            }),
        ];
        let of = |(name, unit, figure): Figure| {
            let pairs: Vec<(f64, f64)> = self
                .points
                .chunks_exact(2)
                .enumerate()
                .filter_map(|(i, pair)| {
                    let (first, second) = (figure(&pair[0])?, figure(&pair[1])?);
                    Some(if is_other(2 * i) {
                        (second, first)
                    } else {
                        (first, second)
                    })
                })
                .collect();
            let n = pairs.len() as f64;
            Some(Compared {
                name,
                unit,
                means: (
                    pairs.iter().map(|(a, _)| a).sum::<f64>() / n,
                    pairs.iter().map(|(_, b)| b).sum::<f64>() / n,
                ),
                difference: metrics::paired_difference(&pairs)?,
            })
        };
        figures.into_iter().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::series::SeriesConfig;

    fn sweep(throughputs: &[f64]) -> Series {
        let mut config = RunConfig::default();
        config.series.kind = Kind::Sweep;
        let mut series = Series::new(&config);
        for (i, throughput) in throughputs.iter().enumerate() {
            let mut document = Document::example(RunConfig {
                concurrency: 1 << i,
                ..RunConfig::default()
            });
            document.summary.output_throughput = Some(*throughput);
            series.points.push(document);
        }
        series
    }

    #[test]
    fn a_series_is_read_as_it_was_written() {
        let mut series = sweep(&[1.0, 2.0]);
        for point in &mut series.points {
            codec::recompute(point).unwrap();
        }
        let text = series.to_json();
        assert!(Series::is_series(&text) && Document::from_json(&text) == Err(DocumentError::NotAResult));
        assert_eq!(Series::from_json(&text), Ok(series.clone()));
        assert!(!Series::is_series(&series.points[0].to_json()));
        assert!(matches!(
            Series::from_json(&text[..text.len() / 2]),
            Err(DocumentError::Cut { .. })
        ));
        series.points.clear();
        assert!(matches!(
            Series::from_json(&series.to_json()),
            Err(DocumentError::Broken(_))
        ));
    }

    #[test]
    fn runs_stand_in_order_of_their_load() {
        let mut series = sweep(&[10.0, 20.0, 30.0]);
        series.points.reverse();
        let points = series.by_load();
        let loads: Vec<f64> = points.iter().map(|point| point.load).collect();
        assert_eq!(loads, [1.0, 2.0, 4.0]);
        assert_eq!((points[0].position, points[0].output_throughput), (2, Some(10.0)));
        assert_eq!(points[0].failure_share, None, "nothing ended");
        assert_eq!(series.best(), None, "no objective");
        assert_eq!(series.compared(), []);
    }

    #[test]
    fn pairs_are_the_second_endpoint_less_the_first() {
        let mut series = sweep(&[100.0, 111.0, 112.0, 101.0, 1e9]);
        series.config.series = SeriesConfig {
            kind: Kind::Abba,
            ..SeriesConfig::default()
        };
        let compared = series.compared();
        assert_eq!(compared.len(), 1, "what no run has is not compared");
        assert_eq!(compared[0].means, (100.5, 111.5));
        assert_eq!((compared[0].difference.pairs, compared[0].difference.mean), (2, 11.0));
    }

    #[test]
    fn a_secret_in_the_second_url_is_hidden() {
        let mut config = RunConfig::default();
        config.series.other_url = "http://user:s3cret@b:1/?api_key=s3cret".into();
        let text = Series::new(&config).to_json();
        assert!(!text.contains("s3cret"), "{text}");
    }
}
