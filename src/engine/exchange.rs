//! One request from dispatch to verdict.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use serde_json::Value;
use web_sys::AbortController;

use super::{
    diagnose::diagnose,
    lanes::Slot,
    run::{Run, message},
    simulated::Player,
    transport::{Body, Prepared, Read},
};
use crate::{
    config::{Endpoint, Timeouts},
    request::{Asked, Evidence, Flow, Machine, Outcome, Reading, RequestRecord, TimeoutKind},
    workload::{Item, OwnedPrompt, Turn},
};

/// How long a body may take to end after the verdict, so that its connection can be used again.
const DRAIN_MS: f64 = 1_000.0;

/// Which request, or which conversation, of the run.
#[derive(Clone, Copy)]
pub struct Ask {
    /// Position in its part, from 0.
    pub index: u32,
    /// Whether it belongs to the warm-up.
    pub warmup: bool,
    /// When the load wanted it sent.
    pub scheduled_ms: f64,
}

/// A request on the wire, as the watchdog and Stop see it.
pub struct Active {
    machine: RefCell<Option<Machine>>,
    settled: Cell<bool>,
    abort: AbortController,
    dispatched_ms: f64,
    /// The last sign of life of the body.
    last_read_ms: Cell<Option<f64>>,
    /// From when on the rest of the body is of no interest.
    drain_until_ms: Cell<Option<f64>>,
}

impl Active {
    /// Whether the verdict has fallen.
    pub fn is_settled(&self) -> bool {
        self.settled.get()
    }

    fn with<T>(&self, act: impl FnOnce(&mut Machine) -> T) -> Option<T> {
        self.machine.borrow_mut().as_mut().map(act)
    }

    fn settle(&self, act: impl FnOnce(&mut Machine)) {
        if !self.settled.replace(true) {
            self.with(act);
        }
    }

    /// Ends the request by the user's will.
    pub fn cancel(&self, now_ms: f64) {
        self.settle(|machine| machine.cancel(now_ms));
        self.abort.abort();
    }

    /// Ends the request if it is over one of its limits.
    pub fn watch(&self, timeouts: &Timeouts, now_ms: f64) {
        if self.settled.get() {
            if self.drain_until_ms.get().is_some_and(|until| now_ms > until) {
                self.abort.abort();
            }
            return;
        }
        let over = |limit_s: f64, since_ms: f64| limit_s > 0.0 && now_ms - since_ms > limit_s * 1000.0;
        let kind = match self.last_read_ms.get() {
            _ if over(timeouts.total_s, self.dispatched_ms) => TimeoutKind::Total,
            None if over(timeouts.first_byte_s, self.dispatched_ms) => TimeoutKind::FirstByte,
            Some(read_ms) if over(timeouts.stall_s, read_ms) => TimeoutKind::Stall,
            _ => return,
        };
        self.settle(|machine| machine.timeout(kind, now_ms));
        self.abort.abort();
    }
}

/// One turn of a conversation; a request of its own is the only turn of one.
struct Asking<'a> {
    ask: Ask,
    item: &'a Item,
    turn: &'a Turn,
    asked: Asked,
    /// The messages before it.
    before: &'a [Value],
    /// Whether another turn needs the answer.
    keep_text: bool,
}

/// Sends a request, or the turns of a conversation one after another, each with the answers before it. A turn that does
/// not succeed ends the conversation. Returns when the place on the wire is free.
pub async fn converse(run: &Rc<Run>, ask: Ask, slot: Slot) {
    let item = run.item(&ask);
    let turns = item.turns.len() as u32;
    // Each turn has a record; conversations of up to so many turns number theirs without a clash.
    let most_turns = run.config.workload.turns.max(1);
    let mut before = Vec::new();
    for (number, turn) in (0..).zip(&item.turns) {
        if number > 0 && run.is_stopping() {
            return;
        }
        let asking = Asking {
            ask: Ask {
                index: ask.index * most_turns + number,
                scheduled_ms: if number == 0 {
                    ask.scheduled_ms
                } else {
                    run.clock.now_ms()
                },
                ..ask
            },
            item: &item,
            turn,
            asked: Asked {
                input_tokens: turn.input_tokens,
                output_tokens: turn.output_tokens,
                conversation: (most_turns > 1).then_some(ask.index),
                turn: (most_turns > 1).then_some(number),
            },
            before: &before,
            keep_text: number + 1 < turns,
        };
        let answer = exchange(run, asking, &slot).await;
        let (OwnedPrompt::Text(question), Some(answer)) = (&turn.prompt, answer) else {
            run.leave_out(turns - number - 1);
            return;
        };
        before.push(message("user", question));
        before.push(message("assistant", &answer));
    }
}

