//! What a link carries, in a compact form: arrays instead of names, numbers to a few digits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LinkError, MOST, Row, Snapshot, sketch::Sketch};
use crate::{
    config::{Endpoint, link},
    health::{Health, Verdict},
    metrics::{FailureGroup, OutcomeCounts, Sample, Samples, Summary, Timeline},
    report::{Document, Ending, Format, HIDDEN, ServerFacts, Slots},
    request::{Outcome, Rule},
};

/// More buckets or rows than this are in no link of ours.
const MOST_ROWS: usize = 100_000;

/// A server may tell of any number of prompt tokens, and their sum is shown as it is.
const MOST_FIGURE: f64 = 1e30;

/// How much of a result is put into a link.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Growth of the sketches' buckets; none where it is 0.
    pub factor: f64,
    /// Buckets of the course over time.
    pub buckets: usize,
    /// Failure groups.
    pub groups: usize,
    /// Letters of a text.
    pub letters: usize,
    /// Rows of requests.
    pub rows: usize,
    /// Whether the configuration is in it.
    pub config: bool,
}

#[derive(Serialize, Deserialize)]
pub struct Payload {
    #[serde(rename = "q")]
    config: String,
    #[serde(rename = "t")]
    times: (f64, f64, f64),
    #[serde(rename = "e")]
    ending: Ending,
    #[serde(rename = "i")]
    simulated: bool,
    #[serde(rename = "m")]
    server: (String, String, Option<String>),
    #[serde(rename = "c")]
    slots: (u32, u32),
    #[serde(rename = "v")]
    verdict: (Verdict, Vec<String>),
    #[serde(rename = "n")]
    notes: Vec<String>,
    #[serde(rename = "s")]
    summary: Value,
    #[serde(rename = "o")]
    outcomes: Vec<u32>,
    #[serde(rename = "k")]
    sketches: Vec<Sketch>,
    #[serde(rename = "l")]
    course: Option<Course>,
    #[serde(rename = "g")]
    groups: Vec<Group>,
    #[serde(rename = "r")]
    rows: Option<Rows>,
    #[serde(rename = "x")]
    left_out: Vec<String>,
}

/// The course over time: bucket, ms; tokens; tokens of failures; in flight; outcomes as (bucket, outcome, count).
#[derive(Serialize, Deserialize)]
struct Course(f64, Vec<f64>, Vec<f64>, Vec<f64>, Vec<(u32, u8, u32)>);

/// Outcome, rule, code, pattern, example, count, share, first and last seen, ms.
#[derive(Serialize, Deserialize)]
struct Group(u8, Rule, Option<String>, String, String, u32, f64, f64, f64);

/// A column each: index and dispatch as differences to the row before; times in tenths of a ms; tokens.
#[derive(Default, Serialize, Deserialize)]
struct Rows {
    i: Vec<i64>,
    o: String,
    d: Vec<i64>,
    t: Vec<Option<i64>>,
    e: Vec<Option<i64>>,
    k: Vec<Option<u64>>,
}

