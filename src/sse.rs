//! Bytes → events, by the rules of the WHATWG event-stream format, for any split of the bytes.
//!
//! Source: HTML Living Standard, section 9.2.6 *Interpreting an event stream*. Three deviations, each on purpose:
//!
//! 1. **The end flushes.** The standard drops an event that no blank line ends. Servers do end their body with
//!    `data: [DONE]` and nothing behind it, so [`Parser::finish`] hands out what is left, marked [`Event::flushed`].
//! 2. **The terminator ends at its line.** A data line whose text is the parser's terminator (`[DONE]`) is an event of
//!    its own as soon as its line is complete: a client must not wait for a blank line that never comes.
//! 3. **Foreign lines are reported.** The standard ignores a line with an unknown field name. A JSON body, an NDJSON
//!    line or an HTML page sent in place of a stream consists of such lines, so they are handed out as
//!    [`Item::Foreign`] for the caller to judge.
//!
//! `id` and `retry` are read and ignored: nobody reconnects. Data is handed out as bytes; whether it is UTF-8 is the
//! caller's question (the standard would replace what is not, and so hide a server's fault).
//!
//! Cost: each byte is scanned once and copied at most twice. An event that lies whole in one push is not copied at all.

use std::ops::ControlFlow;

/// The longest line, and the longest data of one event, in bytes. No server has reason to send more.
pub const LINE_LIMIT: usize = 16 << 20;

/// One event with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Value of the last `event` field; empty if there was none.
    pub name: &'a [u8],
    /// The data lines, joined by LF.
    pub data: &'a [u8],
    /// Whether the end of the body cut the event off, so that its data may be incomplete.
    pub flushed: bool,
}

/// What the parser hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// An event with data.
    Event(Event<'a>),
    /// A line (without its end) that is neither blank, nor a comment, nor one of the four fields.
    Foreign(&'a [u8]),
}

/// A line, or the data of one event, is longer than [`LINE_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTooLong;

impl std::fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a line is longer than {} MiB", LINE_LIMIT >> 20)
    }
}

impl std::error::Error for LineTooLong {}

/// An incremental event-stream parser. It holds only what an earlier push left unfinished.
#[derive(Debug)]
pub struct Parser {
    /// The unfinished line.
    line: Vec<u8>,
    /// Value of the `event` field of the unfinished event.
    name: Vec<u8>,
    /// Data of the unfinished event, as far as it came with earlier pushes or has several lines.
    data: Vec<u8>,
    /// Whether the unfinished event has a data field (its data may still be empty).
    has_data: bool,
    /// The last byte of the previous push was CR: a LF at the start of the next one belongs to it.
    after_cr: bool,
    /// How many bytes of a byte order mark at the very start have been seen; `None` once the start is over.
    bom: Option<usize>,
    terminator: &'static [u8],
    limit: usize,
}

const BOM: &[u8] = b"\xef\xbb\xbf";

impl Default for Parser {
    fn default() -> Self {
        Self::new()
    }
}

impl Parser {
    /// A parser with the terminator `[DONE]`.
    pub fn new() -> Self {
        Self::with_limit(LINE_LIMIT)
    }

    fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_cr: false,
            bom: Some(0),
            terminator: b"[DONE]",
            limit,
        }
    }

    /// Takes the next bytes and hands out what they complete. When the sink breaks, the rest of the bytes is dropped.
    pub fn push<'a, F>(&mut self, bytes: &'a [u8], sink: &mut F) -> Result<ControlFlow<()>, LineTooLong>
    where
        F: FnMut(Item<'_>) -> ControlFlow<()>,
    {
        let mut rest = self.skip_bom(bytes);
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        // Data of the unfinished event that still lies in `bytes`; `self.data` is empty while there is any.
        let mut lent: Option<&'a [u8]> = None;
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            let (head, tail) = (&rest[..end], &rest[end..]);
            rest = match tail {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                _ => &tail[1..],
            };
            if self.line.len() + head.len() > self.limit {
                return Err(LineTooLong);
            }
            let flow = if self.line.is_empty() {
                match Field::of(head) {
                    Field::Data(value) if !self.has_data && !self.ends_stream(value) => {
                        self.has_data = true;
                        lent = Some(value);
                        ControlFlow::Continue(())
                    }
                    field => self.take(field, &mut lent, sink)?,
                }
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(head);
                let flow = self.take(Field::of(&whole), &mut lent, sink)?;
                whole.clear();
                self.line = whole;
                flow
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        if self.line.len() + rest.len() > self.limit {
            return Err(LineTooLong);
        }
        self.line.extend_from_slice(rest);
        self.own(&mut lent);
        Ok(ControlFlow::Continue(()))
    }

    /// The body has ended: hands out the line and the event that were left unfinished.
    pub fn finish<F>(&mut self, sink: &mut F) -> Result<(), LineTooLong>
    where
        F: FnMut(Item<'_>) -> ControlFlow<()>,
    {
        if let Some(seen) = self.bom.take() {
            self.line.splice(0..0, BOM[..seen].iter().copied());
        }
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() && self.take(Field::of(&line), &mut None, sink)?.is_break() {
            return Ok(());
        }
        if self.has_data {
            let _ = self.dispatch(&mut None, true, sink);
        }
        Ok(())
    }

    fn take<F>(
        &mut self,
        field: Field<'_>,
        lent: &mut Option<&[u8]>,
        sink: &mut F,
    ) -> Result<ControlFlow<()>, LineTooLong>
    where
        F: FnMut(Item<'_>) -> ControlFlow<()>,
    {
        match field {
            Field::Blank if self.has_data => return Ok(self.dispatch(lent, false, sink)),
            Field::Blank => self.name.clear(),
            Field::Name(value) => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            Field::Data(value) if self.ends_stream(value) => {
                if self.has_data && self.dispatch(lent, false, sink).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                let flow = sink(Item::Event(Event {
                    name: &self.name,
                    data: value,
                    flushed: false,
                }));
                self.name.clear();
                return Ok(flow);
            }
            Field::Data(value) => {
                self.own(lent);
                if self.data.len() + usize::from(self.has_data) + value.len() > self.limit {
                    return Err(LineTooLong);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            Field::Foreign(line) => return Ok(sink(Item::Foreign(line))),
            Field::Ignored => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn dispatch<F>(&mut self, lent: &mut Option<&[u8]>, flushed: bool, sink: &mut F) -> ControlFlow<()>
    where
        F: FnMut(Item<'_>) -> ControlFlow<()>,
    {
        let data = lent.take().unwrap_or(&self.data);
        let flow = sink(Item::Event(Event {
            name: &self.name,
            data,
            flushed,
        }));
        self.name.clear();
        self.data.clear();
        self.has_data = false;
        flow
    }

    /// Copies lent data, because it must outlive the push.
    fn own(&mut self, lent: &mut Option<&[u8]>) {
        if let Some(data) = lent.take() {
            self.data.extend_from_slice(data);
        }
    }

    fn ends_stream(&self, value: &[u8]) -> bool {
        value.trim_ascii() == self.terminator
    }

    fn skip_bom<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(mut seen) = self.bom else { return bytes };
        let mut rest = bytes;
        while seen < BOM.len() {
            match rest {
                [] => {
                    self.bom = Some(seen);
                    return rest;
                }
                [byte, tail @ ..] if *byte == BOM[seen] => {
                    seen += 1;
                    rest = tail;
                }
                _ => {
                    self.line.extend_from_slice(&BOM[..seen]);
                    break;
                }
            }
        }
        self.bom = None;
        rest
    }
}

/// One line, read.
enum Field<'a> {
    Blank,
    Data(&'a [u8]),
    Name(&'a [u8]),
    /// A comment, `id` or `retry`.
    Ignored,
    Foreign(&'a [u8]),
}

impl<'a> Field<'a> {
    fn of(line: &'a [u8]) -> Self {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(0) => return Field::Ignored,
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None if line.is_empty() => return Field::Blank,
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => Field::Data(value),
            b"event" => Field::Name(value),
            b"id" | b"retry" => Field::Ignored,
            _ => Field::Foreign(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seen = Vec<(String, String, bool)>;

    /// Parses `reads` and lists events as (name, data, flushed); a foreign line has the name `<foreign>`.
    fn parse(reads: &[&[u8]]) -> Seen {
        let mut seen = Vec::new();
        let mut parser = Parser::new();
        let mut sink = |item: Item<'_>| {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            seen.push(match item {
                Item::Event(e) => (text(e.name), text(e.data), e.flushed),
                Item::Foreign(line) => ("<foreign>".to_owned(), text(line), false),
            });
            ControlFlow::Continue(())
        };
        for read in reads {
            let _ = parser.push(read, &mut sink).unwrap();
        }
        parser.finish(&mut sink).unwrap();
        seen
    }

    /// Parses whole, split at every place, and byte by byte; all must agree.
    fn parse_any(text: &str) -> Seen {
        let bytes = text.as_bytes();
        let whole = parse(&[bytes]);
        for at in 0..=bytes.len() {
            assert_eq!(parse(&[&bytes[..at], &bytes[at..]]), whole, "split at {at} of {text:?}");
        }
        assert_eq!(
            parse(&bytes.chunks(1).collect::<Vec<_>>()),
            whole,
            "byte by byte: {text:?}"
        );
        whole
    }

    fn data(text: &str) -> Vec<String> {
        parse_any(text).into_iter().map(|(_, data, _)| data).collect()
    }

    #[test]
    fn every_line_end_ends_a_line() {
        for end in ["\n", "\r", "\r\n"] {
            assert_eq!(data(&"data: a||data: b||".replace('|', end)), ["a", "b"], "{end:?}");
        }
    }

    #[test]
    fn one_space_after_the_colon_is_not_data() {
        assert_eq!(data("data:a\n\ndata: b\n\ndata:  c\n\n"), ["a", "b", " c"]);
    }

    #[test]
    fn data_lines_are_joined_by_a_line_feed() {
        assert_eq!(data("data: a\ndata\ndata: b\n\n"), ["a\n\nb"]);
    }

    #[test]
    fn an_empty_data_field_still_makes_an_event() {
        assert_eq!(data("data\n\ndata:\n\n: no\n\nid: 1\n\n"), ["", ""]);
    }

    #[test]
    fn a_name_lasts_for_one_event() {
        let seen = parse_any("event: x\n\nevent: a\nevent: b\ndata: 1\n\ndata: 2\n\n");
        assert_eq!(
            seen,
            [("b".into(), "1".into(), false), (String::new(), "2".into(), false)]
        );
    }

    #[test]
    fn comments_id_and_retry_are_ignored() {
        assert_eq!(data(": hi\n\n:\nid: 7\nretry: 1\ndata: a\n: in between\n\n"), ["a"]);
    }

    #[test]
    fn a_byte_order_mark_at_the_start_is_skipped_once() {
        assert_eq!(data("\u{feff}data: a\n\n"), ["a"]);
        assert_eq!(data("\u{feff}\u{feff}data: a\n\n"), ["\u{feff}data: a"]);
    }

    #[test]
    fn a_partial_byte_order_mark_belongs_to_the_line() {
        for split in 0..3 {
            let bytes = b"\xef\xbbdata: a\n\n";
            assert_eq!(parse(&[&bytes[..split], &bytes[split..]])[0].0, "<foreign>");
        }
    }

    #[test]
    fn the_end_flushes_and_says_so() {
        assert_eq!(parse_any("data: a"), [(String::new(), "a".into(), true)]);
        assert_eq!(parse_any("data: a\n"), [(String::new(), "a".into(), true)]);
        assert_eq!(parse_any("data: a\ndata: b"), [(String::new(), "a\nb".into(), true)]);
    }

    #[test]
    fn the_terminator_is_an_event_at_its_own_line() {
        for text in [
            "data: a\n\ndata: [DONE]\n",
            "data: a\ndata:  [DONE] \n\n",
            "data: a\n\ndata:[DONE]",
        ] {
            assert_eq!(parse_any(text).last().unwrap().1.trim(), "[DONE]", "{text:?}");
            assert_eq!(parse_any(text)[0], (String::new(), "a".into(), false), "{text:?}");
        }
        let mut parser = Parser::new();
        let mut done = false;
        let _ = parser.push(b"data: [DONE]\n", &mut |_| {
            done = true;
            ControlFlow::Continue(())
        });
        assert!(done, "no blank line is waited for");
    }

    #[test]
    fn lines_of_no_known_field_are_foreign() {
        let seen = parse_any("{\"error\": \"x\"}\n<html>\nDATA: x\n data: y\n\n");
        assert!(seen.iter().all(|(name, ..)| name == "<foreign>"));
        assert_eq!(seen.len(), 4);
    }

    #[test]
    fn a_sink_that_breaks_gets_nothing_more() {
        let mut count = 0;
        let flow = Parser::new().push(b"data: a\n\ndata: b\n\n", &mut |_| {
            count += 1;
            ControlFlow::Break(())
        });
        assert_eq!((flow, count), (Ok(ControlFlow::Break(())), 1));
    }

    #[test]
    fn an_event_inside_one_push_is_lent_not_copied() {
        let bytes = b": c\ndata: whole\n\n";
        let mut inside = false;
        let _ = Parser::new().push(bytes, &mut |item| {
            let Item::Event(event) = item else { unreachable!() };
            inside = bytes.as_ptr_range().contains(&event.data.as_ptr());
            ControlFlow::Continue(())
        });
        assert!(inside);
    }

    #[test]
    fn a_line_or_an_event_beyond_the_limit_is_refused() {
        let sink = &mut |_: Item<'_>| ControlFlow::Continue(());
        for text in [
            "data: 0123456789",
            "data: 0123456789\n",
            "data: 0123\ndata: 4567\ndata: 890\n",
        ] {
            assert_eq!(
                Parser::with_limit(12).push(text.as_bytes(), sink),
                Err(LineTooLong),
                "{text:?}"
            );
            let mut parser = Parser::with_limit(12);
            assert!(
                text.bytes().any(|b| parser.push(&[b], sink).is_err()),
                "{text:?} byte by byte"
            );
        }
    }
}
