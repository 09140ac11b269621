//! One run: warm-up, then the measured requests, with the records and the health of both.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    pin::pin,
    rc::Rc,
};

use futures_channel::oneshot;
use futures_util::future::{Either, join_all, select};
use js_sys::Uint8Array;
use serde_json::{Value, json};
use wasm_bindgen_futures::spawn_local;

use super::{
    burst::first_wave,
    clock::{Clock, cross_origin_isolated},
    command::Start,
    exchange::{Active, Ask, converse},
    lanes::Lanes,
    recount::count_tokens,
    server::server_facts,
    server_side, tokens,
    worker::tell,
};
use crate::{
    config::{Endpoint, LanePolicy, RunConfig, Secret, form::MAX_REQUESTS, load::Arrival},
    demo,
    health::{Health, Monitor},
    load::{
        EngineEvent, Progress, RunEnd, TokenBucket,
        lanes::{self, LanePlan, Protocol},
        schedule::schedule,
    },
    protocol::{self, Concessions, Prompt, ServerLoad},
    report::{Ending, LoadSample, ServerFacts, Slots},
    request::{Evidence, Failure, Outcome, RequestRecord, Rule, Spec},
    workload::{Item, OwnedPrompt, Source, Turn},
};

/// How often the page hears of the run.
const REPORT_MS: f64 = 250.0;
/// How often limits are checked and the engine's own timer is timed.
const WATCH_MS: f64 = 20.0;
/// How often the server is asked for its load.
const LOAD_EVERY_MS: f64 = 1_000.0;
/// The same while it is only waited for.
const SETTLE_EVERY_MS: f64 = 250.0;
/// How long the server may take to become idle.
const SETTLE_MS: f64 = 30_000.0;
/// Bytes kept per response while it may still fail.
const KEPT_PER_REQUEST: usize = 64 * 1024;
/// Bytes kept per run. Past it, failures keep their first [`KEPT_PAST_BOUND`] bytes.
const KEPT_PER_RUN: usize = 16 * 1024 * 1024;
/// Bytes kept per failure once the run's bound is reached …
const KEPT_PAST_BOUND: usize = 512;
/// … but for the first failures of each kind, which are kept whole.
const KEPT_WHOLE: u32 = 3;

/// What makes two failures alike.
type FailureKind = (Outcome, Option<Rule>, Option<String>);

/// One run.
pub struct Run {
    /// What was asked.
    pub config: RunConfig,
    /// The run's clock; all times are on it.
    pub clock: Clock,
    /// The last finding about rejected fetches, and when.
    pub finding: RefCell<Option<(f64, String)>>,
    /// Whether the server has answered any request of this run.
    pub answered: Cell<bool>,
    /// Whether this page could read the server's list of models.
    pub listed: Cell<bool>,
    /// The page's origin.
    pub page_origin: String,
    key: Secret,
    /// The configuration that bodies are made from: with the first listed model where none was named.
    asked: RefCell<RunConfig>,
    stopping: Cell<bool>,
    /// Whether the server's idleness is not to be waited for: it was not asked for, cannot be seen, or is not wanted.
    not_waiting: Cell<bool>,
    server_load: RefCell<Vec<LoadSample>>,
    over: Cell<bool>,
    lanes: RefCell<Option<Rc<Lanes>>>,
    active: RefCell<Vec<Rc<Active>>>,
    conceded: Cell<Concessions>,
    simulated: RefCell<demo::Server>,
    source: RefCell<Source>,
    /// Tokens around a prompt that every prompt shares: a chat template.
    tokens_around: Cell<f64>,
    /// Prompt tokens, and those of them that the server had cached, of successful measured requests.
    prompt_tokens: Cell<(u64, u64)>,
    /// Turns that were not asked because one before them failed.
    turns_left_out: Cell<u32>,
    buffer: RefCell<Vec<u8>>,
    kept: Cell<usize>,
    kinds: RefCell<HashMap<FailureKind, u32>>,
    notes: RefCell<Vec<String>>,
    warming_up: Cell<bool>,
    dispatched: Cell<u32>,
    records: RefCell<Vec<RequestRecord>>,
    tokens: RefCell<BTreeMap<u32, u32>>,
    monitor: RefCell<Monitor>,
    measured_from_ms: Cell<Option<f64>>,
    measured_to_ms: Cell<f64>,
    /// Answers to be counted again, with the index of their request.
    answers: RefCell<Vec<(u32, String)>>,
    /// When requests that still run are cancelled, if the run has a duration.
    cutoff_ms: Cell<Option<f64>>,
}

