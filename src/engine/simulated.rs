//! The scripted endpoint, hosted in the engine: no socket, the same state machine.

use std::rc::Rc;

use super::{exchange::Active, transport::Read};
use crate::{demo::Plan, engine::Clock};

/// How often a silent stream looks whether it was given up, ms.
const LOOK_MS: f64 = 20.0;

/// Plays a plan's frames at their times.
pub struct Player {
    frames: std::vec::IntoIter<crate::demo::TimedFrame>,
    ending: crate::demo::PlanEnding,
    clock: Clock,
    active: Rc<Active>,
}

impl Player {
    /// Plays `plan` until `active` is settled.
    pub fn new(plan: Plan, clock: Clock, active: Rc<Active>) -> Self {
        Self {
            frames: plan.frames.into_iter(),
            ending: plan.ending,
            clock,
            active,
        }
    }

    /// Waits for the next frame.
    pub async fn next(&mut self) -> Read {
        let Some(frame) = self.frames.next() else {
            return match self.ending {
                crate::demo::PlanEnding::Eof => Read::End,
                crate::demo::PlanEnding::Cut => Read::Broken("The simulated server broke the connection.".into()),
                crate::demo::PlanEnding::Open => {
                    while !self.active.is_settled() {
                        self.clock.sleep_until(self.clock.now_ms() + LOOK_MS).await;
                    }
                    Read::Broken("given up".into())
                }
            };
        };
        loop {
            let now_ms = self.clock.now_ms();
            if self.active.is_settled() {
                return Read::Broken("given up".into());
            }
            if now_ms >= frame.at_ms {
                return Read::Bytes(frame.bytes);
            }
            self.clock.sleep_until(frame.at_ms.min(now_ms + LOOK_MS)).await;
        }
    }
}
