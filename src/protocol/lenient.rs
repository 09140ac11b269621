//! Reading JSON of unknown servers: typed, without a tree, and without failing on what is not needed.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// A JSON object of which some keys are read. Whatever is no object leaves the default; a repeated key overwrites.
pub trait Fields<'de>: Default {
    /// The keys that are read; all others are skipped.
    const KEYS: &'static [&'static str];

    /// Reads the value of `KEYS[key]`.
    ///
    /// # Errors
    /// Only if the text is no JSON.
    fn field<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<(), A::Error>;
}

/// Makes a [`Fields`] type readable by serde.
#[derive(Debug, Default)]
pub struct Lenient<T>(pub T);

impl<'de, T: Fields<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FieldsVisitor(PhantomData)).map(Self)
    }
}

struct FieldsVisitor<T>(PhantomData<T>);

/// Visitor methods for values that are not of the kind that is read.
macro_rules! anything_else_is {
    ($value:expr) => {
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

impl<'de, T: Fields<'de>> Visitor<'de> for FieldsVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut value = T::default();
        while let Some(key) = map.next_key_seed(KeyOf(T::KEYS))? {
            match key {
                Some(key) => value.field(key, &mut map)?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    anything_else_is!(T::default());
}

/// Finds a key's position without allocating.
struct KeyOf(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KeyOf {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        // As bytes, so that a key with half a surrogate pair is an unknown key and not an error.
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for KeyOf {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|known| known.as_bytes() == key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|known| *known == key))
    }
}

/// A JSON array of which each element is read as `T`; whatever is no array is empty. The usual single element costs
/// no allocation.
#[derive(Debug)]
pub struct Elements<T> {
    /// The first element.
    pub first: Option<T>,
    /// The others.
    pub others: Vec<T>,
}

impl<T> Default for Elements<T> {
    fn default() -> Self {
        Self {
            first: None,
            others: Vec::new(),
        }
    }
}

impl<T> Elements<T> {
    /// All elements.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.others)
    }
}

impl<'de, T: Fields<'de>> Deserialize<'de> for Elements<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ElementsVisitor(PhantomData))
    }
}

struct ElementsVisitor<T>(PhantomData<T>);

impl<'de, T: Fields<'de>> Visitor<'de> for ElementsVisitor<T> {
    type Value = Elements<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Elements::default();
        while let Some(Lenient(element)) = seq.next_element::<Lenient<T>>()? {
            if elements.first.is_none() {
                elements.first = Some(element);
            } else {
                elements.others.push(element);
            }
        }
        Ok(elements)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Elements::default())
    }

    anything_else_is!(Elements::default());
}

/// A value as it stands in the text.
pub type Raw<'a> = Option<&'a RawValue>;

/// Reads a raw value; `null` is nothing.
pub fn raw<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Raw<'de>, A::Error> {
    let value: &RawValue = map.next_value()?;
    Ok((value.get() != "null").then_some(value))
}

/// Whether a raw value brings no text: absent, empty, or of a kind that holds none.
pub fn text_is_empty(value: Raw<'_>) -> bool {
    match value.map(RawValue::get) {
        Some(text) if text.starts_with('"') => text.len() <= 2,
        Some(text) if text.starts_with('[') => raw_text(value).is_none_or(|text| text.is_empty()),
        _ => true,
    }
}

/// The text of a string, or of an array of parts with a `text` each. Bytes and not `str`, because JSON may escape half
/// a surrogate pair: such a half is in it as WTF-8. `None` for every other kind of value.
pub fn raw_text<'a>(value: Raw<'a>) -> Option<Cow<'a, [u8]>> {
    let text = value?.get();
    match text.as_bytes()[0] {
        b'"' if memchr::memchr(b'\\', text.as_bytes()).is_none() => {
            Some(Cow::Borrowed(&text.as_bytes()[1..text.len() - 1]))
        }
        b'"' => serde_json::from_str::<Wtf8>(text)
            .ok()
            .map(|Wtf8(bytes)| Cow::Owned(bytes)),
        b'[' => {
            let parts: Elements<Part<'a>> = serde_json::from_str(text).ok()?;
            let mut joined = Vec::new();
            for part in parts.iter() {
                append_wtf8(&mut joined, &raw_text(part.text).unwrap_or_default());
            }
            Some(Cow::Owned(joined))
        }
        _ => None,
    }
}

#[derive(Default)]
struct Part<'a> {
    text: Raw<'a>,
}

impl<'de: 'a, 'a> Fields<'de> for Part<'a> {
    const KEYS: &'static [&'static str] = &["text"];

    fn field<A: MapAccess<'de>>(&mut self, _: usize, map: &mut A) -> Result<(), A::Error> {
        self.text = raw(map)?;
        Ok(())
    }
}

/// A string with its escapes undone, as WTF-8.
struct Wtf8(Vec<u8>);

impl<'de> Deserialize<'de> for Wtf8 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Wtf8;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Wtf8, E> {
                Ok(Wtf8(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// Appends WTF-8 text and joins a surrogate pair whose halves came apart.
pub fn append_wtf8(text: &mut Vec<u8>, more: &[u8]) {
    if let ([.., 0xed, high @ 0xa0..=0xaf, low6], [0xed, second @ 0xb0..=0xbf, last6, rest @ ..]) = (&text[..], more) {
        let high = 0xd000 | (u32::from(high & 0x3f) << 6) | u32::from(low6 & 0x3f);
        let low = 0xd000 | (u32::from(second & 0x3f) << 6) | u32::from(last6 & 0x3f);
        let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        if let Some(joined) = char::from_u32(code) {
            text.truncate(text.len() - 3);
            text.extend_from_slice(joined.encode_utf8(&mut [0; 4]).as_bytes());
            text.extend_from_slice(rest);
            return;
        }
    }
    text.extend_from_slice(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(json: &str) -> Option<Vec<u8>> {
        let raw: &RawValue = serde_json::from_str(json).expect("JSON");
        raw_text(Some(raw)).map(Cow::into_owned)
    }

    #[test]
    fn text_comes_from_strings_and_from_parts() {
        assert_eq!(text_of(r#""a\nb""#).as_deref(), Some(&b"a\nb"[..]));
        assert_eq!(
            text_of(r#"[{"type":"text","text":"x"},{"type":"image"},7,{"text":"y"}]"#).as_deref(),
            Some(&b"xy"[..])
        );
        assert_eq!(text_of("17"), None);
        assert_eq!(text_of(r#"{"text":"x"}"#), None);
    }

    #[test]
    fn half_a_surrogate_pair_is_text_and_two_halves_join() {
        let mut text = text_of(r#""ok \ud83d""#).expect("a lone half is no error");
        append_wtf8(&mut text, &text_of(r#""\ude00!""#).expect("nor is the other"));
        assert_eq!(String::from_utf8(text).expect("whole again"), "ok 😀!");
    }

    #[test]
    fn emptiness_is_told_without_undoing_escapes() {
        let empty = |json: &str| text_is_empty(Some(serde_json::from_str(json).expect("JSON")));
        assert!(empty("\"\"") && empty("7") && empty("{}") && empty("[]") && text_is_empty(None));
        assert!(!empty("\" \"") && !empty(r#"[{"text":"x"}]"#));
    }
}