impl Run {
    /// A run that has not begun.
    pub fn new(start: Start) -> Rc<Self> {
        let config = start.config;
        let source = Source::new(&config, start.items);
        Rc::new(Self {
            clock: Clock::start(),
            finding: RefCell::default(),
            answered: Cell::new(false),
            listed: Cell::new(false),
            asked: RefCell::new(config.clone()),
            key: Secret::new(start.key.as_deref().unwrap_or_default()),
            page_origin: start.page_origin,
            stopping: Cell::new(false),
            not_waiting: Cell::new(true),
            server_load: RefCell::default(),
            over: Cell::new(false),
            lanes: RefCell::default(),
            active: RefCell::default(),
            conceded: Cell::default(),
            simulated: RefCell::new(demo::Server::new(config.demo.clone(), config.seed)),
            source: RefCell::new(source),
            tokens_around: Cell::default(),
            prompt_tokens: Cell::default(),
            turns_left_out: Cell::default(),
            buffer: RefCell::default(),
            kept: Cell::new(0),
            kinds: RefCell::default(),
            notes: RefCell::default(),
            warming_up: Cell::new(true),
            dispatched: Cell::new(0),
            records: RefCell::default(),
            tokens: RefCell::default(),
            monitor: RefCell::default(),
            measured_from_ms: Cell::new(None),
            measured_to_ms: Cell::new(0.0),
            answers: RefCell::default(),
            cutoff_ms: Cell::new(None),
            config,
        })
    }

    /// Sends nothing new and aborts what runs.
    pub fn stop(&self) {
        self.stopping.set(true);
        self.cut();
    }

    /// Ends the wait for the server to become idle.
    pub fn do_not_wait(&self) {
        self.not_waiting.set(true);
    }

    /// Aborts what runs, and gives out no more places.
    fn cut(&self) {
        if let Some(lanes) = self.lanes.borrow().as_ref() {
            lanes.close();
        }
        let active = self.active.borrow().clone();
        active.iter().for_each(|active| active.cancel(self.clock.now_ms()));
    }

    /// Runs to the end and tells the page all along.
    pub async fn drive(self: Rc<Self>) {
        if let Some(problem) = self.source.borrow().problem().or_else(|| self.lacks_times()) {
            tell(&EngineEvent::Failed {
                message: problem.to_owned(),
            });
            return;
        }
        {
            let health = &mut self.monitor.borrow_mut().health;
            health.clock_step_ms = self.clock.step_ms();
            health.cross_origin_isolated = cross_origin_isolated();
        }
        spawn_local(self.clone().watch());
        let (server, plan) = match select(pin!(self.prepare()), pin!(self.until_stopped())).await {
            Either::Left((prepared, _)) => prepared,
            Either::Right(_) => (ServerFacts::of(&self.config), LanePlan::before_contact(&self.config)),
        };
        let asked = self.config.most_in_flight().unwrap_or(plan.slots);
        self.monitor.borrow_mut().health.slots_asked = asked;
        let owned_by = server.owned_by.clone();
        tell(&EngineEvent::Started {
            started_unix_ms: self.clock.started_unix_ms(),
            slots: Slots {
                asked,
                had: plan.slots,
                lanes: plan.base_urls,
            },
            server,
        });
        spawn_local(self.clone().report());
        self.closed_loop(true, self.config.warmup).await;
        if let Err(message) = self.flush(owned_by.as_deref()).await {
            self.over.set(true);
            tell(&EngineEvent::Failed { message });
            return;
        }
        self.warming_up.set(false);
        self.measure().await;
        self.over.set(true);
        self.tell_progress();
        let ending = if self.stopping.get() {
            Ending::StoppedByUser
        } else {
            Ending::Completed
        };
        self.settle().await;
        self.recount().await;
        self.note_prompts();
        let measured_from_ms = self.measured_from_ms.get().unwrap_or_else(|| self.clock.now_ms());
        tell(&EngineEvent::Finished(RunEnd {
            ending,
            measured_from_ms,
            duration_ms: (self.measured_to_ms.get() - measured_from_ms).max(0.0),
            health: self.health_now(),
            notes: self.notes.borrow().clone(),
        }));
    }

