//! Failures of the same kind.

use std::collections::HashMap;

use crate::request::{Outcome, RequestRecord, Rule};

/// Failures with the same outcome, rule, code and message (numbers and ids generalised).
#[derive(Clone, Debug, PartialEq)]
pub struct FailureGroup {
    /// Their outcome.
    pub outcome: Outcome,
    /// The rule that decided.
    pub rule: Rule,
    /// The server's code.
    pub code: Option<String>,
    /// The message with numbers and ids replaced by `…`.
    pub pattern: String,
    /// The first message, as sent.
    pub example: String,
    /// How many.
    pub count: u32,
    /// Share of requests that ended by themselves.
    pub share: f64,
    /// When the first was seen, ms since the run began.
    pub first_ms: f64,
    /// When the last was seen.
    pub last_ms: f64,
    /// Positions in the slice of records given, in order.
    pub members: Vec<usize>,
}

/// Groups the failures among the measured requests (no warm-up), the largest group first, then the earliest.
pub fn failure_groups(records: &[RequestRecord]) -> Vec<FailureGroup> {
    let ended = records
        .iter()
        .filter(|r| !r.warmup && r.outcome != Outcome::Cancelled)
        .count();
    let mut groups: Vec<FailureGroup> = Vec::new();
    let mut places: HashMap<(Outcome, Rule, Option<String>, String), usize> = HashMap::new();
    for (position, record) in records
        .iter()
        .enumerate()
        .filter(|(_, r)| !r.warmup && r.outcome.is_failure())
    {
        let Some(failure) = &record.failure else {
            continue;
        };
        let pattern = generalise(&failure.message);
        let key = (record.outcome, failure.rule, failure.code.clone(), pattern);
        let place = *places.entry(key).or_insert_with_key(|(outcome, rule, code, pattern)| {
            groups.push(FailureGroup {
                outcome: *outcome,
                rule: *rule,
                code: code.clone(),
                pattern: pattern.clone(),
                example: failure.message.clone(),
                count: 0,
                share: 0.0,
                first_ms: failure.at_ms,
                last_ms: failure.at_ms,
                members: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.count += 1;
        group.first_ms = group.first_ms.min(failure.at_ms);
        group.last_ms = group.last_ms.max(failure.at_ms);
        group.members.push(position);
    }
    for group in &mut groups {
        group.share = f64::from(group.count) / ended as f64;
    }
    groups.sort_by(|a, b| b.count.cmp(&a.count).then(a.first_ms.total_cmp(&b.first_ms)));
    groups
}

/// A message with what differs from request to request replaced by `…`: numbers, hexadecimal ids, UUIDs, random ids.
///
/// One pass: the text falls into pieces of letters and digits and what stands between them. A piece that looks like an
/// id is replaced whole; in any other, each run of digits is. Marks that follow one another, joined by nothing but
/// `-`, `_`, `.`, `:` or `,`, become one.
fn generalise(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while !rest.is_empty() {
        let piece_end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(piece_end);
        if uuid_length(rest) {
            mark(&mut out);
            rest = &rest[UUID_LENGTH..];
            continue;
        }
        if is_id(piece) {
            mark(&mut out);
        } else {
            for c in piece.chars() {
                if c.is_ascii_digit() {
                    mark(&mut out)
                } else {
                    out.push(c)
                }
            }
        }
        let piece_start = after.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(after.len());
        let (between, next) = after.split_at(piece_start);
        out.push_str(between);
        rest = next;
    }
    out
}

const MARK: char = '…';
const UUID_LENGTH: usize = 36;

/// Appends the mark, or lets the one before stand for this too.
fn mark(out: &mut String) {
    let joined = out.trim_end_matches(['-', '_', '.', ':', ',']);
    // At most one joint: `1, 2` has a space, and `…` may end a cut message.
    if joined.ends_with(MARK) && out.len() - joined.len() <= 1 {
        out.truncate(joined.len());
    } else {
        out.push(MARK);
    }
}

/// Whether the text begins with a UUID: 8-4-4-4-12 hexadecimal digits.
fn uuid_length(text: &str) -> bool {
    let Some(head) = text.as_bytes().get(..UUID_LENGTH) else {
        return false;
    };
    let ends = text
        .as_bytes()
        .get(UUID_LENGTH)
        .is_none_or(|b| !b.is_ascii_alphanumeric());
    ends && head.iter().enumerate().all(|(i, b)| match i {
        8 | 13 | 18 | 23 => *b == b'-',
        _ => b.is_ascii_hexdigit(),
    })
}

/// Whether a piece of letters and digits was made by a machine: hexadecimal with a digit in it from 6 on, `0x…`, or
/// letters and at least two digits mixed from 8 on.
fn is_id(piece: &str) -> bool {
    let digits = piece.bytes().filter(u8::is_ascii_digit).count();
    let hex = piece.bytes().all(|b| b.is_ascii_hexdigit());
    let prefixed = piece
        .strip_prefix("0x")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_hexdigit()));
    prefixed || (hex && digits > 0 && piece.len() >= 6) || (digits >= 2 && piece.len() >= 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_requests_is_generalised() {
        let cases = [
            ("", ""),
            ("The request queue is full.", "The request queue is full."),
            ("queue is full (128 > 64)", "queue is full (… > …)"),
            ("took 1,842.5 s", "took … s"),
            ("timed out after 30s", "timed out after …s"),
            ("id 8f14e45f-ceea-467f-abcd-deadbeefcafe gone", "id … gone"),
            ("chatcmpl-AbCdEf1234 failed", "chatcmpl-… failed"),
            ("at 0xdeadbeef", "at …"),
            ("trace 4bf92f3577b34da6", "trace …"),
            ("a decade, a facade", "a decade, a facade"),
            ("10 tokens, 20 tokens", "… tokens, … tokens"),
            ("127.0.0.1:30000 is down", "… is down"),
            ("größer als 5 ✓", "größer als … ✓"),
        ];
        for (message, pattern) in cases {
            assert_eq!(generalise(message), pattern, "{message}");
        }
    }

    #[test]
    fn a_huge_message_is_generalised_in_one_pass() {
        let marks = generalise(&"1-".repeat(200_000));
        assert_eq!(marks, "…-");
        assert_eq!(generalise(&"-".repeat(100_000)).len(), 100_000);
        let spaced = generalise(&"7--".repeat(100_000));
        assert!(spaced.starts_with("…--…--"));
    }
}
