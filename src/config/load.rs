//! When requests are sent: what a person asked for. [`crate::load::schedule`] makes the moments of it.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// When requests are sent, and when it is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Load {
    /// Closed loop, or how the moments of an open loop are drawn.
    pub arrival: Arrival,
    /// Requests per second over time; of no meaning in a closed loop.
    pub rate: Rate,
    /// Open loop: whether no more than the concurrency are in flight at a time, the rest waiting in the client's own queue.
    pub capped: bool,
    /// Sends nothing new after this many seconds, however many requests that makes; else the number of requests counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// With a duration: seconds that running requests have to end, before they are cancelled.
    pub grace_s: f64,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            arrival: Arrival::Closed,
            rate: Rate::Steady { per_s: 5.0 },
            capped: false,
            duration_s: None,
            grace_s: 30.0,
        }
    }
}

impl Load {
    /// Whether requests go out by a schedule, whatever the server does.
    pub fn is_open(&self) -> bool {
        self.arrival != Arrival::Closed
    }
}

/// What decides the moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Each request that ends lets the next one go.
    #[default]
    Closed,
    /// Equal gaps.
    Constant,
    /// Gaps of a Poisson process: requests of many people who know nothing of each other.
    Poisson,
    /// Gaps of a gamma distribution.
    Gamma {
        /// Its shape: below 1 bursty, 1 as Poisson, above 1 more even. vLLM's `--burstiness`, AIPerf's `--arrival-smoothness`.
        burstiness: f64,
    },
    /// The times that stand in the workload's file.
    Trace,
}

impl Arrival {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Constant => "constant",
            Self::Poisson => "poisson",
            Self::Gamma { .. } => "gamma",
            Self::Trace => "trace",
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str, burstiness: f64) -> Option<Self> {
        Some(match name {
            "closed" => Self::Closed,
            "constant" => Self::Constant,
            "poisson" => Self::Poisson,
            "gamma" => Self::Gamma { burstiness },
            "trace" => Self::Trace,
            _ => return None,
        })
    }
}

/// Requests per second over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// The same all along.
    Steady {
        /// Requests per second.
        per_s: f64,
    },
    /// From one rate to another, and on at that.
    Ramp {
        /// Requests per second at the start.
        from_per_s: f64,
        /// Requests per second at the end of the ramp and after it.
        to_per_s: f64,
        /// Its length, s.
        over_s: f64,
        /// Whether the rate grows by equal factors in equal times, not by equal amounts.
        exponential: bool,
    },
    /// One rate after the other; after the last, nothing is sent.
    Stages {
        /// The stages, in order.
        stages: Vec<Stage>,
    },
}

/// One rate for a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Requests per second.
    pub per_s: f64,
    /// For so many seconds.
    pub for_s: f64,
}

/// Most stages of a load.
const MAX_STAGES: usize = 100;
/// Greatest rate: far beyond what a browser can send.
pub const MAX_RATE: f64 = 10_000.0;
/// Longest duration, s.
pub const MAX_DURATION_S: f64 = 86_400.0;

/// As in links and in the form: `5`, `ramp:2:20:60`, `exponential:2:20:60`, `stages:5x30,10x30`.
impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Steady { per_s } => write!(f, "{per_s}"),
            Self::Ramp {
                from_per_s,
                to_per_s,
                over_s,
                exponential,
            } => {
                let kind = if *exponential { "exponential" } else { "ramp" };
                write!(f, "{kind}:{from_per_s}:{to_per_s}:{over_s}")
            }
            Self::Stages { stages } => {
                f.write_str("stages:")?;
                for (i, stage) in stages.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    write!(f, "{comma}{}x{}", stage.per_s, stage.for_s)?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for Rate {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "requests per second above 0, such as 5; ramp:2:20:60 (from, to, seconds), exponential:2:20:60 or stages:5x30,10x30";
        let rate = |text: &str| positive(text, MAX_RATE).ok_or(EXPECTED);
        let time = |text: &str| positive(text, MAX_DURATION_S).ok_or(EXPECTED);
        let text = text.trim();
        match text.split_once(':') {
            None => Ok(Self::Steady { per_s: rate(text)? }),
            Some((kind @ ("ramp" | "exponential"), rest)) => {
                let mut parts = rest.split(':');
                let mut next = || parts.next().ok_or(EXPECTED);
                let ramp = Self::Ramp {
                    from_per_s: rate(next()?)?,
                    to_per_s: rate(next()?)?,
                    over_s: time(next()?)?,
                    exponential: kind == "exponential",
                };
                if parts.next().is_some() {
                    Err(EXPECTED)
                } else {
                    Ok(ramp)
                }
            }
            Some(("stages", rest)) => {
                let stage = |text: &str| -> Result<Stage, &'static str> {
                    let (per_s, for_s) = text.split_once(['x', '×']).ok_or(EXPECTED)?;
                    // A stage may be a pause.
                    let per_s = if per_s.trim() == "0" { 0.0 } else { rate(per_s)? };
                    Ok(Stage {
                        per_s,
                        for_s: time(for_s)?,
                    })
                };
                let stages = rest.split(',').map(stage).collect::<Result<Vec<_>, _>>()?;
                let sends = stages.iter().any(|stage| stage.per_s > 0.0);
                if sends && stages.len() <= MAX_STAGES {
                    Ok(Self::Stages { stages })
                } else {
                    Err(EXPECTED)
                }
            }
            Some(_) => Err(EXPECTED),
        }
    }
}

fn positive(text: &str, max: f64) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|value: &f64| *value > 0.0 && *value <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_read_as_it_is_written() {
        for text in [
            "5",
            "0.25",
            "ramp:2:20:60",
            "exponential:0.5:20:60.5",
            "stages:5x30,0x10,10.5x30",
        ] {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.to_string(), text);
        }
        assert_eq!(
            " stages: 5 × 30 , 6x7".parse(),
            Ok(Rate::Stages {
                stages: vec![
                    Stage {
                        per_s: 5.0,
                        for_s: 30.0
                    },
                    Stage { per_s: 6.0, for_s: 7.0 }
                ]
            })
        );
    }

    #[test]
    fn what_is_no_rate_says_what_would_be() {
        for text in [
            "",
            "0",
            "-1",
            "NaN",
            "inf",
            "1e9",
            "five",
            "ramp:1:2",
            "ramp:1:2:3:4",
            "ramp:0:2:3",
            "stages:",
            "stages:5",
            "stages:0x10",
            "stages:5x0",
            "x:1",
        ] {
            let wrong = text.parse::<Rate>();
            assert!(wrong.is_err_and(|expected| expected.contains("stages:5x30")), "{text}");
        }
    }
}
