//! Bytes → the JSON values in them: the elements of one array, or one value a line.

/// A value longer than this is no prompt.
pub const MAX_VALUE: usize = 32 << 20;

/// What the splitter came upon.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A whole value and the line on which it begins, from 1.
    Value(u64, &'a [u8]),
    /// A value that is longer than [`MAX_VALUE`]; it is passed over.
    TooLong(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Unknown,
    Lines,
    Array,
}

/// Finds the values; the bytes may be cut anywhere.
#[derive(Debug)]
pub struct Splitter {
    layout: Layout,
    buffer: Vec<u8>,
    line: u64,
    value_line: u64,
    bom: u8,
    depth: u32,
    in_string: bool,
    escaped: bool,
    too_long: bool,
    closed: bool,
}

impl Default for Splitter {
    fn default() -> Self {
        Self {
            layout: Layout::Unknown,
            buffer: Vec::new(),
            line: 1,
            value_line: 1,
            bom: 0,
            depth: 0,
            in_string: false,
            escaped: false,
            too_long: false,
            closed: false,
        }
    }
}

impl Splitter {
    /// Whether the values are the elements of one array.
    pub fn is_array(&self) -> bool {
        self.layout == Layout::Array
    }

    /// Reads on.
    pub fn read(&mut self, bytes: &[u8], mut act: impl FnMut(Piece<'_>)) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            match self.layout {
                Layout::Unknown => {
                    rest = after;
                    self.begin(byte);
                }
                Layout::Lines => {
                    let end = memchr::memchr(b'\n', rest);
                    self.keep(&rest[..end.unwrap_or(rest.len())]);
                    rest = end.map_or(&[][..], |end| &rest[end + 1..]);
                    if end.is_some() {
                        self.hand_over(&mut act);
                        self.line += 1;
                        self.value_line = self.line;
                    }
                }
                Layout::Array => {
                    rest = after;
                    self.in_array(byte, &mut act);
                }
            }
        }
    }

    /// The end of the file. The line of a value that is cut off, if one is.
    pub fn end(&mut self, mut act: impl FnMut(Piece<'_>)) -> Option<u64> {
        match self.layout {
            Layout::Lines => {
                self.hand_over(&mut act);
                None
            }
            Layout::Array if !self.closed => Some(if self.buffer.is_empty() {
                self.line
            } else {
                self.value_line
            }),
            _ => None,
        }
    }

    fn begin(&mut self, byte: u8) {
        match byte {
            0xef if self.bom == 0 => self.bom = 1,
            0xbb if self.bom == 1 => self.bom = 2,
            0xbf if self.bom == 2 => self.bom = 3,
            b'\n' => {
                self.line += 1;
                self.value_line = self.line;
            }
            b' ' | b'\t' | b'\r' => {}
            b'[' => self.layout = Layout::Array,
            other => {
                self.layout = Layout::Lines;
                self.buffer.push(other);
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.too_long || self.buffer.len() + bytes.len() > MAX_VALUE {
            self.too_long = true;
            self.buffer = Vec::new();
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    fn hand_over(&mut self, act: &mut impl FnMut(Piece<'_>)) {
        if std::mem::take(&mut self.too_long) {
            act(Piece::TooLong(self.value_line));
        } else {
            let value = self.buffer.trim_ascii();
            if !value.is_empty() {
                act(Piece::Value(self.value_line, value));
            }
        }
        self.buffer.clear();
    }

    fn in_array(&mut self, byte: u8, act: &mut impl FnMut(Piece<'_>)) {
        if byte == b'\n' {
            self.line += 1;
        }
        if self.closed {
            return;
        }
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            self.keep(&[byte]);
            return;
        }
        match byte {
            b',' | b']' if self.depth == 0 => {
                self.hand_over(act);
                self.closed = byte == b']';
                return;
            }
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        if self.buffer.is_empty() && !self.too_long {
            if byte.is_ascii_whitespace() {
                return;
            }
            self.value_line = self.line;
        }
        self.keep(&[byte]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &[u8], piece: usize) -> (Vec<(u64, String)>, Option<u64>) {
        let mut splitter = Splitter::default();
        let mut values = Vec::new();
        let mut act = |piece: Piece<'_>| match piece {
            Piece::Value(line, bytes) => values.push((line, String::from_utf8_lossy(bytes).into_owned())),
            Piece::TooLong(line) => values.push((line, "too long".into())),
        };
        for bytes in text.chunks(piece) {
            splitter.read(bytes, &mut act);
        }
        let cut = splitter.end(&mut act);
        (values, cut)
    }

    #[test]
    fn lines_with_every_kind_of_end_and_a_mark_before_them() {
        let text = b"\xef\xbb\xbf{\"a\":1}\r\n\r\n  {\"b\":\"}\\\"\"}\n{\"c\":3}";
        for piece in [1, 2, 3, 7, 100] {
            let (values, cut) = split(text, piece);
            let lines: Vec<_> = values.iter().map(|(line, value)| (*line, &**value)).collect();
            assert_eq!(lines, [(1, r#"{"a":1}"#), (3, r#"{"b":"}\""}"#), (4, r#"{"c":3}"#)]);
            assert_eq!(cut, None);
        }
    }

    #[test]
    fn an_array_is_split_at_its_own_commas_alone() {
        let text = b"\xef\xbb\xbf\n[ {\"a\": [1, {\"b\": \"],\\\\\\\"\"}]},\r\n\n {\"c\": 2}, 7 ]\n";
        for piece in [1, 2, 5, 100] {
            let (values, cut) = split(text, piece);
            assert_eq!(values.len(), 3, "{values:?}");
            assert_eq!((values[0].0, values[1].0, &*values[2].1), (2, 4, "7"));
            assert!(serde_json::from_str::<serde_json::Value>(&values[0].1).is_ok());
            assert_eq!(cut, None);
        }
    }

    #[test]
    fn a_cut_array_is_told_with_the_line_of_what_is_cut() {
        assert_eq!(
            split(b"[{\"a\":1},\n{\"b\":", 4),
            (vec![(1, "{\"a\":1}".into())], Some(2))
        );
        assert_eq!(split(b"[\n{\"a\":1}\n", 4).1, Some(2));
        assert_eq!(split(b"", 4), (vec![], None));
    }

    #[test]
    fn what_is_too_long_is_passed_over() {
        let mut text = b"{\"a\":1}\n".to_vec();
        text.resize(text.len() + MAX_VALUE + 1, b'x');
        text.extend_from_slice(b"\n{\"b\":2}\n");
        let (values, _) = split(&text, 1 << 16);
        assert_eq!(values[1], (2, "too long".into()));
        assert_eq!((values.len(), values[2].0), (3, 3));
    }
}
