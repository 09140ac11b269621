//! Text that is put together from pieces which may split a character.

/// Collects WTF-8 pieces; two halves of an escaped surrogate pair that arrive in two pieces become one character.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wtf8Buffer(Vec<u8>);

impl Wtf8Buffer {
    /// Appends a piece.
    pub fn push(&mut self, piece: &[u8]) {
        let high = lead_of(self.0.last_chunk());
        let low = trail_of(piece.first_chunk());
        if let (Some(high), Some(low)) = (high, low) {
            let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            if let Some(joined) = char::from_u32(code) {
                self.0.truncate(self.0.len() - 3);
                self.0.extend_from_slice(joined.encode_utf8(&mut [0; 4]).as_bytes());
                self.0.extend_from_slice(&piece[3..]);
                return;
            }
        }
        self.0.extend_from_slice(piece);
    }

    /// The bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Replaces all that was collected by `text`.
    pub fn replace(&mut self, text: &[u8]) {
        self.0.clear();
        self.0.extend_from_slice(text);
    }

    /// The text; each half of a character that stayed alone becomes one U+FFFD.
    pub fn into_string(self) -> String {
        String::from_utf8(self.0).unwrap_or_else(|error| {
            let mut text = String::new();
            let mut rest = error.as_bytes();
            while let Err(error) = std::str::from_utf8(rest) {
                let (good, bad) = rest.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(good));
                text.push('\u{fffd}');
                // A surrogate has three bytes, of which the decoder calls each one an error.
                let width = if is_surrogate(bad) {
                    3
                } else {
                    error.error_len().unwrap_or(bad.len())
                };
                rest = &bad[width..];
            }
            text.push_str(&String::from_utf8_lossy(rest));
            text
        })
    }
}

fn is_surrogate(bytes: &[u8]) -> bool {
    matches!(bytes, [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..])
}

fn code_unit([first, second, third]: [u8; 3]) -> Option<u32> {
    (first == 0xED).then(|| 0xD000 | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F))
}

fn lead_of(tail: Option<&[u8; 3]>) -> Option<u32> {
    code_unit(*tail?).filter(|unit| (0xD800..0xDC00).contains(unit))
}

fn trail_of(head: Option<&[u8; 3]>) -> Option<u32> {
    code_unit(*head?).filter(|unit| (0xDC00..0xE000).contains(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: &[&[u8]]) -> String {
        let mut buffer = Wtf8Buffer::default();
        pieces.iter().for_each(|piece| buffer.push(piece));
        buffer.into_string()
    }

    #[test]
    fn two_halves_become_one_character() {
        assert_eq!(joined(&[b"ok \xed\xa0\xbd", b"\xed\xb8\x80."]), "ok \u{1f600}.");
    }

    #[test]
    fn a_half_that_stays_alone_is_replaced_once() {
        assert_eq!(joined(&[b"a\xed\xa0\xbd", b"b"]), "a\u{fffd}b");
        assert_eq!(joined(&[b"\xed\xb8\x80", b"\xed\xa0\xbd"]), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn letters_of_the_same_lead_byte_are_left_alone() {
        assert_eq!(
            joined(&["\u{d55c}".as_bytes(), "\u{ae00}".as_bytes()]),
            "\u{d55c}\u{ae00}"
        );
    }
}
