//! One request from dispatch to verdict.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use web_sys::AbortController;

use super::{
    diagnose::diagnose,
    lanes::Slot,
    run::Run,
    simulated::Player,
    transport::{Body, Prepared, Read},
};
use crate::{
    config::{Endpoint, Timeouts},
    request::{Evidence, Flow, Machine, Outcome, Reading, RequestRecord, TimeoutKind},
};

/// How long a body may take to end after the verdict, so that its connection can be used again.
const DRAIN_MS: f64 = 1_000.0;

/// Which request of the run.
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

/// Sends one request, reads its answer, hands its record to the run. Returns when its place on the wire is free.
pub async fn exchange(run: &Rc<Run>, ask: Ask, slot: Slot) {
    let Ok(abort) = AbortController::new() else { return };
    let body = run.request_body(&ask);
    let prepared = match &run.config.endpoint {
        Endpoint::Simulated => Ok(None),
        Endpoint::Http { .. } => Prepared::post(slot.url(), &run.headers(), &body, &abort.signal()).map(Some),
    };
    let dispatched_ms = run.clock.now_ms();
    let active = Rc::new(Active {
        machine: RefCell::new(Some(Machine::new(run.machine_spec(), dispatched_ms))),
        settled: Cell::new(false),
        abort,
        dispatched_ms,
        last_read_ms: Cell::new(None),
        drain_until_ms: Cell::new(None),
    });
    run.dispatched(&active, ask.warmup);

    let mut headers = Vec::new();
    let mut stream = Body::None;
    match prepared {
        Ok(None) => {
            let plan = run.simulate(dispatched_ms);
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

    let machine = active.machine.borrow_mut().take();
    if let Some(machine) = machine {
        run.finished(record(run, ask, &slot, machine.finish(), headers, body));
    }
    drain(run, &active, &mut stream).await;
    drop(slot);
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
