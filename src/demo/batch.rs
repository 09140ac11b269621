//! The virtual batch: how many requests run, and when a waiting one gets its turn.

use std::collections::BTreeMap;

/// Requests in the batch, with the moment each leaves it.
#[derive(Clone, Debug)]
pub struct Batch {
    limit: usize,
    ends_ms: BTreeMap<u64, f64>,
}

impl Batch {
    /// A batch of at most `limit` requests.
    pub fn new(limit: u32) -> Self {
        Self {
            limit: limit.max(1) as usize,
            ends_ms: BTreeMap::new(),
        }
    }

    /// When a request that arrives now gets its turn: at once, or when enough of those before it have left.
    pub fn turn_ms(&mut self, now_ms: f64) -> f64 {
        self.ends_ms.retain(|_, end_ms| *end_ms > now_ms);
        let ahead = self.ends_ms.len();
        if ahead < self.limit {
            return now_ms;
        }
        let mut ends: Vec<f64> = self.ends_ms.values().copied().collect();
        ends.sort_unstable_by(f64::total_cmp);
        // Those queued before this one take the slots that get free first.
        ends[ahead - self.limit].max(now_ms)
    }

    /// How full the batch is at a moment, 0 to 1.
    pub fn fullness(&self, at_ms: f64) -> f64 {
        let running = self.ends_ms.values().filter(|end_ms| **end_ms > at_ms).count();
        (running as f64 / self.limit as f64).min(1.0)
    }

    /// Requests in the batch at a moment, and those that wait.
    pub fn load(&self, at_ms: f64) -> (usize, usize) {
        let all = self.ends_ms.values().filter(|end_ms| **end_ms > at_ms).count();
        let running = all.min(self.limit);
        (running, all - running)
    }

    /// Notes that a request will leave at this moment.
    pub fn enter(&mut self, id: u64, end_ms: f64) {
        self.ends_ms.insert(id, end_ms);
    }

    /// A request left early.
    pub fn leave(&mut self, id: u64) {
        self.ends_ms.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_batch_makes_requests_wait_for_those_before_them() {
        let mut batch = Batch::new(2);
        assert_eq!(batch.turn_ms(0.0), 0.0);
        batch.enter(1, 100.0);
        assert_eq!(batch.turn_ms(0.0), 0.0);
        batch.enter(2, 50.0);
        assert_eq!(batch.turn_ms(10.0), 50.0);
        batch.enter(3, 90.0);
        assert_eq!(batch.turn_ms(10.0), 90.0, "the slot that gets free at 50 is taken");
        assert_eq!(batch.turn_ms(95.0), 95.0, "1 alone is left");
    }

    #[test]
    fn a_client_that_goes_away_frees_its_slot() {
        let mut batch = Batch::new(1);
        batch.enter(1, 1000.0);
        batch.leave(1);
        assert_eq!(batch.turn_ms(5.0), 5.0);
    }

    #[test]
    fn who_finds_no_place_waits() {
        let mut batch = Batch::new(2);
        for id in 1..=3 {
            batch.enter(id, 10.0 * id as f64);
        }
        assert_eq!(
            [5.0, 15.0, 25.0, 35.0].map(|at_ms| batch.load(at_ms)),
            [(2, 1), (2, 0), (1, 0), (0, 0)]
        );
    }

    #[test]
    fn fullness_counts_those_who_still_run() {
        let mut batch = Batch::new(4);
        batch.enter(1, 10.0);
        batch.enter(2, 20.0);
        assert_eq!(
            (batch.fullness(5.0), batch.fullness(15.0), batch.fullness(25.0)),
            (0.5, 0.25, 0.0)
        );
    }
}