/// Sends one request, reads its answer, hands its record to the run. The answer's text if it succeeded; empty if it was
/// not to be kept.
async fn exchange(run: &Rc<Run>, asking: Asking<'_>, slot: &Slot) -> Option<String> {
    let abort = AbortController::new().ok()?;
    let ask = asking.ask;
    let made = run.request_body(asking.item, asking.turn, asking.before);
    let prepared = match (&run.config.endpoint, &made) {
        (_, Err(message)) => Err(message.clone()),
        (Endpoint::Simulated, _) => Ok(None),
        (Endpoint::Http { .. }, Ok(body)) => {
            Prepared::post(slot.url(), &run.headers(), body, &abort.signal()).map(Some)
        }
    };
    let body = made.unwrap_or_default();
    let dispatched_ms = run.clock.now_ms();
    let active = Rc::new(Active {
        machine: RefCell::new(Some(Machine::new(
            run.machine_spec(asking.turn, asking.keep_text || run.config.recount),
            dispatched_ms,
        ))),
        settled: Cell::new(false),
        abort,
        dispatched_ms,
        last_read_ms: Cell::new(None),
        drain_until_ms: Cell::new(None),
    });
    run.dispatched(&active, ask.warmup);

    let mut headers = Vec::new();
    let mut stream = Body::None;
    let mut simulated = None;
    match prepared {
        Ok(None) => {
            let plan = run.simulate(dispatched_ms, asking.turn, asking.before);
            simulated = Some(plan.number);
            run.clock
                .sleep_until(
                    plan.frames
                        .first()
                        .map_or(dispatched_ms, |frame| frame.at_ms.min(plan.headers_at_ms)),
                )
                .await;
            headers = plan.headers.clone();
            active.with(|machine| machine.headers(plan.status, Some(&plan.content_type), run.clock.now_ms()));
            stream = Body::Simulated(Player::new(plan, run.clock.clone(), active.clone()));
        }
        Ok(Some(request)) => match request.send().await {
            Ok(response) => {
                let now_ms = run.clock.now_ms();
                let content_type = response.headers().get("content-type");
                active.with(|machine| machine.headers(response.status(), content_type.as_deref(), now_ms));
                run.answered.set(true);
                headers = response.headers().entries().collect();
                stream = Body::of(&response);
            }
            Err(message) => {
                let now_ms = run.clock.now_ms();
                if !active.is_settled() {
                    let likely = diagnose(run, &message, now_ms - dispatched_ms).await;
                    active.settle(|machine| machine.broken(&likely, now_ms));
                }
            }
        },
        Err(message) => active.settle(|machine| machine.broken(&message, dispatched_ms)),
    }

    while !active.is_settled() {
        let read = stream.next().await;
        let now_ms = run.clock.now_ms();
        match read {
            Read::Chunk(chunk) => run.with_buffer(&chunk, |bytes| take(run, &active, bytes, now_ms)),
            Read::Bytes(bytes) => take(run, &active, &bytes, now_ms),
            Read::End => active.settle(|machine| machine.eof(now_ms)),
            Read::Broken(message) => active.settle(|machine| machine.broken(&message, now_ms)),
        }
    }

    if let Some(number) = simulated {
        run.leave_simulated(number);
    }
    let machine = active.machine.borrow_mut().take();
    let mut answer = None;
    if let Some(machine) = machine {
        let mut reading = machine.finish();
        let text = std::mem::take(&mut reading.text);
        if reading.outcome == Outcome::Succeeded {
            run.keep_for_recount(&ask, &reading.reasoning, &text);
            answer = Some(text);
        }
        let mut record = record(run, ask, slot, reading, headers, body);
        record.asked = Some(asking.asked);
        run.finished(record);
    }
    drain(run, &active, &mut stream).await;
    answer
}

fn take(run: &Run, active: &Active, bytes: &[u8], now_ms: f64) {
    if bytes.is_empty() || active.is_settled() {
        return;
    }
    active.last_read_ms.set(Some(now_ms));
    let mut tokens = 0;
    let flow = active.with(|machine| {
        let before = machine.tokens_so_far();
        let flow = machine.read(bytes, now_ms);
        tokens = machine.tokens_so_far() - before;
        flow
    });
    if flow == Some(Flow::Complete) {
        active.settled.set(true);
    }
    run.read(now_ms, tokens);
}

/// Reads a body to its end, without interest in it: a connection is reused only if its response was taken whole.
async fn drain(run: &Run, active: &Active, stream: &mut Body) {
    if !matches!(stream, Body::Stream(_)) {
        run.gone(active);
        return;
    }
    active.drain_until_ms.set(Some(run.clock.now_ms() + DRAIN_MS));
    while matches!(stream.next().await, Read::Chunk(_)) {}
    run.gone(active);
}

fn record(
    run: &Run,
    ask: Ask,
    slot: &Slot,
    mut reading: Reading,
    headers: Vec<(String, String)>,
    request_body: String,
) -> RequestRecord {
    let evidence = (reading.outcome != Outcome::Succeeded).then(|| {
        let mut evidence = Evidence {
            url: slot.url().to_owned(),
            request_body,
            headers,
            reads: std::mem::take(&mut reading.reads),
            dropped_bytes: reading.dropped_bytes,
        };
        run.bound(&mut evidence, reading.outcome, reading.failure.as_ref());
        evidence
    });
    let mut record = RequestRecord::of(reading, ask.index, ask.warmup, slot.index, ask.scheduled_ms, evidence);
    run.without_key(&mut record);
    record
}
