//! Tokens laid out over the frames that brought them, and the gaps between them.

use crate::request::RequestRecord;

/// The output tokens of a request, laid out over its frames: `(arrival, ms since the run began; tokens)`.
///
/// Where the server told how many tokens each frame brought they are taken in that proportion, else each frame has the
/// same share; the sum is the request's output. A request without frames has all at the end.
pub(super) fn frame_tokens(record: &RequestRecord) -> impl Iterator<Item = (f64, f64)> + '_ {
    let marks = &record.marks;
    let frames = marks.at_us.len();
    let told: f64 = marks.tokens.iter().map(|k| f64::from(*k)).sum();
    let use_told = marks.tokens.len() == frames && told > 0.0;
    let output = record.tokens.output.unwrap_or(0) as f64;
    let whole =
        (frames == 0 && output > 0.0).then(|| (record.times.last_token_ms.unwrap_or(record.times.ended_ms), output));
    let spread = marks.at_us.iter().enumerate().map(move |(i, at_us)| {
        let share = if use_told {
            f64::from(marks.tokens[i]) / told
        } else {
            1.0 / frames as f64
        };
        (record.times.dispatched_ms + f64::from(*at_us) / 1000.0, output * share)
    });
    spread.chain(whole)
}

/// The gaps between the arrivals of a request's tokens, as `(ms per token, tokens)`.
///
/// A read is one arrival, however many frames it holds: a gap before a read that brought `k` tokens gives `k` values of
/// `gap / k`. `k` is what the server told, else the read's number of frames. A read that brought no token is passed over.
/// The tokens of the first read have no gap before them.
pub(super) fn token_gaps(record: &RequestRecord, gaps: &mut Vec<(f64, u32)>) {
    let mut previous: Option<u32> = None;
    for (at_us, tokens) in arrivals(record) {
        if let Some(previous) = previous {
            let gap_ms = f64::from(at_us.saturating_sub(previous)) / 1000.0;
            gaps.push((gap_ms / f64::from(tokens), tokens));
        }
        previous = Some(at_us);
    }
}

/// The reads that brought tokens, as `(arrival, µs after dispatch; tokens)`.
pub(super) fn arrivals(record: &RequestRecord) -> impl Iterator<Item = (u32, u32)> + '_ {
    let marks = &record.marks;
    let told = marks.tokens.len() == marks.at_us.len();
    let mut i = 0;
    let read = move || {
        let at_us = *marks.at_us.get(i)?;
        let mut tokens: u32 = 0;
        while marks.at_us.get(i) == Some(&at_us) {
            tokens = tokens.saturating_add(if told { marks.tokens[i] } else { 1 });
            i += 1;
        }
        Some((at_us, tokens))
    };
    std::iter::from_fn(read).filter(|(_, tokens)| *tokens > 0)
}