    /// Keeps the text of an answer until it is counted, where that is asked.
    pub fn keep_for_recount(&self, ask: &Ask, reasoning: &str, text: &str) {
        if self.config.recount && !ask.warmup {
            self.answers
                .borrow_mut()
                .push((ask.index, format!("{reasoning}{text}")));
        }
    }

    /// Asks the server for the tokens of the answers, and drops their texts.
    async fn recount(&self) {
        let texts = self.answers.take();
        let Endpoint::Http { base_url } = &self.config.endpoint else {
            return;
        };
        if texts.is_empty() || self.stopping.get() {
            return;
        }
        let model = self.asked.borrow().model.clone();
        let counts = count_tokens(base_url, &self.headers(), &model, &texts, || self.stopping.get()).await;
        if counts.len() < texts.len() {
            self.notes.borrow_mut().push(format!(
                "The server's /tokenize counted {} of {} answers; the others keep the counts they have.",
                counts.len(),
                texts.len()
            ));
        }
        tell(&EngineEvent::Recounted(counts));
    }

    /// Asks the server what it is, and opens the lanes.
    async fn prepare(self: &Rc<Self>) -> (ServerFacts, LanePlan) {
        let (mut server, listed) = server_facts(&self.config, &self.headers()).await;
        self.listed.set(listed);
        self.asked.borrow_mut().model.clone_from(&server.model);
        if server.counts_tokens() {
            self.calibrate().await;
        } else if self.source.borrow().makes_words() && self.config.endpoint != Endpoint::Simulated {
            self.note(
                "This kind of server is not known to count tokens for others, so it was asked nothing before the run. \
                 Prompts have as many words as tokens were asked for.",
            );
        }
        if server.demo {
            self.burst().await;
        }
        let plan = self.make_lanes().await;
        if let Endpoint::Http { base_url } = &self.config.endpoint
            && self.config.server_side.keep_details
        {
            server.details = server_side::details(base_url, &self.headers()).await.map(Box::new);
            if server.details.is_none() {
                self.note("The server told nothing of its settings: it has neither /server_info nor /model_info, or keeps them from this page.");
            }
        }
        self.begin_to_watch(&server, &plan).await;
        (server, plan)
    }

    /// Empties the server's cache, where that was asked.
    async fn flush(&self, owned_by: Option<&str>) -> Result<(), String> {
        match &self.config.endpoint {
            Endpoint::Http { base_url } if self.config.server_side.flush_cache && !self.stopping.get() => {
                server_side::flush(base_url, &self.headers(), owned_by).await
            }
            _ => Ok(()),
        }
    }

    /// Asks the server for its load, and from then on once a second, where it tells and where there is room to ask.
    async fn begin_to_watch(self: &Rc<Self>, server: &ServerFacts, plan: &LanePlan) {
        if !self.config.server_side.watch {
            return;
        }
        let Endpoint::Http { base_url } = &self.config.endpoint else {
            self.not_waiting.set(false);
            spawn_local(self.clone().watch_load(String::new()));
            return;
        };
        if server.owned_by.as_deref() != Some("sglang") {
            return;
        }
        let Some(load) = self.ask_load(base_url).await else {
            return;
        };
        self.not_waiting.set(!load.is_idle());
        if !load.is_idle() {
            self.note(&format!(
                "The server was at work for others when this run began ({}): the figures tell what it has left.",
                load.words()
            ));
        }
        match plan.watch_url(&self.config, self.protocol()) {
            Some(url) => spawn_local(self.clone().watch_load(url)),
            None => self.note(
                "The server's load was not watched: this run may need every connection that the browser opens to it. \
                 Fewer requests at a time leave room, and so do HTTP/2 and more names.",
            ),
        }
    }

