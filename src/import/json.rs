//! JSON as Python writes it: one value or one per line, with `NaN` and `Infinity`.

use serde_json::{Map, Value};

use super::{By, ImportError, Key, Subject};

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

    pub fn fact(&mut self, what: &'static str, name: &str) {
        let words = match self.map.get(name) {
            None | Some(Value::Null) => return,
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        self.subject.facts.push((what, words));
    }
}
