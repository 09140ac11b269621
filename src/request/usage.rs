//! How many tokens a request had, and whom to believe.

use super::{TokenCounts, TokenSource};
use crate::protocol::{Count, Usage};

/// Tokens a server may count beyond those asked: a speculative step, an end-of-sequence token.
const OVERSHOOT: u64 = 16;
/// More tokens than any answer has.
const ABSURD_OUTPUT: u64 = 10_000_000;
/// More tokens than any prompt has.
const ABSURD_PROMPT: u64 = 100_000_000;
/// Tokens per byte of text beyond which a count is not believed if no limit was asked, and tokens that may be invisible.
const TOKENS_PER_BYTE: u64 = 4;
const INVISIBLE: u64 = 1024;

/// What the counts are checked against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Frames that carried tokens.
    pub frames: u32,
    /// Whether any output came, in frames or in a whole answer.
    pub output: bool,
    /// Bytes of text and tool calls, all choices together; `None` where tokens come without text.
    pub text_bytes: Option<u64>,
    /// Most tokens asked, all choices together.
    pub requested: Option<u64>,
}

/// Chooses the best count: usage, then native counts, then one per frame as an estimate. A count that cannot be true is
/// told and not believed.
pub(super) fn judge(usage: Option<&Usage>, native: Option<&Usage>, seen: Seen) -> TokenCounts {
    let whole = |count: Option<&Count>| count.and_then(Count::whole);
    let best = usage.or(native);
    let mut counts = TokenCounts {
        prompt: whole(best.and_then(|usage| usage.prompt.as_ref())).filter(|&n| n <= ABSURD_PROMPT),
        reasoning: whole(best.and_then(|usage| usage.reasoning.as_ref())).filter(|&n| n <= ABSURD_OUTPUT),
        cached: whole(best.and_then(|usage| usage.cached.as_ref())).filter(|&n| n <= ABSURD_PROMPT),
        usage_output: whole(usage.and_then(|usage| usage.completion.as_ref())),
        frames: seen.frames,
        ..TokenCounts::default()
    };
    for (told, source) in [(usage, TokenSource::Usage), (native, TokenSource::Native)] {
        let Some(told) = told else { continue };
        let Some(completion) = &told.completion else { continue };
        match doubt(completion, counts.reasoning, seen) {
            None => {
                counts.output = completion.whole();
                counts.source = source;
                return counts;
            }
            Some(why) => {
                counts.suspect.get_or_insert(why);
            }
        }
    }
    if seen.frames > 0 {
        counts.output = Some(seen.frames.into());
        counts.source = TokenSource::Frames;
    }
    counts
}

/// Why a count cannot be true.
fn doubt(completion: &Count, reasoning: Option<u64>, seen: Seen) -> Option<String> {
    let n = match completion {
        Count::Odd(sent) => return Some(format!("completion_tokens is no count: {sent}")),
        Count::Whole(n) => *n,
    };
    if n == 0 && seen.output {
        return Some("completion_tokens is 0, but output came".to_owned());
    }
    // A frame brings a token at least; servers that split one over two frames exist.
    if seen.frames >= 8 && n.saturating_mul(2) < u64::from(seen.frames) {
        return Some(format!(
            "completion_tokens is {n}, but {} frames brought tokens",
            seen.frames
        ));
    }
    if n > ABSURD_OUTPUT {
        return Some(format!("completion_tokens is {n}: no answer is that long"));
    }
    match (seen.requested, seen.text_bytes) {
        // A server that ignores the limit shows it by its frames.
        (Some(requested), _) if n > requested.saturating_add(OVERSHOOT) && u64::from(seen.frames) <= requested => {
            Some(format!(
                "completion_tokens is {n}, but at most {requested} were asked and {} frames came",
                seen.frames
            ))
        }
        (None, Some(bytes))
            if n.saturating_sub(reasoning.unwrap_or(0)) > bytes.saturating_mul(TOKENS_PER_BYTE) + INVISIBLE =>
        {
            Some(format!("completion_tokens is {n} for {bytes} bytes of text"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(completion: Count) -> Usage {
        Usage {
            prompt: Some(Count::Whole(9)),
            completion: Some(completion),
            ..Usage::default()
        }
    }

    fn judged(completion: Count, requested: Option<u64>) -> TokenCounts {
        let seen = Seen {
            frames: 5,
            output: true,
            text_bytes: Some(20),
            requested,
        };
        judge(Some(&usage(completion)), None, seen)
    }

    #[test]
    fn a_count_that_cannot_be_true_falls_back_to_frames() {
        for (completion, requested) in [
            (Count::Odd("-3".into()), None),
            (Count::Odd("\"5\"".into()), Some(8)),
            (Count::Whole(0), None),
            (Count::Whole(1_000_000_000_000), None),
            (Count::Whole(100), Some(64)),
            (Count::Whole(2000), None),
        ] {
            let counts = judged(completion.clone(), requested);
            assert_eq!(
                (counts.output, counts.source),
                (Some(5), TokenSource::Frames),
                "{completion:?}"
            );
            assert!(counts.suspect.is_some() && counts.prompt == Some(9), "{completion:?}");
        }
    }

    #[test]
    fn a_count_that_can_be_true_is_believed() {
        for (completion, requested) in [
            (64, Some(64)),
            (65, Some(64)),
            (1, None),
            (1000, None),
            (8192, Some(8192)),
        ] {
            let counts = judged(Count::Whole(completion), requested);
            assert_eq!(
                (counts.output, counts.source, counts.suspect),
                (Some(completion), TokenSource::Usage, None)
            );
        }
    }

    #[test]
    fn hidden_reasoning_explains_a_large_count() {
        let told = Usage {
            reasoning: Some(Count::Whole(30_000)),
            ..usage(Count::Whole(30_100))
        };
        let seen = Seen {
            frames: 5,
            output: true,
            text_bytes: Some(20),
            requested: None,
        };
        assert_eq!(judge(Some(&told), None, seen).output, Some(30_100));
    }

    #[test]
    fn a_server_that_ignores_the_limit_is_believed() {
        let seen = Seen {
            frames: 90,
            output: true,
            text_bytes: Some(900),
            requested: Some(64),
        };
        assert_eq!(judge(Some(&usage(Count::Whole(180))), None, seen).output, Some(180));
    }

    #[test]
    fn native_counts_stand_in_for_usage_and_nothing_stands_in_for_nothing() {
        let seen = Seen {
            frames: 2,
            output: true,
            text_bytes: None,
            requested: Some(64),
        };
        let counts = judge(None, Some(&usage(Count::Whole(7))), seen);
        assert_eq!(
            (counts.output, counts.source, counts.usage_output),
            (Some(7), TokenSource::Native, None)
        );
        let counts = judge(
            None,
            None,
            Seen {
                frames: 0,
                output: false,
                ..seen
            },
        );
        assert_eq!((counts.output, counts.source), (None, TokenSource::None));
    }
}
