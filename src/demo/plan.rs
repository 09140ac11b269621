//! What the scripted endpoint will do with a request: decided at its arrival, played by its host.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    DemoConfig, FaultKind,
    batch::Batch,
    shapes::{Shape, http_error},
};
use crate::{
    config::{Api, RunConfig},
    protocol::ServerLoad,
};

const WORDS: [&str; 24] = [
    "the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while", "seven", "grey", "clouds", "drift",
    "slowly", "past", "an", "old", "stone", "tower", "near", "the", "river", "bank",
];

/// A request, as far as the plan depends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The API asked.
    pub api: Api,
    /// Model name, sent back.
    pub model: String,
    /// Prompt length, tokens.
    pub prompt_tokens: u32,
    /// Longest answer, tokens.
    pub max_tokens: u32,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// `stream_options.include_usage`
    pub include_usage: bool,
    /// `stream_options.continuous_usage_stats`
    pub continuous_usage: bool,
    /// The fault asked for by the request itself.
    pub fault: Option<FaultKind>,
    /// The pace asked for by the request itself.
    pub pace: Option<Pace>,
}

/// A pace that a request asks for: then nothing of the endpoint's own latencies, batch and faults applies to it, so that
/// a client can measure itself on a stream it knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Time to the first token, ms.
    pub ttft_ms: f64,
    /// Time between tokens, ms.
    pub itl_ms: f64,
}

impl Pace {
    /// Its key in a request's body.
    pub const KEY: &'static str = "demo_pace";

    /// As it stands in a body.
    pub fn to_json(self) -> Value {
        json!({"ttft_ms": self.ttft_ms, "itl_ms": self.itl_ms})
    }

    /// The pace in a body's value; at most a minute to the first token and ten seconds between tokens.
    pub fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            ttft_ms: value["ttft_ms"].as_f64()?.clamp(0.0, 60_000.0),
            itl_ms: value["itl_ms"].as_f64()?.clamp(0.0, 10_000.0),
        })
    }
}

impl Ask {
    /// What a run's requests ask, of the lengths that the configuration has.
    pub fn from_config(config: &RunConfig) -> Self {
        Self {
            api: config.api,
            model: "simulated".into(),
            prompt_tokens: config.input_tokens,
            max_tokens: config.output_tokens,
            stream: config.stream,
            include_usage: true,
            continuous_usage: true,
            fault: None,
            pace: config.extra_body.get(Pace::KEY).and_then(Pace::from_json),
        }
    }
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// The role chunk.
    Role,
    /// One token.
    Token,
    /// The end of the answer.
    Finish,
    /// Token counts.
    Usage,
    /// `[DONE]`
    Done,
    /// An error event or an error's body.
    Error,
    /// A chunk that is no JSON.
    Malformed,
    /// A whole answer.
    Whole,
}

/// Bytes and when they are due.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedFrame {
    /// When, on the host's clock, ms.
    pub at_ms: f64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Tokens in them.
    pub tokens: u32,
    /// What they are.
    pub kind: FrameKind,
}

/// How the response ends after its last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanEnding {
    /// Neatly.
    Eof,
    /// The connection breaks.
    Cut,
    /// Not at all: silence on an open connection.
    Open,
}

/// What will happen to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its number, from 1, in the order of arrival.
    pub number: u64,
    /// The server's name for it.
    pub id: String,
    /// The fault it meets.
    pub fault: Option<FaultKind>,
    /// HTTP status.
    pub status: u16,
    /// Content type.
    pub content_type: String,
    /// Further response headers.
    pub headers: Vec<(String, String)>,
    /// When the headers are due, ms on the host's clock.
    pub headers_at_ms: f64,
    /// The frames, in order.
    pub frames: Vec<TimedFrame>,
    /// How it ends.
    pub ending: PlanEnding,
}

/// The scripted endpoint.
#[derive(Clone, Debug)]
pub struct Server {
    config: DemoConfig,
    seed: u64,
    batch: Batch,
    arrived: u64,
}

impl Server {
    /// An idle endpoint.
    pub fn new(config: DemoConfig, seed: u64) -> Self {
        Self {
            batch: Batch::new(config.batch_limit),
            config,
            seed,
            arrived: 0,
        }
    }

