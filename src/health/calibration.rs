//! What this browser on this machine adds to the truth, measured on streams whose frames' times are known.
//!
//! The demo endpoint records when it handed each frame to its socket; the simulated server inside the engine plays its
//! frames by a plan. Either way a run's records are compared with what is known:
//!
//! - error of a frame: when the engine read it − when it was handed over (or due)
//! - error of TTFT: TTFT as the engine saw it − as the server saw it

use serde::{Deserialize, Serialize};

use crate::{
    config::{Endpoint, RunConfig},
    demo::{Pace, truth::RequestTruth},
    metrics::Sample,
    request::{Outcome, RequestRecord},
};

/// A browser keeps up as long as the frames' error stays below this at p99, ms …
const KEEPS_UP_P99_MS: f64 = 20.0;
/// … and this share of the frames arrives in the time in which they were sent.
const KEEPS_UP_SHARE: f64 = 0.9;
/// Time to the first token of a known stream, ms.
const TTFT_MS: f64 = 100.0;

/// One measurement: so many streams at a time, at such a pace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Streams at a time.
    pub streams: u32,
    /// Time between the frames of a stream, ms.
    pub itl_ms: f64,
    /// Frames of a stream.
    pub tokens: u32,
    /// Whether it looks for the greatest rate, and not for the error at a moderate one.
    pub rate: bool,
}

/// All measurements, in order: 15 s together if the browser keeps up to the end.
pub const STEPS: [Step; 8] = [
    Step::error(1),
    Step::error(6),
    Step::error(32),
    Step::error(100),
    Step::rate(8.0),
    Step::rate(4.0),
    Step::rate(2.0),
    Step::rate(1.0),
];

impl Step {
    const fn error(streams: u32) -> Self {
        Self {
            streams,
            itl_ms: 20.0,
            tokens: 75,
            rate: false,
        }
    }

    const fn rate(itl_ms: f64) -> Self {
        Self {
            streams: 32,
            itl_ms,
            tokens: (1_500.0 / itl_ms) as u32,
            rate: true,
        }
    }

    /// The pace of its streams.
    pub fn pace(self) -> Pace {
        Pace {
            ttft_ms: TTFT_MS,
            itl_ms: self.itl_ms,
        }
    }

    /// The run that measures it.
    pub fn config(self, against: &Known) -> RunConfig {
        let mut config = RunConfig {
            endpoint: match against {
                Known::DemoEndpoint(base_url) => Endpoint::Http {
                    base_url: base_url.clone(),
                },
                Known::Worker => Endpoint::Simulated,
            },
            requests: self.streams,
            concurrency: self.streams,
            warmup: 1,
            input_tokens: 8,
            output_tokens: self.tokens,
            ..RunConfig::default()
        };
        config.extra_body.insert(Pace::KEY.to_owned(), self.pace().to_json());
        config
    }
}

/// Whose streams were known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// The demo endpoint at this base URL: the whole way through the browser's network.
    DemoEndpoint(String),
    /// The simulated server inside the engine: its timers and its reading, without any network.
    Worker,
}

/// What is known of the streams of one run.
pub enum Truth<'a> {
    /// What the demo endpoint recorded, and when the run began, ms since the Unix epoch.
    Recorded(&'a [RequestTruth], f64),
    /// The pace at which the simulated server played.
    Planned(Pace),
}

/// What came of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Streams asked for.
    pub streams: u32,
    /// Streams that the browser could have open.
    pub streams_had: u32,
    /// Whether the step looked for the greatest rate.
    pub rate: bool,
    /// Frames compared.
    pub frames: u64,
    /// Frames per second, first to last.
    pub frames_per_s: Option<f64>,
    /// Error of TTFT, ms: median.
    pub ttft_p50_ms: Option<f64>,
    /// 99th percentile of the same.
    pub ttft_p99_ms: Option<f64>,
    /// Error of the frames' times, ms: median.
    pub frame_p50_ms: Option<f64>,
    /// 99th percentile of the same.
    pub frame_p99_ms: Option<f64>,
    /// Whether the browser kept up.
    pub kept_up: bool,
}