impl Payload {
    /// What a link of this detail carries of a result that is to be shared.
    pub fn of(
        document: &Document,
        timeline: &Timeline,
        groups: &[FailureGroup],
        samples: &Samples,
        detail: &Detail,
    ) -> Self {
        let short = |text: &str| cut(text, detail.letters);
        let mut left_out = Vec::new();
        let mut leave = |words: String| left_out.push(words);
        let mut config = String::new();
        if detail.config {
            config = link::to_query(&document.config);
            if config.contains(&encoded_hidden()) {
                let mut hidden = document.config.clone();
                hidden.endpoint = Endpoint::Simulated;
                config = link::to_query(&hidden);
            }
        } else {
            leave("the configuration".to_owned());
        }
        let total = document.requests.len();
        if detail.rows == 0 {
            leave(format!("each of the {total} requests by itself"));
        } else if detail.rows < total {
            leave(format!("{} of {total} requests", total - detail.rows));
        }
        leave("the times of single tokens, and all bytes kept of failures".to_owned());
        if detail.groups < groups.len() {
            leave(format!(
                "{} of {} groups of failures",
                groups.len() - detail.groups,
                groups.len()
            ));
        }
        let mut sketches = Vec::new();
        if detail.factor > 0.0 {
            sketches = latencies(samples)
                .map(|sample| Sketch::of(sample, detail.factor))
                .to_vec();
            let error = (detail.factor - 1.0) / (detail.factor + 1.0);
            leave(format!(
                "single latencies: the distributions are within {:.1} %",
                error * 100.0
            ));
        } else {
            leave("the distributions".to_owned());
        }
        let course = (detail.buckets > 0).then(|| Course::of(timeline, detail.buckets));
        if course.is_none() {
            leave("the course over time".to_owned());
        }
        let client = &document.client;
        Self {
            config,
            times: (
                document.started_unix_ms,
                round(document.measured_from_ms),
                round(document.duration_ms),
            ),
            ending: document.ending,
            simulated: document.simulated,
            server: (
                short(&document.server.base_url),
                short(&document.server.model),
                document.server.owned_by.as_deref().map(short),
            ),
            slots: (document.slots.asked, document.slots.had),
            verdict: (
                client.verdict,
                client.reasons.iter().take(8).map(|reason| short(reason)).collect(),
            ),
            notes: document.notes.iter().take(8).map(|note| short(note)).collect(),
            summary: positional(&document.summary),
            outcomes: Outcome::ALL
                .map(|outcome| document.summary.outcomes.get(outcome.name()).copied().unwrap_or(0))
                .to_vec(),
            sketches,
            course,
            groups: groups
                .iter()
                .take(detail.groups)
                .map(|group| Group::of(group, short))
                .collect(),
            rows: (detail.rows > 0).then(|| Rows::of(document, detail.rows)),
            left_out,
        }
    }

    /// What it leaves out, in words.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The snapshot, if nothing in it is beyond reason.
    pub fn open(self) -> Result<Snapshot, LinkError> {
        let (started_unix_ms, measured_from_ms, duration_ms) = self.times;
        if ![started_unix_ms, measured_from_ms, duration_ms].into_iter().all(sound) {
            return Err(LinkError::Damaged);
        }
        let (mut config, _) = link::from_query(&self.config);
        let (base_url, model, owned_by) = self.server;
        if !self.simulated && config.endpoint == Endpoint::Simulated {
            config.endpoint = Endpoint::Http {
                base_url: HIDDEN.to_owned(),
            };
        }
        let mut summary = from_positional(&self.summary).ok_or(LinkError::Damaged)?;
        if self.outcomes.len() != Outcome::ALL.len() {
            return Err(LinkError::Damaged);
        }
        for (outcome, count) in Outcome::ALL
            .into_iter()
            .zip(&self.outcomes)
            .filter(|(_, count)| **count > 0)
        {
            summary.outcomes.insert(outcome.name().to_owned(), *count);
        }
        let samples: Option<Vec<Sample>> = self.sketches.iter().map(Sketch::sample).collect();
        let samples = samples.filter(|s| matches!(s.len(), 0 | 5)).ok_or(LinkError::Damaged)?;
        let timeline = match self.course {
            Some(course) => Some(course.open(measured_from_ms, duration_ms).ok_or(LinkError::Damaged)?),
            None => None,
        };
        let groups: Option<Vec<FailureGroup>> = self.groups.into_iter().map(Group::open).collect();
        let rows = match self.rows {
            Some(rows) => rows.open().ok_or(LinkError::Damaged)?,
            None => Vec::new(),
        };
        Ok(Snapshot {
            document: Document {
                format: Format::current(),
                simulated: self.simulated,
                started_unix_ms,
                measured_from_ms,
                duration_ms,
                ending: self.ending,
                server: ServerFacts {
                    base_url,
                    model,
                    owned_by,
                    ..ServerFacts::default()
                },
                config,
                slots: Slots {
                    asked: self.slots.0,
                    had: self.slots.1,
                    lanes: Vec::new(),
                },
                client: Health {
                    verdict: self.verdict.0,
                    reasons: self.verdict.1,
                    ..Health::default()
                },
                notes: self.notes,
                server_load: Vec::new(),
                summary,
                requests: Vec::new(),
                warmup: Vec::new(),
            },
            samples,
            timeline,
            groups: groups.ok_or(LinkError::Damaged)?,
            rows,
            left_out: self.left_out,
        })
    }
}