    /// How it behaves.
    pub fn config(&self) -> &DemoConfig {
        &self.config
    }

    /// Changes which requests fail from now on.
    pub fn set_faults(&mut self, faults: Vec<super::FaultShare>) {
        self.config.faults = faults;
    }

    /// What it tells of its load. Its cache is as full as its batch.
    pub fn load(&self, now_ms: f64) -> ServerLoad {
        let (running, waiting) = self.batch.load(now_ms);
        ServerLoad {
            running: running as u64,
            waiting: waiting as u64,
            cache_used: Some(self.batch.fullness(now_ms)),
        }
    }

    /// A client went away: its slot is free.
    pub fn release(&mut self, number: u64) {
        self.batch.leave(number);
    }

    /// Decides what happens to a request that arrives now. The seed and the order of arrival decide what is random.
    pub fn plan(&mut self, now_ms: f64, ask: &Ask) -> Plan {
        self.arrived += 1;
        let number = self.arrived;
        let mut rng = Pcg64Mcg::seed_from_u64(self.seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let drawn = self.draw_fault(&mut rng);
        let fault = ask.fault.or(drawn.filter(|_| ask.pace.is_none()));
        let id = format!("demo-{:08x}-{number}", rng.random::<u32>());
        if let Some((status, body)) = fault.and_then(http_error) {
            return self.error_plan(number, id, fault, status, &body, now_ms);
        }
        let (starts_ms, slowdown) = if ask.pace.is_some() {
            (now_ms, 1.0)
        } else {
            let starts_ms = self.batch.turn_ms(now_ms);
            (
                starts_ms,
                1.0 + self.config.load_slowdown * self.batch.fullness(starts_ms),
            )
        };
        let (ttft_ms, itl_ms) = match ask.pace {
            Some(pace) => (pace.ttft_ms, pace.itl_ms),
            None => {
                let prefill_ms = self.config.prefill_ms_per_1k * f64::from(ask.prompt_tokens) / 1000.0;
                (self.config.ttft_ms + prefill_ms, self.config.itl_ms)
            }
        };
        let spread = |rng: &mut Pcg64Mcg| if ask.pace.is_some() { 1.0 } else { self.spread(rng) };
        let first_ms = starts_ms + ttft_ms * slowdown * spread(&mut rng);
        let shape = Shape {
            id: &id,
            model: &ask.model,
            ask,
        };
        let script = Script::new(ask, fault, self.config.reasoning_share, number);
        let mut due_ms = first_ms;
        let times: Vec<f64> = (0..script.tokens.max(1))
            .map(|token| {
                if token > 0 {
                    due_ms += itl_ms * slowdown * spread(&mut rng);
                }
                due_ms
            })
            .collect();
        if ask.pace.is_none() {
            self.batch.enter(number, due_ms);
        }
        let frames = if ask.stream {
            script.stream(&shape, &times)
        } else {
            script.whole(&shape, due_ms)
        };
        let streamed = ask.stream;
        Plan {
            number,
            fault,
            status: 200,
            content_type: if streamed {
                "text/event-stream; charset=utf-8"
            } else {
                "application/json"
            }
            .into(),
            headers: Vec::new(),
            // SGLang answers a stream's headers with its first output.
            headers_at_ms: if streamed { first_ms } else { due_ms },
            frames,
            ending: match fault {
                Some(FaultKind::Cut) => PlanEnding::Cut,
                Some(FaultKind::Stall) => PlanEnding::Open,
                _ => PlanEnding::Eof,
            },
            id,
        }
    }

    fn draw_fault(&self, rng: &mut Pcg64Mcg) -> Option<FaultKind> {
        let mut drawn: f64 = rng.random();
        self.config.faults.iter().find_map(|fault| {
            drawn -= fault.share;
            (drawn < 0.0).then_some(fault.kind)
        })
    }

    fn error_plan(
        &self,
        number: u64,
        id: String,
        fault: Option<FaultKind>,
        status: u16,
        body: &Value,
        now_ms: f64,
    ) -> Plan {
        let bytes = body.to_string().into_bytes();
        Plan {
            number,
            id,
            fault,
            status,
            content_type: "application/json".into(),
            headers: if status == 429 {
                vec![("retry-after".into(), "1".into())]
            } else {
                Vec::new()
            },
            headers_at_ms: now_ms,
            frames: vec![TimedFrame {
                at_ms: now_ms,
                bytes,
                tokens: 0,
                kind: FrameKind::Error,
            }],
            ending: PlanEnding::Eof,
        }
    }

    /// A factor around 1 with the configured relative spread, log-normal. The normal under it is a sum of uniforms (its
    /// tails end at six deviations): a sampler's tables would be a measurable part of what the page loads.
    fn spread(&self, rng: &mut Pcg64Mcg) -> f64 {
        let normal = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let variance = (self.config.jitter * self.config.jitter).ln_1p();
        (variance.sqrt() * normal - variance / 2.0).exp()
    }
}

/// The answer's tokens and its end.
struct Script {
    fault: Option<FaultKind>,
    /// Tokens that come.
    tokens: u32,
    /// Of these, reasoning.
    reasoning: u32,
    first_word: usize,
}

impl Script {
    fn new(ask: &Ask, fault: Option<FaultKind>, reasoning_share: f64, number: u64) -> Self {
        let whole = ask.max_tokens.max(1);
        // A failure in mid-answer comes after a quarter of it, but after one token at least.
        let tokens = match fault {
            None => whole,
            Some(FaultKind::ErrorFirst | FaultKind::NoTokens) => 0,
            Some(_) => (whole / 4).clamp(1, 40),
        };
        let reasoning = if ask.api == Api::Chat {
            (f64::from(whole) * reasoning_share).round() as u32
        } else {
            0
        };
        Self {
            fault,
            tokens,
            reasoning: reasoning.min(tokens),
            first_word: (number % WORDS.len() as u64) as usize,
        }
    }

