//! A response that somebody captured: a bare body, or what `curl -N -i` printed.

use super::{Evidence, Flow, Machine, ReadEvidence, Reading, RequestRecord, Spec, TimeoutKind};

/// A captured response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// HTTP status, if headers were captured.
    pub status: Option<u16>,
    /// Response headers, if captured.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether curl said, below the body, that the transfer broke.
    pub broke: bool,
}

/// How a captured body ended, which the bytes alone do not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CapturedEnd {
    /// Neatly.
    #[default]
    Neat,
    /// The connection broke (curl: `transfer closed with outstanding read data remaining`).
    Broken,
    /// It was given up while nothing more came.
    Silence,
}

impl Captured {
    /// Splits headers from the body where there are any. Interim responses (`100 Continue`, a proxy's `200 Connection
    /// established`) come before the one that counts: the last block of headers is taken.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut captured = Self {
            status: None,
            headers: Vec::new(),
            body: bytes.to_vec(),
            broke: false,
        };
        captured.take_curls_error();
        while captured.body.starts_with(b"HTTP/") {
            let body = &captured.body;
            let ends = [&b"\r\n\r\n"[..], b"\n\n"]
                .into_iter()
                .filter_map(|blank| memchr::memmem::find(body, blank).map(|at| (at, at + blank.len())));
            let (head_end, body_start) = ends.min().unwrap_or((body.len(), body.len()));
            let head = String::from_utf8_lossy(&body[..head_end]).into_owned();
            let mut lines = head.lines();
            let status = lines
                .next()
                .and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
            let Some(status) = status else { break };
            captured.status = Some(status);
            captured.headers = lines
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
                .collect();
            captured.body.drain(..body_start);
        }
        captured
    }

    /// curl writes its own errors (`curl: (18) transfer closed …`) where people copy them along with the body.
    fn take_curls_error(&mut self) {
        let body = self.body.trim_ascii_end();
        let start = memchr::memrchr(b'\n', body).map_or(0, |at| at + 1);
        if body[start..].starts_with(b"curl: (") {
            self.body.truncate(start);
            self.broke = true;
        }
    }

    /// Reads it as one read.
    pub fn read(&self, spec: Spec, end: CapturedEnd) -> Reading {
        let mut machine = Machine::new(spec, 0.0);
        machine.headers(self.status.unwrap_or(200), self.content_type(), 0.0);
        if machine.read(&self.body, 0.0) == Flow::Continue {
            match end {
                _ if self.broke => machine.broken("curl says so", 0.0),
                CapturedEnd::Neat => machine.eof(0.0),
                CapturedEnd::Broken => machine.broken("as captured", 0.0),
                CapturedEnd::Silence => machine.timeout(TimeoutKind::Stall, 0.0),
            }
        }
        machine.finish()
    }

    /// The `Content-Type` header.
    pub fn content_type(&self) -> Option<&str> {
        let header = self
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        header.map(|(_, value)| value.as_str())
    }

    /// The body as kept evidence.
    pub fn as_reads(&self) -> Vec<ReadEvidence> {
        vec![ReadEvidence {
            at_ms: 0.0,
            bytes: self.body.clone(),
        }]
    }
}

impl RequestRecord {
    /// A record from what was read, and from what only the sender knows.
    pub fn of(
        reading: Reading,
        index: u32,
        warmup: bool,
        lane: u16,
        scheduled_ms: f64,
        evidence: Option<Evidence>,
    ) -> Self {
        let mut times = reading.times;
        times.scheduled_ms = scheduled_ms;
        Self {
            index,
            warmup,
            asked: None,
            lane,
            outcome: reading.outcome,
            failure: reading.failure,
            times,
            status: reading.status,
            response_id: reading.response_id,
            finish_reason: reading.finish_reason,
            marks: reading.marks,
            tokens: reading.tokens,
            wire: reading.wire,
            evidence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Outcome;

    const BODY: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n";

    #[test]
    fn what_curl_prints_is_split_into_status_headers_and_body() {
        for line_end in ["\r\n", "\n"] {
            let head = [
                "HTTP/1.1 100 Continue",
                "",
                "HTTP/1.1 503 Service Unavailable",
                "Content-Type: text/event-stream",
                "",
                "",
            ];
            let text = format!("{}{BODY}", head.join(line_end));
            let captured = Captured::parse(text.as_bytes());
            assert_eq!(
                (captured.status, captured.content_type()),
                (Some(503), Some("text/event-stream"))
            );
            assert_eq!(captured.body, BODY.as_bytes());
        }
    }

    #[test]
    fn a_bare_body_is_all_body() {
        let captured = Captured::parse(BODY.as_bytes());
        assert_eq!((captured.status, &captured.body[..]), (None, BODY.as_bytes()));
        assert_eq!(
            captured.read(Spec::default(), CapturedEnd::Neat).outcome,
            Outcome::Succeeded
        );
        assert_eq!(
            captured.read(Spec::default(), CapturedEnd::Broken).outcome,
            Outcome::Truncated
        );
        assert_eq!(
            captured.read(Spec::default(), CapturedEnd::Silence).outcome,
            Outcome::Timeout
        );
    }

    #[test]
    fn curls_own_error_below_the_body_means_that_it_broke() {
        let captured =
            Captured::parse(format!("{BODY}curl: (18) transfer closed with outstanding read data\n").as_bytes());
        assert!(captured.broke && captured.body == BODY.as_bytes());
        assert_eq!(
            captured.read(Spec::default(), CapturedEnd::Neat).outcome,
            Outcome::Truncated
        );
    }

    #[test]
    fn headers_without_a_body_are_an_empty_answer() {
        let captured = Captured::parse(b"HTTP/2 204 \r\nx: y\r\n\r\n");
        assert_eq!((captured.status, captured.body.len()), (Some(204), 0));
    }
}
