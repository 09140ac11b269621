//! How the machine reads a body, event by event.

use super::{Flow, Machine, Meaning, Outcome, ReadEvidence, Rule, Seen, Spec};

/// One event, or one foreign line, as the machine took it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedEvent {
    /// Which read completed it, from 0. What only the end of the body completed has the number of reads.
    pub read: usize,
    /// When that read came, ms since the run began.
    pub at_ms: f64,
    /// Name of the event; empty for most.
    pub name: String,
    /// Its data, or the foreign line.
    pub data: String,
    /// What it meant.
    pub meaning: Meaning,
    /// The verdict that it brought, if it was the first failure.
    pub verdict: Option<(Outcome, Rule)>,
    /// Whether a failure had latched before: it is evidence and counts for nothing.
    pub after_failure: bool,
}

/// Reads kept bytes again, with the same machine. The body of a refused request (status not 2xx) is no event stream:
/// its list is empty.
pub fn explain(spec: Spec, status: u16, content_type: Option<&str>, reads: &[ReadEvidence]) -> Vec<ExplainedEvent> {
    let mut events: Vec<ExplainedEvent> = Vec::new();
    let mut before: Option<(Outcome, Rule)> = None;
    let mut note = |read: usize, at_ms: f64, seen: Seen<'_>| {
        events.push(ExplainedEvent {
            read,
            at_ms,
            name: String::from_utf8_lossy(seen.name).into_owned(),
            data: String::from_utf8_lossy(seen.data).into_owned(),
            meaning: seen.meaning,
            verdict: if before.is_none() { seen.latched } else { None },
            after_failure: before.is_some(),
        });
        before = seen.latched;
    };
    let start_ms = reads.first().map_or(0.0, |read| read.at_ms);
    let mut machine = Machine::new(spec, start_ms);
    machine.headers(status, content_type, start_ms);
    let mut last_ms = start_ms;
    for (index, read) in reads.iter().enumerate() {
        last_ms = read.at_ms;
        if machine.read_observed(&read.bytes, read.at_ms, &mut |seen| note(index, read.at_ms, seen)) == Flow::Complete {
            return events;
        }
    }
    machine.eof_observed(last_ms, &mut |seen| note(reads.len(), last_ms, seen));
    events
}

impl std::fmt::Display for Meaning {
    /// In a few words: `role`, `answer text, finish reason`, `error`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let failure = match self.failure {
            Some(Rule::ErrorKey | Rule::ErrorObject | Rule::ErrorEvent | Rule::ErrorShape | Rule::ErrorBody) => {
                Some("error")
            }
            Some(Rule::AbortFinish | Rule::NanStop) => Some("abort"),
            Some(_) => Some("not readable"),
            None => None,
        };
        let words = [
            (self.foreign, "no event"),
            (self.torn, "cut off"),
            (self.role && !self.is_token(), "role"),
            (self.reasoning, "reasoning text"),
            (self.answer, "answer text"),
            (self.tool, "tool call"),
            (self.finish, "finish reason"),
            (self.usage, "usage"),
            (self.done, "end of stream"),
        ];
        let told = words
            .into_iter()
            .filter_map(|(is, word)| is.then_some(word))
            .chain(failure);
        let told = told.collect::<Vec<_>>().join(", ");
        f.write_str(if told.is_empty() { "nothing" } else { &told })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(texts: &[&str]) -> Vec<ReadEvidence> {
        let read = |(n, text): (usize, &&str)| ReadEvidence {
            at_ms: n as f64 * 10.0,
            bytes: text.as_bytes().to_vec(),
        };
        texts.iter().enumerate().map(read).collect()
    }

    #[test]
    fn each_event_is_told_with_its_read_and_the_verdict_it_brought() {
        let reads = reads(&[
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
            "data: {\"error\":\"x\"}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n",
            "{\"a\":1}\ndata: {\"usage\":{\"completion_tokens\":2}}",
        ]);
        let told = explain(Spec::default(), 200, None, &reads);
        let short: Vec<_> = told
            .iter()
            .map(|event| (event.read, event.meaning.to_string(), event.after_failure))
            .collect();
        let expected = [
            (0, "role", false),
            (0, "answer text", false),
            (1, "error", false),
            (1, "nothing", true),
            (2, "no event", true),
            (3, "usage", true),
        ];
        assert_eq!(
            short,
            expected.map(|(read, words, after)| (read, words.to_owned(), after))
        );
        let verdicts: Vec<_> = told.iter().map(|event| event.verdict).collect();
        assert_eq!(verdicts[2], Some((Outcome::StreamError, Rule::ErrorKey)));
        assert_eq!(verdicts.iter().flatten().count(), 1);
    }

    #[test]
    fn nothing_after_done_is_told() {
        let told = explain(
            Spec::default(),
            200,
            None,
            &reads(&["data: [DONE]\n\ndata: x\n\n", "data: y\n\n"]),
        );
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].meaning.to_string(), "end of stream");
    }

    #[test]
    fn the_body_of_a_refused_request_has_no_events() {
        assert_eq!(
            explain(Spec::default(), 503, None, &reads(&["data: {\"error\":\"x\"}\n\n"])),
            []
        );
    }
}