    fn word(&self, position: u32) -> String {
        let word = WORDS[(self.first_word + position as usize) % WORDS.len()];
        if position == 0 || position == self.reasoning {
            word.to_owned()
        } else {
            format!(" {word}")
        }
    }

    fn stream(&self, shape: &Shape<'_>, times: &[f64]) -> Vec<TimedFrame> {
        let mut frames = Vec::with_capacity(times.len() + 4);
        let last_ms = times[times.len() - 1];
        let mut push = |at_ms: f64, bytes: Vec<u8>, tokens: u32, kind: FrameKind| {
            frames.push(TimedFrame {
                at_ms,
                bytes,
                tokens,
                kind,
            });
        };
        if let Some(role) = shape.role().filter(|_| self.fault != Some(FaultKind::ErrorFirst)) {
            push(times[0], role, 0, FrameKind::Role);
        }
        let mut text = String::new();
        for token in 0..self.tokens {
            let word = self.word(token);
            text.push_str(&word);
            let bytes = shape.token(&word, token < self.reasoning, token + 1, &text);
            push(times[token as usize], bytes, 1, FrameKind::Token);
        }
        match self.fault {
            Some(FaultKind::Cut | FaultKind::Stall | FaultKind::NoFinish) => return frames,
            Some(FaultKind::ErrorFirst | FaultKind::ErrorMid) => push(last_ms, shape.error(), 0, FrameKind::Error),
            Some(FaultKind::Abort) => push(last_ms, shape.finish("abort", self.tokens, &text), 0, FrameKind::Finish),
            Some(FaultKind::MalformedJson) => {
                push(last_ms, shape.malformed(), 0, FrameKind::Malformed);
                push(
                    last_ms,
                    shape.finish("length", self.tokens, &text),
                    0,
                    FrameKind::Finish,
                );
            }
            _ => push(
                last_ms,
                shape.finish("length", self.tokens, &text),
                0,
                FrameKind::Finish,
            ),
        }
        if let Some(usage) = shape.usage(self.tokens, self.reasoning) {
            push(last_ms, usage, 0, FrameKind::Usage);
        }
        push(last_ms, shape.done(), 0, FrameKind::Done);
        frames
    }

