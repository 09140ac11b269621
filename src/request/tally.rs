//! Tokens of one response: when they came, how many the server says, and whether that can be believed.

use super::{Marks, TokenCounts, TokenSource};
use crate::{
    config::Api,
    protocol::{Count, Usage},
};

/// No model emits more in one answer.
const ABSURD_TOKENS: u64 = 10_000_000;

/// Counts tokens as frames come in.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    marks: Marks,
    usage: Option<Usage>,
    /// `completion_tokens` as of the last frame that brought tokens.
    counted: u64,
    /// Whether every token frame so far told how many tokens there are.
    counts_known: bool,
    last_read: Option<u32>,
    coalesced: u32,
}

impl Tally {
    /// A tally of nothing.
    pub fn new() -> Self {
        Self {
            counts_known: true,
            ..Self::default()
        }
    }

    /// Frames with tokens so far.
    pub fn frames(&self) -> u32 {
        self.marks.at_us.len() as u32
    }

    /// Tokens so far by the server's running count, else frames.
    pub fn so_far(&self) -> u64 {
        if self.counts_known && self.counted > 0 {
            self.counted
        } else {
            self.marks.at_us.len() as u64
        }
    }

    /// Frames that shared their read with an earlier one.
    pub fn coalesced(&self) -> u32 {
        self.coalesced
    }

    /// The last usage that was no null.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// The server told counts.
    pub fn told(&mut self, usage: Usage) {
        match &mut self.usage {
            Some(known) => known.update(usage),
            None => self.usage = Some(usage),
        }
    }

    /// A frame brought tokens; `running` is the cumulative count it told, if it told one.
    pub fn frame(&mut self, read: u32, since_dispatch_ms: f64, running: Option<u64>) {
        // The cast saturates at 71 minutes, beyond every time-out.
        self.marks.at_us.push((since_dispatch_ms * 1000.0).round() as u32);
        if self.last_read == Some(read) {
            self.coalesced += 1;
        }
        self.last_read = Some(read);
        match running.filter(|running| self.counts_known && (self.counted..ABSURD_TOKENS).contains(running)) {
            Some(running) => {
                self.marks.tokens.push((running - self.counted) as u32);
                self.counted = running;
            }
            None => {
                self.counts_known = false;
                self.marks.tokens = Vec::new();
            }
        }
    }

    /// The marks and the counts. `requested`: tokens asked for in all; `body_bytes`: length of the body.
    pub fn finish(self, api: Api, requested: Option<u64>, body_bytes: u64) -> (Marks, TokenCounts) {
        let frames = self.frames();
        let usage = self.usage.unwrap_or_default();
        let suspect = usage
            .completion
            .and_then(|count| doubt(count, requested, frames, body_bytes));
        let told = usage.completion.and_then(Count::tokens);
        let believed = told.filter(|_| suspect.is_none());
        let by_server = if api == Api::Generate {
            TokenSource::Native
        } else {
            TokenSource::Usage
        };
        let (output, source) = match believed {
            Some(tokens) => (Some(tokens), by_server),
            None if frames > 0 => (Some(u64::from(frames)), TokenSource::Frames),
            None => (None, TokenSource::None),
        };
        let counts = TokenCounts {
            output,
            source,
            prompt: usage
                .prompt
                .and_then(Count::tokens)
                .filter(|tokens| *tokens < ABSURD_TOKENS),
            reasoning: usage
                .reasoning
                .and_then(Count::tokens)
                .filter(|tokens| output.is_some_and(|all| *tokens <= all)),
            cached: usage
                .cached
                .and_then(Count::tokens)
                .filter(|tokens| *tokens < ABSURD_TOKENS),
            usage_output: told,
            frames,
            suspect,
        };
        let mut marks = self.marks;
        if counts.suspect.is_some() {
            marks.tokens = Vec::new();
        }
        (marks, counts)
    }
}

/// Why a server's count of output tokens cannot be believed, if so.
fn doubt(count: Count, requested: Option<u64>, frames: u32, body_bytes: u64) -> Option<String> {
    let Count::Tokens(tokens) = count else {
        return Some("usage.completion_tokens is no whole number".into());
    };
    // Servers differ on whether the end-of-sequence token counts; draft tokens may overshoot by a few.
    let most = requested.map_or(ABSURD_TOKENS, |requested| requested + requested / 10 + 16);
    if tokens > most {
        return Some(match requested {
            Some(requested) => format!("usage.completion_tokens is {tokens}, though {requested} were asked for"),
            None => format!("usage.completion_tokens is {tokens}, more than any model emits"),
        });
    }
    if tokens == 0 && frames > 0 {
        return Some(format!(
            "usage.completion_tokens is 0, though {frames} frames brought tokens"
        ));
    }
    // Tokens may be invisible (reasoning that is not sent), but a body of a few bytes cannot stand for thousands.
    if requested.is_none() && tokens > 100_000 && tokens / 1000 > body_bytes {
        return Some(format!(
            "usage.completion_tokens is {tokens} for a body of {body_bytes} bytes"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(completion: Count) -> Usage {
        Usage {
            completion: Some(completion),
            ..Usage::default()
        }
    }

    #[test]
    fn the_servers_count_outranks_the_frames() {
        let mut tally = Tally::new();
        tally.frame(1, 10.0, None);
        tally.told(told(Count::Tokens(5)));
        let (_, counts) = tally.finish(Api::Chat, Some(8), 100);
        assert_eq!((counts.output, counts.source), (Some(5), TokenSource::Usage));
    }

    #[test]
    fn a_count_that_cannot_be_is_flagged_and_not_believed() {
        for count in [
            Count::Nonsense,
            Count::Tokens(1_000_000_000_000),
            Count::Tokens(0),
            Count::Tokens(200),
        ] {
            let mut tally = Tally::new();
            tally.frame(1, 10.0, Some(1));
            tally.told(told(count));
            let (marks, counts) = tally.finish(Api::Chat, Some(64), 100);
            assert_eq!(
                (counts.output, counts.source),
                (Some(1), TokenSource::Frames),
                "{count:?}"
            );
            assert!(counts.suspect.is_some() && marks.tokens.is_empty(), "{count:?}");
        }
    }

    #[test]
    fn without_any_count_the_frames_are_an_estimate_and_without_frames_nothing_is_known() {
        let mut tally = Tally::new();
        assert_eq!(tally.clone().finish(Api::Chat, None, 0).1.source, TokenSource::None);
        tally.frame(1, 10.0, None);
        assert_eq!(tally.finish(Api::Chat, Some(8), 100).1.source, TokenSource::Frames);
    }

    #[test]
    fn running_counts_give_the_tokens_of_each_frame() {
        let mut tally = Tally::new();
        for (read, running) in [(1, 1), (2, 4), (2, 5)] {
            tally.frame(read, f64::from(read), Some(running));
        }
        assert_eq!((tally.so_far(), tally.coalesced()), (5, 1));
        let (marks, _) = tally.finish(Api::Chat, Some(8), 100);
        assert_eq!((marks.at_us, marks.tokens), (vec![1000, 2000, 2000], vec![1, 3, 1]));
    }

    #[test]
    fn one_frame_without_a_count_makes_the_tokens_per_frame_unknown() {
        let mut tally = Tally::new();
        tally.frame(1, 1.0, Some(1));
        tally.frame(2, 2.0, None);
        tally.frame(3, 3.0, Some(3));
        assert_eq!(tally.so_far(), 3);
        assert!(tally.finish(Api::Chat, None, 100).0.tokens.is_empty());
    }
}