    async fn ask_load(&self, base_url: &str) -> Option<ServerLoad> {
        match self.config.endpoint {
            Endpoint::Simulated => Some(self.simulated.borrow().load(self.clock.now_ms())),
            Endpoint::Http { .. } => server_side::load(base_url, &self.headers()).await,
        }
    }

    /// Asks for the load until the run is over, or the server does not answer.
    async fn watch_load(self: Rc<Self>, base_url: String) {
        while !self.over.get() {
            let due_ms = self.clock.now_ms() + LOAD_EVERY_MS;
            let Some(load) = self.ask_load(&base_url).await else {
                return;
            };
            let at_ms = self.clock.now_ms();
            self.server_load.borrow_mut().push(LoadSample { at_ms, load });
            while !self.over.get() && self.clock.now_ms() < due_ms {
                let next_ms = due_ms.min(self.clock.now_ms() + REPORT_MS);
                self.clock.sleep_until(next_ms).await;
            }
        }
    }

    /// Waits until the server is idle again, so that nothing of this run is left in the next one, and tells of it.
    async fn settle(&self) {
        let base_url = match &self.config.endpoint {
            Endpoint::Http { base_url } => base_url.clone(),
            Endpoint::Simulated => String::new(),
        };
        let give_up_ms = self.clock.now_ms() + SETTLE_MS;
        while !self.not_waiting.get() {
            let Some(load) = self.ask_load(&base_url).await.filter(|load| !load.is_idle()) else {
                return;
            };
            if self.clock.now_ms() > give_up_ms {
                return self.note(&format!(
                    "{} s after this run the server was still at work ({}): for others, or it did not notice that requests were aborted.",
                    SETTLE_MS / 1000.0,
                    load.words()
                ));
            }
            tell(&EngineEvent::Settling(load));
            self.clock.sleep_until(self.clock.now_ms() + SETTLE_EVERY_MS).await;
        }
    }

    /// Learns how many words make the asked lengths, and which token ids there are, where prompts are made up.
    async fn calibrate(&self) {
        if !self.source.borrow().makes_words() || self.config.endpoint == Endpoint::Simulated {
            return;
        }
        let asked = self.asked.borrow().clone();
        let Some(tokenizer) = tokens::learn(&asked, &self.headers()).await else {
            self.note("The server did not tell how many tokens it makes of words. Prompts have as many words as tokens were asked for.");
            return;
        };
        let rate = tokenizer.rate;
        let ids = self.config.workload.sends_token_ids();
        if !ids && ((rate.tokens_per_word - 1.0).abs() >= 0.005 || rate.around >= 1.0) {
            self.note(&format!(
                "Prompts are made to their asked length by {}: {:.2} tokens a word, {} around each prompt.",
                tokenizer.by,
                rate.tokens_per_word,
                rate.around.round()
            ));
        }
        if ids && tokenizer.ids.is_empty() {
            self.note("The server's vocabulary is not known. Token ids are drawn from 1,000 to 9,999.");
        }
        self.tokens_around.set(rate.around);
        self.source.borrow_mut().calibrate(rate, tokenizer.ids);
    }

    fn note(&self, words: &str) {
        self.notes.borrow_mut().push(words.to_owned());
    }

    /// What a reader should know of the prompts that were sent.
    fn note_prompts(&self) {
        let source = self.source.borrow();
        let items = source.file_items() as u64;
        if items > 0 && items < u64::from(self.config.requests) {
            self.note(&format!(
                "The file has {items} items for {} requests, so that items were sent again: a server may have cached them.",
                self.config.requests
            ));
        }
        let left_out = self.turns_left_out.get();
        if left_out > 0 {
            self.note(&format!(
                "{left_out} turns of conversations were not asked, because a turn before them did not succeed."
            ));
        }
        let (prompt, cached) = self.prompt_tokens.get();
        if let Some(note) = crate::workload::cache_note(&self.config.workload, prompt, cached) {
            self.note(&note);
        }
    }