    /// An answer that is not streamed. Faults of a stream's middle become what such a server does without one.
    fn whole(&self, shape: &Shape<'_>, at_ms: f64) -> Vec<TimedFrame> {
        let words = |range: std::ops::Range<u32>| range.map(|token| self.word(token)).collect::<String>();
        let (reasoning, text) = (words(0..self.reasoning), words(self.reasoning..self.tokens));
        let mut bytes = match self.fault {
            Some(FaultKind::ErrorFirst | FaultKind::ErrorMid) => {
                let (_, body) = http_error(FaultKind::Http503).unwrap_or_default();
                body.to_string().into_bytes()
            }
            Some(FaultKind::Abort) => shape.whole(&text, &reasoning, self.tokens, self.reasoning, "abort"),
            _ => shape.whole(&text, &reasoning, self.tokens, self.reasoning, "length"),
        };
        if matches!(
            self.fault,
            Some(FaultKind::Cut | FaultKind::NoFinish | FaultKind::MalformedJson | FaultKind::Stall)
        ) {
            bytes.truncate(bytes.len() / 2);
        }
        vec![TimedFrame {
            at_ms,
            bytes,
            tokens: self.tokens,
            kind: FrameKind::Whole,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        demo::FaultShare,
        request::{Flow, Machine, Outcome, Reading, Spec, TimeoutKind},
    };

    #[test]
    fn a_pace_asked_for_is_kept_whatever_the_endpoint_is_set_to() {
        let config = DemoConfig {
            batch_limit: 1,
            faults: FaultShare::parse_list("http_503=1").expect("a fault"),
            ..DemoConfig::default()
        };
        let mut server = Server::new(config, 1);
        let json = Pace {
            ttft_ms: 30.0,
            itl_ms: 4.0,
        }
        .to_json();
        for _ in 0..3 {
            let pace = Pace::from_json(&json);
            let plan = server.plan(100.0, &Ask { pace, ..ask(Api::Chat) });
            let times: Vec<f64> = plan.frames.iter().filter(|f| f.tokens > 0).map(|f| f.at_ms).collect();
            assert_eq!((plan.status, plan.fault), (200, None));
            assert_eq!(times[..3], [130.0, 134.0, 138.0]);
        }
    }

    fn ask(api: Api) -> Ask {
        let config = RunConfig {
            api,
            output_tokens: 12,
            input_tokens: 100,
            ..RunConfig::default()
        };
        Ask::from_config(&config)
    }

    /// Plays a plan to the state machine.
    fn read(plan: &Plan, api: Api, stream: bool) -> Reading {
        let spec = Spec {
            api,
            stream,
            requested_tokens: Some(12),
            keep_text: true,
            keep_bytes: 10_000,
        };
        let mut machine = Machine::new(spec, 0.0);
        machine.headers(plan.status, Some(&plan.content_type), plan.headers_at_ms);
        for frame in &plan.frames {
            if machine.read(&frame.bytes, frame.at_ms) == Flow::Complete {
                return machine.finish();
            }
        }
        match plan.ending {
            PlanEnding::Eof => machine.eof(1e6),
            PlanEnding::Cut => machine.broken("cut", 1e6),
            PlanEnding::Open => machine.timeout(TimeoutKind::Stall, 1e6),
        }
        machine.finish()
    }

    #[test]
    fn each_fault_is_read_as_the_outcome_it_stands_for() {
        for api in Api::ALL {
            for fault in FaultKind::ALL {
                let plan = Server::new(DemoConfig::default(), 1).plan(
                    0.0,
                    &Ask {
                        fault: Some(fault),
                        ..ask(api)
                    },
                );
                let due = match fault {
                    FaultKind::Http429 | FaultKind::Http500 | FaultKind::Http503 => Outcome::HttpError,
                    FaultKind::ErrorFirst | FaultKind::ErrorMid => Outcome::StreamError,
                    FaultKind::Abort => Outcome::Aborted,
                    FaultKind::Cut | FaultKind::NoFinish => Outcome::Truncated,
                    FaultKind::MalformedJson => Outcome::Malformed,
                    FaultKind::NoTokens => Outcome::Empty,
                    FaultKind::Stall => Outcome::Timeout,
                };
                let reading = read(&plan, api, true);
                assert_eq!(reading.outcome, due, "{api:?} {fault:?} {:?}", reading.failure);
            }
        }
    }

    #[test]
    fn an_answer_without_fault_is_a_success_with_all_its_tokens() {
        for api in Api::ALL {
            for stream in [true, false] {
                let config = DemoConfig {
                    reasoning_share: 0.5,
                    ..DemoConfig::default()
                };
                let plan = Server::new(config, 1).plan(0.0, &Ask { stream, ..ask(api) });
                let reading = read(&plan, api, stream);
                assert_eq!(
                    reading.outcome,
                    Outcome::Succeeded,
                    "{api:?} {stream} {:?}",
                    reading.failure
                );
                assert_eq!(reading.tokens.output, Some(12), "{api:?} {stream}");
                assert_eq!(reading.response_id.as_deref(), Some(plan.id.as_str()));
                if stream {
                    assert_eq!(reading.marks.tokens, [1; 12], "{api:?}");
                }
                if api == Api::Chat {
                    assert_eq!(reading.reasoning.split(' ').count(), 6);
                    assert_eq!(reading.text.split(' ').count(), 6);
                }
            }
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_plan_and_another_makes_another() {
        let plan = |seed| Server::new(DemoConfig::default(), seed).plan(3.0, &ask(Api::Chat));
        assert_eq!(plan(5), plan(5));
        assert_ne!(plan(5), plan(6));
    }

    #[test]
    fn load_and_prompt_length_make_it_slower() {
        let config = DemoConfig {
            jitter: 0.0,
            batch_limit: 2,
            ..DemoConfig::default()
        };
        let first = |server: &mut Server, ask: &Ask| server.plan(0.0, ask).headers_at_ms;
        let mut server = Server::new(config.clone(), 1);
        let idle = first(&mut server, &ask(Api::Chat));
        let beside_one = first(&mut server, &ask(Api::Chat));
        let queued = first(&mut server, &ask(Api::Chat));
        assert!(idle < beside_one && beside_one < queued, "{idle} {beside_one} {queued}");
        let long = first(
            &mut Server::new(config, 1),
            &Ask {
                prompt_tokens: 10_000,
                ..ask(Api::Chat)
            },
        );
        assert!(long > idle, "{long} {idle}");
    }

    #[test]
    fn the_spread_has_the_asked_mean_and_deviation() {
        let server = Server::new(
            DemoConfig {
                jitter: 0.3,
                ..DemoConfig::default()
            },
            1,
        );
        let mut rng = Pcg64Mcg::seed_from_u64(4);
        let values: Vec<f64> = (0..20_000).map(|_| server.spread(&mut rng)).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 20_000.0).sqrt();
        assert!(
            (mean - 1.0).abs() < 0.01 && (deviation - 0.3).abs() < 0.01,
            "{mean} {deviation}"
        );
    }

    #[test]
    fn shares_of_faults_come_about() {
        let faults = vec![
            FaultShare {
                kind: FaultKind::Cut,
                share: 0.25,
            },
            FaultShare {
                kind: FaultKind::Abort,
                share: 0.25,
            },
        ];
        let mut server = Server::new(
            DemoConfig {
                faults,
                ..DemoConfig::default()
            },
            9,
        );
        let plans: Vec<_> = (0..4000)
            .map(|i| server.plan(f64::from(i) * 1e4, &ask(Api::Chat)).fault)
            .collect();
        for kind in [FaultKind::Cut, FaultKind::Abort] {
            let n = plans.iter().filter(|fault| **fault == Some(kind)).count();
            // Five standard deviations of a binomial draw.
            assert!((863..=1137).contains(&n), "{kind:?}: {n}");
        }
    }

    #[test]
    fn frames_are_in_the_order_of_their_times() {
        let plan = Server::new(
            DemoConfig {
                jitter: 1.0,
                ..DemoConfig::default()
            },
            3,
        )
        .plan(7.0, &ask(Api::Chat));
        assert!(plan.frames.is_sorted_by(|a, b| a.at_ms <= b.at_ms));
        assert!(plan.frames[0].at_ms >= 7.0);
    }
}
