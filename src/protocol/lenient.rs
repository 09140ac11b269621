//! Readers of JSON values that never fail on a wrong type.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Text of a JSON string as WTF-8: UTF-8 that may also hold lone surrogates, because JSON can escape half a character
/// (`"\ud83d"`) and servers do split characters over two events. Borrowed unless the string has escapes.
pub type Text<'a> = Cow<'a, [u8]>;

/// The text of a value if it is a string.
pub(super) fn string(raw: &RawValue) -> Option<Text<'_>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    if memchr::memchr(b'\\', inner).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let mut de = serde_json::Deserializer::from_str(raw.get());
    // `deserialize_bytes` is serde_json's documented way to accept lone surrogates.
    de.deserialize_bytes(BytesVisitor).ok()
}

/// The text of a value if it is a string, with lone surrogates replaced by U+FFFD.
pub(super) fn plain_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    Some(match string(raw)? {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    })
}

/// The number if the value is one.
pub(super) fn number(raw: &RawValue) -> Option<f64> {
    raw.get().parse().ok().filter(|n: &f64| n.is_finite())
}

/// Whether a value says nothing: `null`, `false`, `0`, `""`, `{}` or `[]`.
pub(super) fn says_nothing(raw: &RawValue) -> bool {
    let text = raw.get();
    let hollow = |open, close| {
        text.strip_prefix(open)
            .and_then(|t| t.strip_suffix(close))
            .is_some_and(|t| t.trim().is_empty())
    };
    matches!(text, "null" | "false" | "\"\"") || number(raw) == Some(0.0) || hollow('{', '}') || hollow('[', ']')
}

/// A count as a server sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    /// A whole number, 0 or more (`5`, and also `5.0`).
    Whole(u64),
    /// Anything else: negative, broken, too large, a string. The JSON as sent.
    Odd(Box<str>),
}

impl Count {
    /// The number, if it is a count at all.
    pub fn whole(&self) -> Option<u64> {
        match self {
            Count::Whole(n) => Some(*n),
            Count::Odd(_) => None,
        }
    }

    pub(super) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text == "null" {
            return None;
        }
        if let Ok(n) = text.parse() {
            return Some(Count::Whole(n));
        }
        match number(raw) {
            Some(n) if n.fract() == 0.0 && (0.0..9e15).contains(&n) => Some(Count::Whole(n as u64)),
            _ => Some(Count::Odd(text.chars().take(40).collect())),
        }
    }
}

/// A struct that is filled key by key.
pub(super) trait Fields<'de>: Default {
    /// Reads the value of `key` from `map`; must consume exactly one value.
    fn field<A: MapAccess<'de>>(&mut self, key: &[u8], map: &mut A) -> Result<(), A::Error>;
}

/// Reads a value that does not matter.
pub(super) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// Lets a visitor read every scalar as "absent".
macro_rules! scalars_are_absent {
    ($absent:expr) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any JSON value")
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($absent)
        }
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($absent)
        }
    };
}

fn fill<'de, T: Fields<'de>, A: MapAccess<'de>>(mut map: A) -> Result<T, A::Error> {
    let mut object = T::default();
    while let Some(Key(key)) = map.next_key()? {
        object.field(&key, &mut map)?;
    }
    Ok(object)
}

/// An object, or nothing if the value is of any other type.
pub(super) struct Maybe<T>(pub Option<T>);

impl<'de, T: Fields<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
        struct MaybeVisitor<T>(PhantomData<T>);
        impl<'de, T: Fields<'de>> Visitor<'de> for MaybeVisitor<T> {
            type Value = Maybe<T>;
            scalars_are_absent!(Maybe(None));
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                fill(map).map(|object| Maybe(Some(object)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Maybe(None))
            }
        }
        de.deserialize_any(MaybeVisitor(PhantomData))
    }
}

/// The objects of an array; anything else counts as an empty one. More than one is rare, so that the usual chunk needs
/// no allocation.
pub(super) struct Several<T> {
    pub first: Option<T>,
    pub rest: Vec<T>,
}

impl<T> Default for Several<T> {
    fn default() -> Self {
        Self {
            first: None,
            rest: Vec::new(),
        }
    }
}

impl<'de, T: Fields<'de>> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
        struct SeveralVisitor<T>(PhantomData<T>);
        impl<'de, T: Fields<'de>> Visitor<'de> for SeveralVisitor<T> {
            type Value = Several<T>;
            scalars_are_absent!(Several::default());
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Several::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut found = Several::default();
                while let Some(Maybe(object)) = seq.next_element::<Maybe<T>>()? {
                    match object {
                        Some(object) if found.first.is_none() => found.first = Some(object),
                        Some(object) => found.rest.push(object),
                        None => {}
                    }
                }
                Ok(found)
            }
        }
        de.deserialize_any(SeveralVisitor(PhantomData))
    }
}

/// An object's key, as bytes: a key may hold lone surrogates too.
struct Key<'a>(Text<'a>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
        de.deserialize_bytes(BytesVisitor).map(Key)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Text<'de>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(bytes))
    }
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(bytes.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn a_string_without_escapes_is_lent() {
        assert!(matches!(string(&raw("\"h\u{e9}\"")), Some(Cow::Borrowed(b"h\xc3\xa9"))));
        assert!(matches!(string(&raw(r#""a\nb""#)), Some(Cow::Owned(_))));
        assert_eq!(string(&raw("5")), None);
    }

    #[test]
    fn a_lone_surrogate_is_text() {
        assert_eq!(string(&raw(r#""\ud83d""#)).unwrap(), b"\xed\xa0\xbd".as_slice());
        assert_eq!(plain_string(&raw(r#""a\ud83d""#)).unwrap().chars().next(), Some('a'));
    }

    #[test]
    fn hollow_values_say_nothing() {
        for hollow in ["null", "false", "0", "0.0", "\"\"", "{}", "{ }", "[]", "[\n]"] {
            assert!(says_nothing(&raw(hollow)), "{hollow}");
        }
        for telling in ["true", "1", "\"x\"", "{\"a\":null}", "[0]", "\" \""] {
            assert!(!says_nothing(&raw(telling)), "{telling}");
        }
    }

    #[test]
    fn only_whole_numbers_are_counts() {
        assert_eq!(Count::read(&raw("5")), Some(Count::Whole(5)));
        assert_eq!(Count::read(&raw("5.0")), Some(Count::Whole(5)));
        assert_eq!(Count::read(&raw("null")), None);
        for odd in ["-1", "5.5", "\"5\"", "1e300", "1e999", "[]", "true"] {
            assert_eq!(Count::read(&raw(odd)), Some(Count::Odd(odd.into())), "{odd}");
        }
    }
}