/// The latencies of which there are sketches, in their order.
fn latencies(samples: &Samples) -> [&Sample; 5] {
    [
        &samples.ttft_ms,
        &samples.ttfo_ms,
        &samples.tpot_ms,
        &samples.itl_ms,
        &samples.e2e_ms,
    ]
}

/// [`HIDDEN`] as it stands in a query.
fn encoded_hidden() -> String {
    form_urlencoded::byte_serialize(HIDDEN.as_bytes()).collect()
}

impl Course {
    fn of(timeline: &Timeline, buckets: usize) -> Self {
        let by = timeline.tokens.len().div_ceil(buckets.max(1)).max(1);
        let sums = |values: &[f64]| values.chunks(by).map(|some| round(some.iter().sum())).collect();
        let means = |values: &[f64]| {
            let mean = |some: &[f64]| round(some.iter().sum::<f64>() / some.len() as f64);
            values.chunks(by).map(mean).collect()
        };
        let mut outcomes = Vec::new();
        for (bucket, some) in timeline.outcomes.chunks(by).enumerate() {
            let mut sum = OutcomeCounts::default();
            some.iter().for_each(|counts| sum.merge(counts));
            for (code, outcome) in Outcome::ALL.into_iter().enumerate() {
                if sum.get(outcome) > 0 {
                    outcomes.push((bucket as u32, code as u8, sum.get(outcome)));
                }
            }
        }
        Self(
            timeline.bucket_ms * by as f64,
            sums(&timeline.tokens),
            sums(&timeline.discarded),
            means(&timeline.in_flight),
            outcomes,
        )
    }

    fn open(self, origin_ms: f64, duration_ms: f64) -> Option<Timeline> {
        let Self(bucket_ms, tokens, discarded, in_flight, counted) = self;
        let buckets = tokens.len();
        let numbers = tokens.iter().chain(&discarded).chain(&in_flight);
        let fits = discarded.len() == buckets
            && in_flight.len() == buckets
            && buckets <= MOST_ROWS
            && bucket_ms > 0.0
            && sound(bucket_ms)
            && numbers.copied().all(sound);
        // The buckets must be those of the duration: a chart is as wide as that.
        let covers = buckets as f64 * bucket_ms >= duration_ms * 0.99
            && (buckets as f64 - 1.0) * bucket_ms <= duration_ms * 1.01;
        if !fits || !(covers || buckets == 0) {
            return None;
        }
        let mut outcomes = vec![OutcomeCounts::default(); buckets];
        for (bucket, code, count) in counted {
            let outcome = *Outcome::ALL.get(usize::from(code))?;
            outcomes.get_mut(bucket as usize)?.add_many(outcome, count);
        }
        Some(Timeline {
            origin_ms,
            from_ms: 0.0,
            bucket_ms,
            duration_ms,
            tokens,
            discarded,
            outcomes,
            in_flight,
        })
    }
}

impl Group {
    fn of(group: &FailureGroup, short: impl Fn(&str) -> String) -> Self {
        Self(
            code_of(group.outcome),
            group.rule,
            group.code.as_deref().map(&short),
            short(&group.pattern),
            if group.example == group.pattern {
                String::new()
            } else {
                short(&group.example)
            },
            group.count,
            round(group.share),
            round(group.first_ms),
            round(group.last_ms),
        )
    }

    fn open(self) -> Option<FailureGroup> {
        let Self(outcome, rule, code, pattern, example, count, share, first_ms, last_ms) = self;
        [share, first_ms, last_ms].into_iter().all(sound).then_some(())?;
        Some(FailureGroup {
            outcome: *Outcome::ALL.get(usize::from(outcome))?,
            rule,
            code,
            example: if example.is_empty() { pattern.clone() } else { example },
            pattern,
            count,
            share,
            first_ms,
            last_ms,
            members: Vec::new(),
        })
    }
}