    /// Finds out how many requests the browser has on the wire to one name. Fewer than the rule allows are no finding:
    /// a busy machine spreads the answers of one wave.
    async fn burst(&self) {
        let Endpoint::Http { base_url } = &self.config.endpoint else {
            return;
        };
        let protocol = self.protocol();
        let rule = lanes::HTTP1_STREAMS;
        let seen = first_wave(base_url, lanes::burst_size(protocol), &self.clock).await;
        self.monitor.borrow_mut().health.streams_seen = seen.filter(|seen| *seen >= rule);
    }

    async fn until_stopped(&self) {
        while !self.stopping.get() {
            self.clock.sleep_until(self.clock.now_ms() + WATCH_MS).await;
        }
    }

    async fn make_lanes(&self) -> LanePlan {
        let http = matches!(self.config.endpoint, Endpoint::Http { .. });
        let mut plan = LanePlan::new(&self.config, self.protocol(), self.monitor.borrow().health.streams_seen);
        let make = |plan: &LanePlan| {
            let url_of = |base: &str| {
                if http {
                    protocol::api_url(base, self.config.api)
                } else {
                    base.to_owned()
                }
            };
            let same_origin = plan
                .base_urls
                .iter()
                .all(|base| base.starts_with(&format!("{}/", self.page_origin)));
            let one_server = self.config.lanes == LanePolicy::Auto;
            Rc::new(Lanes::new(
                plan,
                url_of,
                one_server,
                http && !same_origin,
                self.headers(),
            ))
        };
        let mut lanes = make(&plan);
        if http {
            let at_a_time = self.config.most_in_flight().unwrap_or(plan.slots);
            let silent = lanes.warm_all(&self.clock, at_a_time).await;
            if !silent.is_empty() {
                let names: Vec<_> = silent.iter().map(|i| plan.base_urls[*i].clone()).collect();
                self.notes.borrow_mut().push(format!(
                    "{} did not answer and {} not used.",
                    names.join(", "),
                    if names.len() == 1 { "was" } else { "were" }
                ));
                plan = plan.without(&names);
                lanes = make(&plan);
                lanes.warm_all(&self.clock, at_a_time).await;
            }
        }
        {
            let health = &mut self.monitor.borrow_mut().health;
            health.slots_had = plan.slots;
            health.options_ms = lanes.slowest_options_ms();
        }
        if self.stopping.get() {
            lanes.close();
        }
        *self.lanes.borrow_mut() = Some(lanes);
        plan
    }

    /// The protocol of a server whose Resource Timing the page may see; else what the scheme tells.
    fn protocol(&self) -> Protocol {
        match Protocol::of(&self.config) {
            Protocol::Unknown => super::server::seen_protocol(&self.config).unwrap_or(Protocol::Unknown),
            known => known,
        }
    }

