//! JSON as Python writes it: one value or one per line, with `NaN` and `Infinity`.

use serde_json::{Map, Value};

use super::{By, ImportError, Key, Subject};
use crate::metrics::floor;

/// The objects of a file: a whole JSON object or array, or one object per line. Blank lines are passed over.
pub fn lines(text: &str) -> Result<Vec<Value>, ImportError> {
    let text = text.trim_start_matches('\u{feff}');
    let plain = without_nan(text);
    match serde_json::from_str::<Value>(&plain) {
        Ok(Value::Array(items)) => return Ok(items),
        Ok(value) => return Ok(vec![value]),
        Err(_) if !text.trim_start().starts_with('{') => return Err(ImportError::Unknown),
        Err(_) => {}
    }
    plain
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(i, line)| serde_json::from_str(line).map_err(|error| ImportError::Line(i + 1, error.to_string())))
        .collect()
}

/// `NaN`, `Infinity` and `-Infinity` outside of strings become `null`.
fn without_nan(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !quoted {
            let word = ["NaN", "-Infinity", "Infinity"]
                .into_iter()
                .find(|word| rest.starts_with(word));
            if let Some(word) = word {
                out.push_str("null");
                rest = &rest[word.len()..];
                continue;
            }
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// The statistics of a latency, each with the JSON pointer to it: mean, median, p90, p95, p99.
pub type Names = [(&'static str, &'static str); 5];

/// Puts what another tool tells under its names into a subject.
pub struct Reader<'a> {
    pub map: &'a Map<String, Value>,
    pub subject: Subject,
}

impl<'a> Reader<'a> {
    pub fn new(name: &str, tool: By, value: &'a Value) -> Option<Self> {
        Some(Self {
            map: value.as_object()?,
            subject: Subject {
                name: name.to_owned(),
                tool,
                model: None,
                facts: Vec::new(),
                figures: Default::default(),
                outcomes: None,
                samples: None,
                rates: Vec::new(),
                verdict: None,
                cautions: Vec::new(),
            },
        })
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        self.map.get(key)?.as_f64().filter(|value| value.is_finite())
    }

    pub fn figure(&mut self, key: Key, name: &str) {
        if let Some(value) = self.number(name) {
            self.subject.figures.insert(key, value);
        }
    }

    /// Where a tool keeps the statistics of one latency in an object: those it has under `names`, in ms. A percentile that
    /// `n` values cannot bear is passed over.
    pub fn statistics(&mut self, id: &'static str, by: By, of: Option<&Value>, names: &Names, scale: f64, n: u64) {
        let Some(of) = of else { return };
        for (stat, name) in names.iter().copied() {
            let p = match stat {
                "p90" => 90.0,
                "p95" => 95.0,
                "p99" => 99.0,
                _ => 50.0,
            };
            let value = of.pointer(name).and_then(Value::as_f64);
            if let Some(value) = value.filter(|value| value.is_finite() && n >= floor(p)) {
                self.subject.figures.insert((id, stat, by), value * scale);
            }
        }
    }

    /// A rate or another single figure, wherever it stands.
    pub fn single(&mut self, key: Key, value: Option<&Value>) {
        if let Some(value) = value.and_then(Value::as_f64).filter(|value| value.is_finite()) {
            self.subject.figures.insert(key, value);
        }
    }

    pub fn fact(&mut self, what: &'static str, name: &str) {
        self.fact_of(what, self.map.get(name));
    }

    /// The same of a value that stands deeper.
    pub fn fact_of(&mut self, what: &'static str, value: Option<&Value>) {
        let words = match value {
            None | Some(Value::Null) => return,
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        self.subject.facts.push((what, words));
    }
}
