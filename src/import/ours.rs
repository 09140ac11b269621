//! Results of this page. Where there are records, the figures by SGLang's definitions come along, so that a line of its client
//! can be compared with them.

use std::collections::BTreeMap;

use super::{By, Key, Subject};
use crate::{
    metrics::{Distribution, Samples, floor, samples, sglang},
    report::{Document, DocumentError, Ending, Measured, link::Snapshot, load_words},
};

pub fn read(name: &str, text: &str) -> Result<Vec<Subject>, DocumentError> {
    Measured::from_json(text).map(|measured| Subject::of_measured(name, &measured))
}

impl Subject {
    /// The runs of a result, each as a subject.
    pub fn of_measured(name: &str, measured: &Measured) -> Vec<Self> {
        match measured {
            Measured::Run(document) => vec![Self::of(name, document)],
            Measured::Series(series) => (1..)
                .zip(&series.points)
                .map(|(nth, run)| Self::of(&format!("{name}, run {nth}"), run))
                .collect(),
        }
    }

    /// A result as a subject.
    pub fn of(name: &str, document: &Document) -> Self {
        let config = &document.config;
        let summary = &document.summary;
        let mut cautions = Vec::new();
        match document.ending {
            Ending::Completed => {}
            Ending::StoppedByUser => cautions.push("It was stopped before its end.".to_owned()),
            Ending::Interrupted => cautions.push("It was interrupted.".to_owned()),
        }
        if document.simulated {
            cautions.push("It was simulated, and says nothing about a real server.".to_owned());
        }
        if summary.estimated_token_counts > 0 {
            cautions.push("Some of its token counts are estimates.".to_owned());
        }
        let mut figures = ours(document);
        if !document.requests.is_empty() {
            figures.extend(by_sglang(document));
        }
        let course = document.course();
        let steps = course.tokens.len();
        let whole = steps.saturating_sub(1);
        Self {
            name: name.to_owned(),
            tool: By::Streamgauge,
            model: Some(document.server.model.clone()).filter(|model| !model.is_empty()),
            facts: vec![
                ("API", crate::protocol::api_path(config.api).to_owned()),
                ("load", load_words(config)),
                ("input tokens", config.input_tokens.to_string()),
                ("output tokens", config.output_tokens.to_string()),
                ("workload", format!("{:?}", config.workload.kind).to_lowercase()),
            ],
            figures,
            outcomes: Some((summary.succeeded.into(), summary.failed.into())),
            samples: (!document.requests.is_empty()).then(|| samples(&document.requests)),
            // The last step is shorter than the others.
            rates: course.tokens[..whole]
                .iter()
                .map(|n| n / course.bucket_ms * 1000.0)
                .collect(),
            verdict: Some(document.client.verdict),
            cautions,
        }
    }
}

/// A snapshot of a link: figures, and distributions as far as its sketches tell.
pub fn of_snapshot(name: &str, snapshot: &Snapshot) -> Subject {
    let mut subject = Subject::of(name, &snapshot.document);
    subject.rates = Vec::new();
    if let [ttft_ms, ttfo_ms, tpot_ms, itl_ms, e2e_ms] = snapshot.samples.as_slice() {
        subject.samples = Some(Samples {
            ttft_ms: ttft_ms.clone(),
            ttfo_ms: ttfo_ms.clone(),
            tpot_ms: tpot_ms.clone(),
            itl_ms: itl_ms.clone(),
            e2e_ms: e2e_ms.clone(),
            ..Samples::default()
        });
        subject
            .cautions
            .push("It came by a link: its distributions are within a few per cent.".to_owned());
    }
    subject
}

fn ours(document: &Document) -> BTreeMap<Key, f64> {
    let summary = &document.summary;
    let by = By::Streamgauge;
    let mut figures = BTreeMap::new();
    let mut put = |id, stat, value: Option<f64>| {
        if let Some(value) = value {
            figures.insert((id, stat, by), value);
        }
    };
    put("request_throughput", "", summary.request_throughput);
    put("output_throughput", "", summary.output_throughput);
    put("input_throughput", "", summary.input_throughput);
    put("total_throughput", "", summary.total_throughput);
    put("peak_output_throughput", "", summary.peak_output_throughput);
    put("mean_concurrency", "", summary.mean_concurrency);
    let latencies: [(&'static str, &Distribution); 5] = [
        ("ttft_ms", &summary.ttft_ms),
        ("ttfo_ms", &summary.ttfo_ms),
        ("tpot_ms", &summary.tpot_ms),
        ("itl_ms", &summary.itl_ms),
        ("e2e_ms", &summary.e2e_ms),
    ];
    for (id, d) in latencies {
        put(id, "mean", d.mean);
        put(id, "median", d.p50);
        for (stat, p, value) in [("p90", 90.0, d.p90), ("p95", 95.0, d.p95), ("p99", 99.0, d.p99)] {
            // A percentile that the sample cannot bear is compared with nothing.
            put(id, stat, value.filter(|_| d.n as u64 >= floor(p)));
        }
    }
    figures
}

fn by_sglang(document: &Document) -> BTreeMap<Key, f64> {
    let theirs = sglang::figures(&document.requests, &document.config, document.duration_ms);
    let by = By::Sglang;
    let mut figures = BTreeMap::new();
    for (id, value) in [
        ("request_throughput", theirs.request_throughput),
        ("output_throughput", theirs.output_throughput),
        ("input_throughput", theirs.input_throughput),
        ("total_throughput", theirs.total_throughput),
        ("mean_concurrency", theirs.concurrency),
    ] {
        figures.insert((id, "", by), value);
    }
    for (id, statistics) in [
        ("ttft_ms", &theirs.ttft_ms),
        ("tpot_ms", &theirs.tpot_ms),
        ("itl_ms", &theirs.itl_ms),
        ("e2e_ms", &theirs.e2e_latency_ms),
    ] {
        if statistics.n == 0 {
            continue;
        }
        for (stat, value) in [
            ("mean", statistics.mean),
            ("median", statistics.median),
            ("p90", statistics.p90),
            ("p95", statistics.p95),
            ("p99", statistics.p99),
        ] {
            figures.insert((id, stat, by), value);
        }
    }
    figures
}
