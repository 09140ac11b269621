//! The fuzz target's property on a few thousand mutations of the captured cases: seeded and bounded, so that it belongs
//! to the test suite. `script/fuzz` goes on from there with coverage.
#![cfg(not(target_arch = "wasm32"))]

#[path = "../fuzz/property.rs"]
mod property;

use std::{collections::HashSet, path::Path};

use rand::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use streamgauge::request::{Outcome, replay::read_folder};

/// Longest body that is tried, as in `script/fuzz`.
const LONGEST: usize = 8192;
/// Mutations of each case.
const TRIES: usize = 60;

/// Pieces that streams are made of, and that break them.
const PIECES: &[&[u8]] = &[
    b"data: ",
    b"data:",
    b"\n\n",
    b"\r\n\r\n",
    b"\r",
    b": x\n\n",
    b"data: [DONE]\n\n",
    b"event: error\n",
    b"\"error\":{\"message\":\"x\"},",
    b"\"finish_reason\":\"stop\"",
    b"\"finish_reason\":\"abort\"",
    b"null",
    b"{",
    b"}",
    b"[",
    b"\\ud83d",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\0",
    b"-1",
    b"1e999",
];

struct Mutator(Pcg64Mcg);

impl Mutator {
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n.max(1) as u64) as usize
    }

    fn mutate(&mut self, body: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(body.len() + 1);
        let end = (at + self.below(40)).min(body.len());
        match self.below(6) {
            0 if at < body.len() => body[at] = self.0.next_u32() as u8,
            1 => drop(body.drain(at..end)),
            2 => {
                let piece = PIECES[self.below(PIECES.len())];
                body.splice(at..at, piece.iter().copied());
            }
            3 => {
                let again = body[at..end].to_vec();
                body.splice(at..at, again);
            }
            4 => body.truncate(at),
            _ => {
                let from = self.below(other.len());
                body.splice(at.., other[from..].iter().copied());
            }
        }
        body.truncate(LONGEST);
    }
}

#[test]
fn the_fuzz_property_holds_on_mutations_of_every_case() {
    let cases = read_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).unwrap();
    let bodies: Vec<Vec<u8>> = cases.into_iter().map(|case| case.unwrap().body).collect();
    let mut mutator = Mutator(Pcg64Mcg::seed_from_u64(1));
    let mut outcomes: HashSet<Outcome> = HashSet::new();
    for body in &bodies {
        for _ in 0..TRIES {
            let mut mutated = body[..body.len().min(LONGEST)].to_vec();
            for _ in 0..=mutator.below(4) {
                let other = &bodies[mutator.below(bodies.len())];
                mutator.mutate(&mut mutated, other);
            }
            // Mostly streams with status 200, as most cases are.
            let choice = [0, 1, 2, 8, 32, 64, mutator.0.next_u32() as u8][mutator.below(7)];
            let input = [&[choice, mutator.0.next_u32() as u8], &mutated[..]].concat();
            outcomes.extend(property::check(&input));
        }
    }
    // The mutations must not all fall into one hole.
    for outcome in [
        Outcome::Succeeded,
        Outcome::StreamError,
        Outcome::Aborted,
        Outcome::Malformed,
        Outcome::Truncated,
        Outcome::Empty,
        Outcome::Timeout,
        Outcome::HttpError,
    ] {
        assert!(outcomes.contains(&outcome), "{outcome:?} never came");
    }
}