impl Rows {
    fn of(document: &Document, most: usize) -> Self {
        let tenths = |ms: f64| (ms * 10.0).round() as i64;
        let mut rows = Self::default();
        let (mut index, mut at) = (0, 0);
        for record in document.requests.iter().take(most) {
            let dispatched = tenths(record.times.dispatched_ms);
            rows.i.push(i64::from(record.index) - index);
            rows.d.push(dispatched - at);
            (index, at) = (record.index.into(), dispatched);
            rows.o.push(char::from(b'a' + code_of(record.outcome)));
            rows.t.push(crate::metrics::ttft_ms(record).map(tenths));
            rows.e.push(crate::metrics::e2e_ms(record).map(tenths));
            rows.k.push(record.tokens.output);
        }
        rows
    }

    fn open(self) -> Option<Vec<Row>> {
        let n = self.i.len();
        let lengths = [self.o.len(), self.d.len(), self.t.len(), self.e.len(), self.k.len()];
        if n > MOST_ROWS || lengths.iter().any(|length| *length != n) {
            return None;
        }
        let ms = |tenths: i64| tenths as f64 / 10.0;
        let (mut index, mut at) = (0_i64, 0_i64);
        let mut rows = Vec::with_capacity(n);
        for (place, letter) in self.o.bytes().enumerate() {
            index = index.checked_add(self.i[place])?;
            at = at.checked_add(self.d[place])?;
            rows.push(Row {
                index: u32::try_from(index).ok()?,
                outcome: *Outcome::ALL.get(usize::from(letter.checked_sub(b'a')?))?,
                dispatched_ms: ms(at),
                ttft_ms: self.t[place].map(ms),
                e2e_ms: self.e[place].map(ms),
                output_tokens: self.k[place],
            });
        }
        Some(rows)
    }
}

fn code_of(outcome: Outcome) -> u8 {
    Outcome::ALL.iter().position(|o| *o == outcome).unwrap_or(0) as u8
}

fn sound(value: f64) -> bool {
    (0.0..=MOST).contains(&value)
}

/// The text, or its beginning.
fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// To five significant digits.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.4e}").parse().unwrap_or(0.0)
}

/// The figures without their names, in the order of those.
fn positional(summary: &Summary) -> Value {
    let mut value = serde_json::to_value(summary).expect("plain data");
    if let Value::Object(map) = &mut value {
        map.remove("outcomes");
    }
    strip(value)
}

fn strip(value: Value) -> Value {
    match value {
        // An empty sample says nothing but that.
        Value::Object(map) if map.get("n") == Some(&Value::from(0)) => Value::from(0),
        Value::Object(map) => map.into_iter().map(|(_, value)| strip(value)).collect(),
        Value::Number(n) if n.is_f64() => Value::from(round(n.as_f64().unwrap_or(0.0))),
        other => other,
    }
}

fn from_positional(value: &Value) -> Option<Summary> {
    let mut template = serde_json::to_value(Summary::default()).expect("plain data");
    template.as_object_mut()?.remove("outcomes");
    let mut whole = fill(template, value)?;
    whole
        .as_object_mut()?
        .insert("outcomes".to_owned(), Value::Object(Default::default()));
    serde_json::from_value(whole).ok()
}

fn fill(template: Value, value: &Value) -> Option<Value> {
    match (template, value) {
        (Value::Object(map), Value::Array(values)) if map.len() == values.len() => map
            .into_iter()
            .zip(values)
            .map(|((name, template), value)| Some((name, fill(template, value)?)))
            .collect::<Option<serde_json::Map<_, _>>>()
            .map(Value::Object),
        (template @ Value::Object(_), Value::Number(n)) if n.as_u64() == Some(0) => Some(template),
        (Value::Object(_), _) => None,
        (_, Value::Number(n)) => n.as_f64().filter(|n| n.abs() <= MOST_FIGURE).map(|_| value.clone()),
        (_, Value::Null) => Some(Value::Null),
        _ => None,
    }
}
