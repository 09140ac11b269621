//! What the engine sees of itself, gathered as it goes. Time is a parameter.

use super::{Health, Lateness};
use crate::request::RequestRecord;

/// A timer this late is a stall of the event loop: no read was stamped meanwhile.
const STALL_MS: f64 = 50.0;
/// Reads are counted per this much time, to know the busiest.
const BUSY_MS: f64 = 250.0;
/// The wall clock and the monotonic clock may part this far between two looks without a word: clocks are slewed.
const DRIFT_MS: f64 = 20.0;

/// The engine's own watch over itself.
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    /// What is already known, and what is set once.
    pub health: Health,
    timer: Lateness,
    queue: Lateness,
    /// Wall clock minus monotonic clock at the last look, ms.
    apart_ms: Option<f64>,
    /// The current stretch of [`BUSY_MS`], and the reads in it.
    stretch: (u64, u64),
}

impl Monitor {
    /// A timer set for `due_ms` fired at `now_ms`, when the wall clock stood at `wall_ms`.
    pub fn tick(&mut self, due_ms: f64, now_ms: f64, wall_ms: f64) {
        let late_ms = now_ms - due_ms;
        self.timer.add(late_ms);
        if late_ms > STALL_MS {
            self.health.engine_stalls += 1;
            self.health.engine_stalled_ms += late_ms;
        }
        let apart_ms = wall_ms - now_ms;
        if let Some(before_ms) = self.apart_ms.replace(apart_ms) {
            let jump_ms = (apart_ms - before_ms).abs();
            if jump_ms > DRIFT_MS {
                self.health.clock_jump_max_ms = self.health.clock_jump_max_ms.max(jump_ms);
            }
        }
    }

    /// A read that came at `at_ms` has been taken in by `done_ms`.
    pub fn read(&mut self, at_ms: f64, done_ms: f64) {
        self.health.reads += 1;
        self.health.parse_ms += done_ms - at_ms;
        let stretch = (at_ms / BUSY_MS) as u64;
        if self.stretch.0 != stretch {
            self.stretch = (stretch, 0);
        }
        self.stretch.1 += 1;
        let per_s = self.stretch.1 as f64 * 1000.0 / BUSY_MS;
        self.health.reads_per_s_max = self.health.reads_per_s_max.max(per_s);
    }

    /// A verdict fell.
    pub fn finished(&mut self, record: &RequestRecord) {
        self.health.coalesced_frames += u64::from(record.wire.coalesced_frames);
        self.health.token_frames += u64::from(record.tokens.frames);
        if !record.warmup {
            self.queue.add(record.times.dispatched_ms - record.times.scheduled_ms);
        }
    }

    /// All of it, `now_ms` after the run began. The page adds what it sees of itself, and judges.
    pub fn health(&self, now_ms: f64) -> Health {
        Health {
            timer_late_p50_ms: self.timer.percentile(50.0),
            timer_late_p99_ms: self.timer.percentile(99.0),
            timer_late_max_ms: self.timer.max(),
            queue_p50_ms: self.queue.percentile(50.0),
            queue_p99_ms: self.queue.percentile(99.0),
            queue_max_ms: self.queue.max(),
            elapsed_ms: now_ms,
            ..self.health.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_in_time_is_no_stall_and_a_late_one_is() {
        let mut monitor = Monitor::default();
        monitor.tick(20.0, 21.0, 1_000_021.0);
        monitor.tick(41.0, 341.0, 1_000_341.0);
        let health = monitor.health(400.0);
        assert_eq!(
            (health.engine_stalls, health.engine_stalled_ms, health.clock_jump_max_ms),
            (1, 300.0, 0.0)
        );
        assert_eq!((health.timer_late_max_ms, health.elapsed_ms), (Some(300.0), 400.0));
    }

    #[test]
    fn a_clock_that_jumps_either_way_is_seen_and_a_slewed_one_is_not() {
        let mut monitor = Monitor::default();
        for (now_ms, wall_ms) in [(0.0, 5_000.0), (20.0, 5_021.0), (40.0, 5_040.0)] {
            monitor.tick(now_ms, now_ms, wall_ms);
        }
        assert_eq!(monitor.health(40.0).clock_jump_max_ms, 0.0);
        monitor.tick(60.0, 60.0, 65_060.0);
        monitor.tick(80.0, 80.0, 5_080.0);
        assert_eq!(monitor.health(80.0).clock_jump_max_ms, 60_000.0);
    }

    #[test]
    fn the_busiest_stretch_is_kept() {
        let mut monitor = Monitor::default();
        for at_ms in [0.0, 1.0, 2.0, 240.0, 260.0, 600.0] {
            monitor.read(at_ms, at_ms + 0.5);
        }
        let health = monitor.health(1_000.0);
        assert_eq!((health.reads, health.parse_ms, health.reads_per_s_max), (6, 3.0, 16.0));
        assert_eq!((health.reads_per_s(), health.parse_share()), (Some(6.0), Some(0.003)));
    }

    #[test]
    fn what_was_not_seen_is_not_available() {
        let health = Monitor::default().health(0.0);
        assert_eq!(
            (health.reads_per_s(), health.frames_per_read(), health.parse_share()),
            (None, None, None)
        );
        assert_eq!((health.queue_p99_ms, health.timer_late_p50_ms), (None, None));
    }
}