    /// Why a trace cannot be replayed, if so.
    fn lacks_times(&self) -> Option<&'static str> {
        let lacks = self.config.load.arrival == Arrival::Trace && self.source.borrow().offsets_s().is_empty();
        lacks.then_some("The load goes by the times of a file, but none is chosen that has some. Pick a trace, or another kind of arrivals.")
    }

    /// The measured requests, as the load has them.
    async fn measure(self: &Rc<Self>) {
        let load = &self.config.load;
        let began_ms = self.clock.now_ms();
        if let Some(duration_s) = load.duration_s {
            self.cutoff_ms
                .set(Some(began_ms + (duration_s + load.grace_s) * 1000.0));
        }
        if load.is_open() {
            self.open_loop(began_ms).await;
        } else {
            let count = match load.duration_s {
                None => self.config.requests,
                Some(_) => MAX_REQUESTS,
            };
            self.closed_loop(false, count).await;
        }
    }

    /// Sends each request at its moment, whatever becomes of those before it. One that finds no place on the wire waits
    /// for one, and its record tells for how long.
    async fn open_loop(self: &Rc<Self>, began_ms: f64) {
        let Some(lanes) = self.lanes.borrow().clone() else {
            return;
        };
        let moments = schedule(&self.config, self.source.borrow().offsets_s());
        // Each request holds a share of it; when the last is gone, the other end hears of it.
        let (alive, all_gone) = oneshot::channel::<()>();
        let alive = Rc::new(alive);
        for (index, at_s) in moments.into_iter().enumerate() {
            let ask = Ask {
                index: index as u32,
                warmup: false,
                scheduled_ms: began_ms + at_s * 1000.0,
            };
            if !self.reaches(ask.scheduled_ms).await {
                break;
            }
            let (run, lanes, alive) = (self.clone(), lanes.clone(), alive.clone());
            spawn_local(async move {
                if let Some(slot) = lanes.acquire(&run.clock).await {
                    converse(&run, ask, slot).await;
                }
                drop(alive);
            });
        }
        drop(alive);
        let _ = all_gone.await;
    }

    /// Waits for a moment; `false` if the run is stopped before it.
    async fn reaches(&self, due_ms: f64) -> bool {
        while !self.stopping.get() {
            let now_ms = self.clock.now_ms();
            if now_ms >= due_ms {
                return true;
            }
            self.clock.sleep_until(due_ms.min(now_ms + WATCH_MS)).await;
        }
        false
    }

    /// Whether the time in which the measured requests are sent is over.
    fn is_late(&self) -> bool {
        let grace_ms = self.config.load.grace_s * 1000.0;
        let cutoff_ms = self.cutoff_ms.get();
        cutoff_ms.is_some_and(|cutoff_ms| self.clock.now_ms() >= cutoff_ms - grace_ms)
    }

    /// `count` requests, `concurrency` at a time: each that ends lets the next one go.
    async fn closed_loop(self: &Rc<Self>, warmup: bool, count: u32) {
        let Some(lanes) = self.lanes.borrow().clone() else {
            return;
        };
        let next = Cell::new(0);
        let next = &next;
        join_all((0..self.config.concurrency.min(count)).map(|_| {
            let lanes = lanes.clone();
            async move {
                while next.get() < count && !self.stopping.get() && !self.is_late() {
                    let ask = Ask {
                        index: next.replace(next.get() + 1),
                        warmup,
                        scheduled_ms: self.clock.now_ms(),
                    };
                    let Some(slot) = lanes.acquire(&self.clock).await else {
                        return;
                    };
                    converse(self, ask, slot).await;
                }
            }
        }))
        .await;
    }

    /// Checks limits, and times the engine's own timer while it is at it.
    async fn watch(self: Rc<Self>) {
        while !self.over.get() {
            let due_ms = self.clock.now_ms() + WATCH_MS;
            self.clock.sleep_until(due_ms).await;
            let now_ms = self.clock.now_ms();
            self.monitor.borrow_mut().tick(due_ms, now_ms, js_sys::Date::now());
            if self.cutoff_ms.get().is_some_and(|cutoff_ms| now_ms > cutoff_ms) {
                self.cut();
            }
            let active = self.active.borrow().clone();
            active
                .iter()
                .for_each(|active| active.watch(&self.config.timeouts, now_ms));
        }
    }

    async fn report(self: Rc<Self>) {
        while !self.over.get() {
            self.clock.sleep_until(self.clock.now_ms() + REPORT_MS).await;
            if self.over.get() {
                return;
            }
            if let Some(lanes) = self.lanes.borrow().as_ref() {
                lanes.renew(&self.clock);
            }
            self.tell_progress();
        }
    }

    fn tell_progress(&self) {
        let tokens = std::mem::take(&mut *self.tokens.borrow_mut());
        tell(&EngineEvent::Progress(Progress {
            elapsed_ms: self.clock.now_ms(),
            warming_up: self.warming_up.get(),
            dispatched: self.dispatched.get(),
            in_flight: self
                .active
                .borrow()
                .iter()
                .filter(|active| !active.is_settled())
                .count() as u32,
            records: std::mem::take(&mut *self.records.borrow_mut()),
            server_load: std::mem::take(&mut *self.server_load.borrow_mut()),
            tokens: tokens
                .into_iter()
                .map(|(index, tokens)| TokenBucket { index, tokens })
                .collect(),
            health: self.health_now(),
        }));
    }

    /// The client's state as the engine sees it; the page adds what it sees of itself, and judges.
    fn health_now(&self) -> Health {
        self.monitor.borrow().health(self.clock.now_ms())
    }

    // What an exchange needs of the run.

    /// Whether requests carry a key.
    pub fn has_key(&self) -> bool {
        self.key.reveal().is_some()
    }

    /// Takes the key out of a record, wherever the server repeated it.
    pub fn without_key(&self, record: &mut RequestRecord) {
        if !self.has_key() {
            return;
        }
        if let Some(failure) = &mut record.failure {
            self.key.mask_text(&mut failure.message);
        }
        let Some(evidence) = &mut record.evidence else {
            return;
        };
        evidence
            .headers
            .iter_mut()
            .for_each(|(_, value)| self.key.mask_text(value));
        // As one piece, because a key may lie across two reads.
        let mut whole: Vec<u8> = evidence
            .reads
            .iter()
            .flat_map(|read| read.bytes.iter().copied())
            .collect();
        self.key.mask(&mut whole);
        let mut rest = &whole[..];
        for read in &mut evidence.reads {
            let (piece, after) = rest.split_at(read.bytes.len());
            read.bytes.copy_from_slice(piece);
            rest = after;
        }
    }

    /// Headers of every request.
    pub fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        if let Some(key) = self.key.reveal() {
            headers.push(("Authorization".to_owned(), format!("Bearer {key}")));
        }
        for (name, value) in &self.config.extra_headers {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.clone(), value.clone()));
        }
        headers
    }

    /// What a request, or a conversation, asks.
    pub fn item(&self, ask: &Ask) -> Item {
        self.source.borrow().item(ask.warmup, ask.index)
    }

    /// The body of a request. `before`: the messages of the conversation so far.
    pub fn request_body(&self, item: &Item, turn: &Turn, before: &[Value]) -> Result<String, String> {
        let messages;
        let prompt = match &turn.prompt {
            OwnedPrompt::Text(text) if !before.is_empty() => {
                messages = [before, &[message("user", text)]].concat();
                Prompt::Messages(&messages)
            }
            OwnedPrompt::Text(text) => Prompt::Text(text),
            OwnedPrompt::TokenIds(ids) => Prompt::TokenIds(ids),
            OwnedPrompt::Messages(messages) => Prompt::Messages(messages),
        };
        let asked = self.asked.borrow();
        protocol::request_body(&asked, prompt, turn.output_tokens, &item.extra, self.conceded.get())
            .map(|body| body.to_string())
            .map_err(|error| error.to_string())
    }

    /// What the state machine must know. Text is kept where another turn needs it.
    pub fn machine_spec(&self, turn: &Turn, keep_text: bool) -> Spec {
        Spec {
            api: self.config.api,
            stream: self.config.stream,
            requested_tokens: Some(u64::from(turn.output_tokens)),
            keep_text,
            keep_bytes: KEPT_PER_REQUEST,
        }
    }

    /// What the simulated server will do with a request. It counts a word as a token.
    pub fn simulate(&self, now_ms: f64, turn: &Turn, before: &[Value]) -> demo::Plan {
        let words = |text: &str| text.split_whitespace().count() as u32;
        let said = |messages: &[Value]| {
            messages
                .iter()
                .filter_map(|m| m["content"].as_str())
                .map(words)
                .sum::<u32>()
        };
        let prompt_tokens = match &turn.prompt {
            OwnedPrompt::Text(text) => words(text),
            OwnedPrompt::TokenIds(ids) => ids.len() as u32,
            OwnedPrompt::Messages(messages) => said(messages),
        };
        let ask = demo::Ask {
            prompt_tokens: prompt_tokens + said(before),
            max_tokens: turn.output_tokens,
            ..demo::Ask::from_config(&self.config)
        };
        self.simulated.borrow_mut().plan(now_ms, &ask)
    }

    /// A request to the simulated server is over: its place is free.
    pub fn leave_simulated(&self, number: u64) {
        self.simulated.borrow_mut().release(number);
    }

    /// Whether nothing new may be sent.
    pub fn is_stopping(&self) -> bool {
        self.stopping.get()
    }

    /// So many turns of a conversation are not asked, because one before them did not succeed.
    pub fn leave_out(&self, turns: u32) {
        self.turns_left_out.set(self.turns_left_out.get() + turns);
    }

    /// A request went out.
    pub fn dispatched(&self, active: &Rc<Active>, warmup: bool) {
        self.active.borrow_mut().push(active.clone());
        if !warmup {
            self.dispatched.set(self.dispatched.get() + 1);
            if self.measured_from_ms.get().is_none() {
                self.measured_from_ms.set(Some(self.clock.now_ms()));
            }
        }
    }

    /// A read came in.
    pub fn read(&self, at_ms: f64, tokens: u64) {
        self.monitor.borrow_mut().read(at_ms, self.clock.now_ms());
        if tokens > 0 {
            let bucket = (at_ms / TokenBucket::WIDTH_MS) as u32;
            *self.tokens.borrow_mut().entry(bucket).or_default() += u32::try_from(tokens).unwrap_or(u32::MAX);
        }
    }

    /// Lends the run's one buffer, filled with a read's bytes.
    pub fn with_buffer(&self, chunk: &Uint8Array, act: impl FnOnce(&[u8])) {
        let mut buffer = self.buffer.borrow_mut();
        let length = chunk.length() as usize;
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        chunk.copy_to(&mut buffer[..length]);
        act(&buffer[..length]);
    }

    /// A verdict fell.
    pub fn finished(&self, record: RequestRecord) {
        self.monitor.borrow_mut().finished(&record);
        if !record.warmup {
            self.measured_to_ms
                .set(self.measured_to_ms.get().max(record.times.ended_ms));
        }
        self.count_prompt(&record);
        self.step_down(&record);
        self.records.borrow_mut().push(record);
    }

    /// Adds a record's prompt to what was cached of all. What the template puts around every prompt is cached by right.
    fn count_prompt(&self, record: &RequestRecord) {
        if let (false, Outcome::Succeeded, Some(prompt)) = (record.warmup, record.outcome, record.tokens.prompt) {
            let around = self.tokens_around.get().round() as u64;
            let cached = record.tokens.cached.unwrap_or_default().saturating_sub(around);
            let (all, all_cached) = self.prompt_tokens.get();
            self.prompt_tokens.set((all + prompt, all_cached + cached));
        }
    }

    /// A request's place on the wire is free.
    pub fn gone(&self, active: &Active) {
        self.active.borrow_mut().retain(|other| !std::ptr::eq(&**other, active));
    }

    /// Keeps the evidence of a failure within the run's bound.
    pub fn bound(&self, evidence: &mut Evidence, outcome: Outcome, failure: Option<&Failure>) {
        let kind = (
            outcome,
            failure.map(|failure| failure.rule),
            failure.and_then(|failure| failure.code.clone()),
        );
        let mut kinds = self.kinds.borrow_mut();
        let seen = kinds.entry(kind).or_default();
        *seen += 1;
        let room = if *seen <= KEPT_WHOLE {
            usize::MAX
        } else {
            KEPT_PER_RUN.saturating_sub(self.kept.get()).max(KEPT_PAST_BOUND)
        };
        let mut kept = 0;
        let mut dropped = 0;
        evidence.reads.retain_mut(|read| {
            let keep = read.bytes.len().min(room - kept);
            dropped += (read.bytes.len() - keep) as u64;
            read.bytes.truncate(keep);
            kept += keep;
            keep > 0
        });
        evidence.dropped_bytes += dropped;
        self.kept.set(self.kept.get() + kept);
    }

    /// A server that refuses a part of the body is asked without it from then on.
    fn step_down(&self, record: &RequestRecord) {
        if record.outcome != Outcome::HttpError {
            return;
        }
        let (Some(failure), Some(evidence)) = (&record.failure, &record.evidence) else {
            return;
        };
        let conceded = self.conceded.get();
        if let Some((less, note)) = conceded.after_refusal(record.status, &failure.message, &evidence.request_body) {
            self.conceded.set(less);
            self.notes.borrow_mut().push(note);
        }
    }
}

/// A chat message.
pub fn message(role: &str, content: &str) -> Value {
    json!({"role": role, "content": content})
}
