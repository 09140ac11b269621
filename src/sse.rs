//! Bytes → events, by the event-stream rules of the WHATWG HTML standard (section 9.2), for any split of the bytes.
//!
//! Two deviations, both because servers need them:
//! - What stands unfinished at the end of the body is delivered by [`Parser::finish`] (the standard drops it): a stream
//!   may end with `data: [DONE]` and no line end.
//! - Lines that are no field at all are reported as [`Item::Foreign`] (the standard ignores them): a JSON or HTML body
//!   where a stream was due must be seen.
//!
//! An event that lies whole inside one push, with one data line, is borrowed from it; nothing is copied.

use memchr::memchr2;

/// Longest line, and longest event, that is taken: no server has reason to send more.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// An event that has data.
    Event {
        /// The last `event:` of the block; empty if there was none.
        name: &'a [u8],
        /// The data lines, joined by LF.
        data: &'a [u8],
    },
    /// A line that is no field of an event stream.
    Foreign(&'a [u8]),
    /// A line or an event is longer than [`MAX_BYTES`]; nothing follows.
    TooLong,
}

/// The parser's state between two pushes.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// Data of the event so far, where it could not be borrowed.
    data: Vec<u8>,
    name: Vec<u8>,
    has_data: bool,
    /// The last push ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    /// Bytes of a byte-order mark seen at the very start; 3 once that is settled.
    bom_seen: u8,
    too_long: bool,
}

const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];

impl Parser {
    /// Takes the next bytes, in any portions, and tells what they bring.
    pub fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(Item<'_>)) {
        let mut rest = self.skip_bom(bytes);
        // Data of the current event as long as it lies within `bytes`.
        let mut borrowed: Option<&[u8]> = None;
        while !rest.is_empty() && !self.too_long {
            if std::mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                self.too_long = self.line.len() > MAX_BYTES;
                break;
            };
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            self.after_cr = rest[end] == b'\r';
            rest = after;
            if self.line.is_empty() {
                self.take_line(line, &mut borrowed, &mut sink);
            } else {
                // The line began in an earlier push, so its data cannot be borrowed from this one.
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.keep(&mut borrowed);
                let mut inner = None;
                self.take_line(&whole, &mut inner, &mut sink);
                self.keep(&mut inner);
                whole.clear();
                self.line = whole;
            }
            self.too_long |= self.data.len() > MAX_BYTES;
        }
        self.keep(&mut borrowed);
        if self.too_long {
            sink(Item::TooLong);
        }
    }

    /// The body is over: delivers what stands unfinished.
    pub fn finish(&mut self, mut sink: impl FnMut(Item<'_>)) {
        if self.too_long {
            return;
        }
        let mut borrowed = None;
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut borrowed, &mut sink);
        }
        self.dispatch(&mut borrowed, &mut sink);
    }

    fn skip_bom<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut rest = bytes;
        while self.bom_seen < 3 && !rest.is_empty() {
            let seen = self.bom_seen as usize;
            if rest[0] == BOM[seen] {
                self.bom_seen += 1;
                rest = &rest[1..];
            } else {
                // What looked like the start of a mark is the start of a line.
                self.line.extend_from_slice(&BOM[..seen]);
                self.bom_seen = 3;
            }
        }
        rest
    }

    fn take_line<'a>(&mut self, line: &'a [u8], borrowed: &mut Option<&'a [u8]>, sink: &mut impl FnMut(Item<'_>)) {
        if line.is_empty() {
            self.dispatch(borrowed, sink);
            return;
        }
        let colon = memchr::memchr(b':', line);
        let (field, value) = match colon {
            Some(0) => return,
            Some(at) => (
                &line[..at],
                line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..]),
            ),
            None => (line, &line[line.len()..]),
        };
        match field {
            b"data" if self.has_data => {
                self.keep(borrowed);
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
            }
            b"data" => {
                self.has_data = true;
                *borrowed = Some(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"id" | b"retry" => {}
            _ => sink(Item::Foreign(line)),
        }
    }

    /// Copies borrowed data, because the bytes it lies in are about to go or more is to be added.
    fn keep(&mut self, borrowed: &mut Option<&[u8]>) {
        if let Some(data) = borrowed.take() {
            self.data.extend_from_slice(data);
        }
    }

    fn dispatch(&mut self, borrowed: &mut Option<&[u8]>, sink: &mut impl FnMut(Item<'_>)) {
        if std::mem::take(&mut self.has_data) {
            let data = borrowed.take().unwrap_or(&self.data);
            sink(Item::Event { name: &self.name, data });
        }
        self.data.clear();
        self.name.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a parser tells of the pieces, as text: `name|data` for events, `!line` for foreign lines.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut told = Vec::new();
        let mut tell = |item: Item<'_>| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            told.push(match item {
                Item::Event { name, data } => format!("{}|{}", text(name), text(data)),
                Item::Foreign(line) => format!("!{}", text(line)),
                Item::TooLong => "too long".into(),
            });
        };
        let mut parser = Parser::default();
        for piece in pieces {
            parser.push(piece, &mut tell);
        }
        parser.finish(&mut tell);
        told
    }

    const STREAM: &[u8] = b"\xef\xbb\xbf: hello\r\ndata: a\r\n\r\nevent: x\rdata:b\rdata: c\r\rid: 1\nretry: 2\n\n\
        data\n\ndata:  two spaces\n\n{\"error\":1}\nevent: lost\n\ndata: last";
    const TOLD: [&str; 6] = ["|a", "x|b\nc", "|", "| two spaces", "!{\"error\":1}", "|last"];

    #[test]
    fn comments_line_ends_names_and_multi_line_data_follow_the_standard() {
        assert_eq!(read([STREAM]), TOLD);
    }

    #[test]
    fn every_split_of_the_bytes_gives_the_same_events() {
        for at in 0..=STREAM.len() {
            let (head, tail) = STREAM.split_at(at);
            assert_eq!(read([head, tail]), TOLD, "split at {at}");
        }
        assert_eq!(read(STREAM.chunks(1)), TOLD);
        assert_eq!(read(STREAM.chunks(3)), TOLD);
    }

    #[test]
    fn bytes_that_only_begin_like_a_mark_are_a_line() {
        assert_eq!(read([&b"\xef"[..], b"x\n"]), ["!\u{fffd}x"]);
    }

    #[test]
    fn an_event_in_one_push_is_borrowed_from_it() {
        let bytes = b"data: abc\n\n".to_vec();
        let range = bytes.as_ptr_range();
        let mut borrowed = false;
        Parser::default().push(&bytes, |item| {
            if let Item::Event { data, .. } = item {
                borrowed = range.contains(&data.as_ptr());
            }
        });
        assert!(borrowed);
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let chunk = vec![b'x'; MAX_BYTES / 4];
        let told = read(std::iter::repeat_n(&chunk[..], 6));
        assert_eq!(told.first().map(String::as_str), Some("too long"));
    }
}
