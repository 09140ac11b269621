//! Token counts as a server sends them.

use serde::de::MapAccess;
use serde_json::value::RawValue;

use super::lenient::{Fields, Lenient, Raw, raw};

/// A figure as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// A whole number, 0 or more.
    Tokens(u64),
    /// Anything else: negative, a fraction, text, beyond 64 bits.
    Nonsense,
}

impl Count {
    /// The number, if it is one.
    pub fn tokens(self) -> Option<u64> {
        match self {
            Count::Tokens(tokens) => Some(tokens),
            Count::Nonsense => None,
        }
    }

    pub(super) fn of(value: Raw<'_>) -> Option<Self> {
        let text = value?.get();
        // `5.0` is a whole number to a JSON writer of another language.
        Some(
            text.strip_suffix(".0")
                .unwrap_or(text)
                .parse()
                .map_or(Self::Nonsense, Self::Tokens),
        )
    }
}

/// A `usage` object. What is absent or null was not told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// `prompt_tokens`
    pub prompt: Option<Count>,
    /// `completion_tokens`, reasoning included
    pub completion: Option<Count>,
    /// `reasoning_tokens`, at the top (SGLang) or in `completion_tokens_details`
    pub reasoning: Option<Count>,
    /// `prompt_tokens_details.cached_tokens`
    pub cached: Option<Count>,
}

impl Usage {
    /// Reads a raw `usage`; `None` if it is no object.
    pub fn of(value: &RawValue) -> Option<Self> {
        if !value.get().starts_with('{') {
            return None;
        }
        serde_json::from_str::<Lenient<UsageFields>>(value.get())
            .ok()
            .map(|Lenient(UsageFields(usage))| usage)
    }

    /// Takes over what a later one tells.
    pub fn update(&mut self, later: Self) {
        self.prompt = later.prompt.or(self.prompt);
        self.completion = later.completion.or(self.completion);
        self.reasoning = later.reasoning.or(self.reasoning);
        self.cached = later.cached.or(self.cached);
    }
}

#[derive(Default)]
struct UsageFields(Usage);

impl<'de> Fields<'de> for UsageFields {
    const KEYS: &'static [&'static str] = &[
        "prompt_tokens",
        "completion_tokens",
        "reasoning_tokens",
        "completion_tokens_details",
        "prompt_tokens_details",
    ];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        let value = raw(map)?;
        match key {
            0 => self.0.prompt = Count::of(value),
            1 => self.0.completion = Count::of(value),
            2 => self.0.reasoning = Count::of(value),
            3 => self.0.reasoning = details(value).reasoning.or(self.0.reasoning),
            _ => self.0.cached = details(value).cached,
        }
        Ok(())
    }
}

#[derive(Default)]
struct Details {
    reasoning: Option<Count>,
    cached: Option<Count>,
}

impl<'de> Fields<'de> for Details {
    const KEYS: &'static [&'static str] = &["reasoning_tokens", "cached_tokens"];

    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error> {
        let count = Count::of(raw(map)?);
        if key == 0 {
            self.reasoning = count;
        } else {
            self.cached = count;
        }
        Ok(())
    }
}

fn details(value: Raw<'_>) -> Details {
    value
        .and_then(|value| serde_json::from_str::<Lenient<Details>>(value.get()).ok())
        .unwrap_or_default()
        .0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(json: &str) -> Option<Usage> {
        Usage::of(serde_json::from_str(json).expect("JSON"))
    }

    #[test]
    fn figures_that_are_none_are_told_from_figures_that_are_absent() {
        let read = usage(
            r#"{"prompt_tokens":-1,"completion_tokens":"5","reasoning_tokens":null,"prompt_tokens_details":{"cached_tokens":3.0}}"#,
        );
        let read = read.expect("an object");
        assert_eq!(
            (read.prompt, read.completion),
            (Some(Count::Nonsense), Some(Count::Nonsense))
        );
        assert_eq!((read.reasoning, read.cached), (None, Some(Count::Tokens(3))));
        assert_eq!(usage("[1]"), None);
        assert_eq!(
            usage(r#"{"completion_tokens":1e400}"#).and_then(|u| u.completion),
            Some(Count::Nonsense)
        );
    }

    #[test]
    fn reasoning_tokens_are_found_where_sglang_and_where_openai_put_them() {
        for json in [
            r#"{"reasoning_tokens":4}"#,
            r#"{"completion_tokens_details":{"reasoning_tokens":4}}"#,
        ] {
            assert_eq!(
                usage(json).expect("an object").reasoning,
                Some(Count::Tokens(4)),
                "{json}"
            );
        }
    }
}
