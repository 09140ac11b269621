//! From what was seen to a verdict.

use super::{Health, Verdict};

/// A timer this late at p99 moves every first-token time by as much.
const LATE_P99_MS: f64 = 10.0;
/// A timer this late at p99 belongs to an engine that cannot keep up at all.
const LATE_LIMIT_P99_MS: f64 = 50.0;
/// One stall of this length distorts the requests it fell on.
const STALL_MS: f64 = 250.0;
/// Share of token frames that came together with another above which gaps between reads say little of the server.
const COALESCED_SHARE: f64 = 0.2;
/// Share of the engine's time spent on parsing above which it cannot keep up with bursts.
const PARSE_SHARE: f64 = 0.5;

/// A wait this long for a place on the wire, at p99, makes the client the limit.
const QUEUE_P99_MS: f64 = 50.0;
/// Share of the run in which the page stood still above which it takes the processor from the engine.
const PAGE_STALLED_SHARE: f64 = 0.2;
/// A wall clock that moves this far has been set, or the computer slept.
const CLOCK_JUMP_MS: f64 = 250.0;
/// A preflight of this length would be seen in TTFT wherever one could not be kept out of it.
const OPTIONS_MS: f64 = 250.0;

impl Health {
    /// Sets the verdict and the reasons from the other fields.
    pub fn judge(&mut self) {
        let mut limited = Vec::new();
        let mut suspect = Vec::new();
        if self.slots_asked > self.slots_had {
            limited.push(format!(
                "{} requests at a time were asked for, but this browser can have {} on the wire to the names in use. \
                 Lower the concurrency, or give further names of the server under Lanes.",
                self.slots_asked, self.slots_had
            ));
        }
        // Too few places on the wire are told above already.
        if let Some(wait) = self
            .queue_p99_ms
            .filter(|wait| *wait > QUEUE_P99_MS && self.slots_asked <= self.slots_had)
        {
            limited.push(format!(
                "Requests waited up to {wait:.0} ms (p99) in this client before they were sent, so the server got less load \
                 than was asked for. Allow more requests at a time, or ask for fewer per second."
            ));
        }
        if let Some(share) = self.parse_share().filter(|share| *share > PARSE_SHARE) {
            limited.push(format!(
                "Reading the streams took {:.0} % of the engine's time. Lower the concurrency or use a faster machine.",
                100.0 * share
            ));
        }
        let late = self.timer_late_p99_ms.filter(|late| *late > LATE_P99_MS);
        if let Some(late) = late.filter(|late| *late > LATE_LIMIT_P99_MS) {
            limited.push(format!(
                "The engine's timer fired {late:.0} ms late at p99: this machine does not keep up with so many streams, or \
                 something else takes its processor. Lower the concurrency, or close what else runs."
            ));
        } else if let Some(late) = late {
            suspect.push(format!(
                "The engine's timer fired {late:.0} ms late at p99, so times may be late by as much. \
                 Close what else uses this machine's processor."
            ));
        }
        if let Some(stall) = self.timer_late_max_ms.filter(|stall| *stall > STALL_MS) {
            suspect.push(format!(
                "The engine stood still for {stall:.0} ms at a time (a busy machine, or the computer slept). \
                 Requests of that moment have wrong times; run again."
            ));
        }
        if self.clock_jump_max_ms > CLOCK_JUMP_MS {
            suspect.push(format!(
                "The computer's clock moved by {:.1} s: it slept, or its time was set. \
                 Requests of that moment have wrong times; run again with sleep switched off.",
                self.clock_jump_max_ms / 1000.0
            ));
        }
        if self.elapsed_ms > 0.0 && self.page_stalled_ms / self.elapsed_ms > PAGE_STALLED_SHARE {
            suspect.push(format!(
                "The page was too busy to answer for {:.0} % of the run. The engine has a thread of its own, but they share \
                 this machine's processor. Close other tabs and extensions, and run again.",
                100.0 * self.page_stalled_ms / self.elapsed_ms
            ));
        }
        if let Some(options) = self.options_ms.filter(|options| *options > OPTIONS_MS) {
            suspect.push(format!(
                "The server takes {options:.0} ms for an OPTIONS request. Browsers send one before a request whenever the \
                 last is older than the server's Access-Control-Max-Age (5 s if it sends none), so some TTFTs may contain it. \
                 Let the server send Access-Control-Max-Age: 600, or answer OPTIONS faster."
            ));
        }
        if self.hidden_ms > 0.0 {
            suspect.push(format!(
                "The tab was hidden for {:.1} s. Browsers give hidden tabs less of the processor; keep it visible.",
                self.hidden_ms / 1000.0
            ));
        }
        let coalesced = self.coalesced_frames as f64 / self.token_frames.max(1) as f64;
        if coalesced > COALESCED_SHARE {
            suspect.push(format!(
                "{:.0} % of the token frames arrived together with another. The server or a proxy sends them so, or \
                 this machine is too busy to read them one by one; ITL is then an average over each read.",
                100.0 * coalesced
            ));
        }
        self.verdict = match (limited.is_empty(), suspect.is_empty()) {
            (false, _) => Verdict::ClientLimited,
            (true, false) => Verdict::Suspect,
            (true, true) => Verdict::Trustworthy,
        };
        limited.append(&mut suspect);
        self.reasons = limited;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(mut health: Health) -> Health {
        health.judge();
        health
    }

    #[test]
    fn an_uneventful_run_is_trustworthy_without_reasons() {
        let health = judged(Health {
            timer_late_p99_ms: Some(4.0),
            timer_late_max_ms: Some(20.0),
            slots_asked: 6,
            slots_had: 6,
            token_frames: 1000,
            coalesced_frames: 10,
            parse_ms: 5.0,
            elapsed_ms: 1000.0,
            ..Health::default()
        });
        assert_eq!((health.verdict, health.reasons), (Verdict::Trustworthy, vec![]));
    }

    #[test]
    fn each_distortion_turns_the_verdict_by_itself() {
        let base = Health {
            slots_asked: 6,
            slots_had: 6,
            token_frames: 100,
            elapsed_ms: 1000.0,
            ..Health::default()
        };
        let cases = [
            (
                Health {
                    slots_asked: 7,
                    ..base.clone()
                },
                Verdict::ClientLimited,
            ),
            (
                Health {
                    parse_ms: 600.0,
                    ..base.clone()
                },
                Verdict::ClientLimited,
            ),
            (
                Health {
                    timer_late_p99_ms: Some(30.0),
                    ..base.clone()
                },
                Verdict::Suspect,
            ),
            (
                Health {
                    timer_late_p99_ms: Some(60.0),
                    ..base.clone()
                },
                Verdict::ClientLimited,
            ),
            (
                Health {
                    queue_p99_ms: Some(80.0),
                    ..base.clone()
                },
                Verdict::ClientLimited,
            ),
            (
                Health {
                    clock_jump_max_ms: 3_000.0,
                    ..base.clone()
                },
                Verdict::Suspect,
            ),
            (
                Health {
                    page_stalled_ms: 300.0,
                    ..base.clone()
                },
                Verdict::Suspect,
            ),
            (
                Health {
                    timer_late_max_ms: Some(900.0),
                    ..base.clone()
                },
                Verdict::Suspect,
            ),
            (
                Health {
                    options_ms: Some(900.0),
                    ..base.clone()
                },
                Verdict::Suspect,
            ),
            (
                Health {
                    hidden_ms: 1.0,
                    ..base.clone()
                },
                Verdict::Suspect,
            ),
            (
                Health {
                    coalesced_frames: 50,
                    ..base.clone()
                },
                Verdict::Suspect,
            ),
        ];
        for (health, verdict) in cases {
            let health = judged(health);
            assert_eq!(
                (health.verdict, health.reasons.len()),
                (verdict, 1),
                "{:?}",
                health.reasons
            );
        }
    }

    #[test]
    fn a_wait_for_too_few_places_is_told_once() {
        let health = judged(Health {
            slots_asked: 12,
            slots_had: 6,
            queue_p99_ms: Some(900.0),
            ..Health::default()
        });
        assert_eq!(health.reasons.len(), 1);
    }

    #[test]
    fn a_limit_outranks_a_suspicion_and_both_are_told() {
        let health = judged(Health {
            slots_asked: 9,
            slots_had: 6,
            hidden_ms: 5.0,
            ..Health::default()
        });
        assert_eq!((health.verdict, health.reasons.len()), (Verdict::ClientLimited, 2));
    }
}
