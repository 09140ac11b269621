//! How long prompts were to be, and were.

use crate::request::{Outcome, RequestRecord};

/// Prompt lengths of the measured requests that succeeded, tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// Requests whose prompt the server counted.
    pub counted: u64,
    /// Mean of the server's counts.
    pub mean: f64,
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// Mean asked and mean counted of those for which a length was asked; absent if there are none.
    pub asked_and_counted: Option<(f64, f64)>,
    /// Share of the prompt tokens that the server had cached, of the requests for which it told.
    pub cached: Option<f64>,
    /// Requests that were turns of conversations.
    pub turns: u64,
}

/// Of these records; `None` if the server counted no prompt.
pub fn lengths(records: &[RequestRecord]) -> Option<Lengths> {
    let mut all = Sum::default();
    let (mut asked, mut counted, mut cached, mut cacheable) =
        (Sum::default(), Sum::default(), Sum::default(), Sum::default());
    let (mut min, mut max, mut turns) = (u64::MAX, 0, 0);
    for record in records.iter().filter(|record| record.outcome == Outcome::Succeeded) {
        let Some(prompt) = record.tokens.prompt else { continue };
        all.add(prompt);
        min = min.min(prompt);
        max = max.max(prompt);
        let of = record.asked.unwrap_or_default();
        turns += u64::from(of.turn.is_some());
        if let Some(tokens) = of.input_tokens {
            asked.add(tokens.into());
            counted.add(prompt);
        }
        if let Some(tokens) = record.tokens.cached {
            cached.add(tokens);
            cacheable.add(prompt);
        }
    }
    Some(Lengths {
        counted: all.count,
        mean: all.mean()?,
        min,
        max,
        asked_and_counted: asked.mean().zip(counted.mean()),
        cached: (cacheable.total > 0.0).then(|| cached.total / cacheable.total),
        turns,
    })
}

#[derive(Default)]
struct Sum {
    total: f64,
    count: u64,
}

impl Sum {
    fn add(&mut self, value: u64) {
        self.total += value as f64;
        self.count += 1;
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.total / self.count as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Asked, Machine, Spec};

    fn record(outcome: Outcome, asked: Option<u32>, prompt: Option<u64>, cached: Option<u64>) -> RequestRecord {
        let mut record = RequestRecord::of(Machine::new(Spec::default(), 0.0).finish(), 0, false, 0, 0.0, None);
        record.outcome = outcome;
        record.asked = Some(Asked {
            input_tokens: asked,
            turn: asked.is_none().then_some(1),
            ..Asked::default()
        });
        record.tokens.prompt = prompt;
        record.tokens.cached = cached;
        record
    }

    #[test]
    fn lengths_are_those_that_the_server_counted() {
        let told = lengths(&[
            record(Outcome::Succeeded, Some(100), Some(98), Some(10)),
            record(Outcome::Succeeded, Some(50), Some(54), None),
            record(Outcome::Succeeded, None, Some(300), Some(200)),
            record(Outcome::Succeeded, Some(70), None, None),
            record(Outcome::Aborted, Some(900), Some(900), Some(900)),
        ])
        .unwrap();
        assert_eq!((told.counted, told.min, told.max, told.turns), (3, 54, 300, 1));
        assert_eq!(told.asked_and_counted, Some((75.0, 76.0)));
        assert_eq!(told.cached, Some(210.0 / 398.0));
        assert_eq!(lengths(&[record(Outcome::Succeeded, Some(1), None, None)]), None);
    }
}