/// What a calibration came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// When, ms since the Unix epoch.
    pub at_unix_ms: f64,
    /// Against what.
    pub against: Known,
    /// Its steps, as far as they were taken.
    pub levels: Vec<Level>,
}

impl Calibration {
    /// The greatest rate at which the browser kept up, frames per second.
    pub fn frames_per_s(&self) -> Option<f64> {
        let kept_up = self.levels.iter().filter(|level| level.kept_up);
        kept_up.filter_map(|level| level.frames_per_s).reduce(f64::max)
    }

    /// Whether that is no more than the greatest rate that was tried.
    pub fn is_at_least(&self) -> bool {
        self.levels.len() == STEPS.len() && self.levels.last().is_some_and(|level| level.kept_up)
    }

    /// Whether another step is worth taking after those so far.
    pub fn goes_on(&self) -> bool {
        self.levels.len() < STEPS.len() && self.levels.last().is_none_or(|last| !last.rate || last.kept_up)
    }
}

/// Compares one run with what is known of its streams.
pub fn compare(step: Step, streams_had: u32, records: &[RequestRecord], truth: &Truth<'_>) -> Level {
    let (mut frames, mut ttfts) = (Vec::new(), Vec::new());
    let (mut first_ms, mut last_ms) = (f64::INFINITY, f64::NEG_INFINITY);
    for record in records.iter().filter(|record| record.outcome == Outcome::Succeeded) {
        let dispatched_ms = record.times.dispatched_ms;
        let seen: Vec<f64> = record.marks.at_us.iter().map(|us| f64::from(*us) / 1000.0).collect();
        let Some((due, ttft_ms)) = due(record, truth) else {
            continue;
        };
        if due.len() != seen.len() {
            continue;
        }
        // Both from the dispatch on.
        frames.extend(seen.iter().zip(&due).map(|(seen, due)| seen - due));
        ttfts.extend(seen.first().map(|seen| seen - ttft_ms));
        for at_ms in [seen.first(), seen.last()].into_iter().flatten() {
            first_ms = first_ms.min(dispatched_ms + at_ms);
            last_ms = last_ms.max(dispatched_ms + at_ms);
        }
    }
    let count = frames.len() as u64;
    let [frame, ttft] = [Sample::new(frames), Sample::new(ttfts)];
    let frames_per_s = (last_ms > first_ms).then(|| count as f64 * 1000.0 / (last_ms - first_ms));
    // All streams begin together and have this length.
    let offered = f64::from(streams_had.min(step.streams)) * 1000.0 / step.itl_ms;
    Level {
        streams: step.streams,
        streams_had,
        rate: step.rate,
        frames: count,
        frames_per_s,
        ttft_p50_ms: ttft.percentile(50.0),
        ttft_p99_ms: ttft.percentile(99.0),
        frame_p50_ms: frame.percentile(50.0),
        frame_p99_ms: frame.percentile(99.0),
        kept_up: frame.percentile(99.0).is_some_and(|ms| ms <= KEEPS_UP_P99_MS)
            && frames_per_s.is_some_and(|rate| rate >= KEEPS_UP_SHARE * offered),
    }
}

/// When a request's token frames were due, from its dispatch on, and its TTFT as the server knows it; ms.
fn due(record: &RequestRecord, truth: &Truth<'_>) -> Option<(Vec<f64>, f64)> {
    match truth {
        Truth::Planned(pace) => {
            let due = (0..record.marks.at_us.len()).map(|n| pace.ttft_ms + n as f64 * pace.itl_ms);
            Some((due.collect(), pace.ttft_ms))
        }
        Truth::Recorded(recorded, started_unix_ms) => {
            let id = record.response_id.as_deref()?;
            let told = recorded.iter().find(|told| told.id == id)?;
            let dispatched_unix_ms = started_unix_ms + record.times.dispatched_ms;
            let handed = told.frames.iter().filter(|frame| frame.tokens > 0);
            let due: Vec<f64> = handed.map(|frame| frame.handed_unix_ms - dispatched_unix_ms).collect();
            let ttft_ms = due.first()? + dispatched_unix_ms - told.arrival_unix_ms;
            Some((due, ttft_ms))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        demo::{
            FrameKind,
            truth::{Ended, FrameTruth},
        },
        request::{Machine, Spec},
    };

    /// A request that was dispatched at 1000 ms and whose frames were read at these times.
    fn record(id: &str, at_ms: &[f64]) -> RequestRecord {
        let mut machine = Machine::new(Spec::default(), 1000.0);
        machine.headers(200, None, 1000.0);
        for at_ms in at_ms {
            let event =
                format!("data: {{\"id\":\"{id}\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"a\"}}}}]}}\n\n");
            let _ = machine.read(event.as_bytes(), *at_ms);
        }
        let _ = machine.read(b"data: [DONE]\n\n", at_ms.last().copied().unwrap_or(1000.0));
        RequestRecord::of(machine.finish(), 0, false, 0, 1000.0, None)
    }

    const STEP: Step = Step {
        streams: 1,
        itl_ms: 20.0,
        tokens: 3,
        rate: true,
    };

    #[test]
    fn a_planned_stream_is_compared_with_its_plan() {
        let seen = [record("a", &[1101.0, 1122.0, 1143.0])];
        let level = compare(STEP, 1, &seen, &Truth::Planned(STEP.pace()));
        assert_eq!(
            (level.frames, level.ttft_p50_ms, level.frame_p50_ms),
            (3, Some(1.0), Some(2.0))
        );
        assert_eq!((level.frames_per_s, level.kept_up), (Some(3000.0 / 42.0), true));
    }

    #[test]
    fn a_recorded_stream_is_compared_with_the_record() {
        let frame = |handed_unix_ms, tokens| FrameTruth {
            handed_unix_ms,
            tokens,
            kind: FrameKind::Token,
            bytes: 1,
        };
        let told = RequestTruth {
            id: "a".into(),
            arrival_unix_ms: 501_002.0,
            fault: None,
            status: 200,
            model: String::new(),
            prompt_tokens: 1,
            tokens_planned: 2,
            tokens_handed: 2,
            frames: vec![frame(501_090.0, 0), frame(501_102.0, 1), frame(501_122.0, 1)],
            ended: Ended::Completed,
        };
        let seen = [record("a", &[1102.5, 1123.5]), record("unknown", &[1.0, 2.0])];
        let level = compare(STEP, 1, &seen, &Truth::Recorded(&[told], 500_000.0));
        // The request took 2 ms to arrive, the first frame 0.5 ms to come back.
        assert_eq!((level.frames, level.ttft_p50_ms), (2, Some(2.5)));
        assert_eq!(level.frame_p50_ms, Some(1.0));
    }

    #[test]
    fn late_frames_end_the_search() {
        let seen = [record("a", &[1101.0, 1150.0, 1300.0])];
        let late = compare(STEP, 1, &seen, &Truth::Planned(STEP.pace()));
        assert!(!late.kept_up);
        let mut calibration = Calibration {
            at_unix_ms: 0.0,
            against: Known::Worker,
            levels: vec![],
        };
        assert!(calibration.goes_on());
        calibration.levels.push(Level { rate: false, ..late });
        assert!(calibration.goes_on());
        calibration.levels.push(late);
        assert!(!calibration.goes_on() && !calibration.is_at_least());
        assert_eq!(calibration.frames_per_s(), None);
    }

    #[test]
    fn nothing_compared_is_not_available() {
        let level = compare(STEP, 1, &[], &Truth::Planned(STEP.pace()));
        assert_eq!(
            (level.frames, level.frame_p99_ms, level.frames_per_s, level.kept_up),
            (0, None, None, false)
        );
    }
}
