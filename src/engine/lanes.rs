//! The lanes of a run: slots, and preflights kept warm.
//!
//! Each URL costs a preflight (an OPTIONS round trip), which a browser forgets after `Access-Control-Max-Age`, or 5 s
//! where the server does not say; a page cannot see which. Sent by a measured request it would count as TTFT. So a
//! lane is warmed by an OPTIONS request of the same shape: the browser caches the preflight that it needs, and servers
//! answer it without work (SGLang: 405).

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use futures_channel::oneshot;
use futures_util::future::join_all;
use gloo_net::http::Method;
use web_sys::AbortController;

use super::{
    clock::Clock,
    transport::{Prepared, within},
};
use crate::load::lanes::LanePlan;

/// A preflight this old may be gone from a cache with the default of 5 s.
const STALE_MS: f64 = 4_000.0;
/// From this age on an idle slot is used to renew it ahead of need.
const RENEW_MS: f64 = 3_000.0;
/// A lane that does not answer for this long is not used.
const WARM_TIMEOUT_MS: u32 = 10_000;

/// One name of the server.
pub struct Lane {
    /// URL that requests go to.
    pub url: String,
    in_flight: Cell<u32>,
    warmed_ms: Cell<Option<f64>>,
    warming: Cell<bool>,
    options_ms: Cell<Option<f64>>,
}

/// All lanes, and who waits for a slot.
pub struct Lanes {
    lanes: Vec<Rc<Lane>>,
    streams_per_lane: u32,
    slots: u32,
    in_flight: Cell<u32>,
    waiting: RefCell<VecDeque<oneshot::Sender<()>>>,
    closed: Cell<bool>,
    /// Whether the lanes are filled one after the other: names of one server, of which no more than needed are kept warm.
    /// Else each request goes to the emptiest.
    one_server: bool,
    /// Whether requests need a preflight at all.
    preflights: bool,
    headers: Vec<(String, String)>,
}

/// A place on the wire, given back when dropped.
pub struct Slot {
    lanes: Rc<Lanes>,
    lane: Rc<Lane>,
    /// Which lane, from 0.
    pub index: u16,
}

impl Slot {
    /// Takes a place on a lane; the counts go down again when it is dropped.
    fn take(lanes: &Rc<Lanes>, index: usize) -> Self {
        let lane = lanes.lanes[index].clone();
        lane.in_flight.set(lane.in_flight.get() + 1);
        lanes.in_flight.set(lanes.in_flight.get() + 1);
        Self {
            lanes: lanes.clone(),
            lane,
            index: index as u16,
        }
    }

    /// URL that the request goes to.
    pub fn url(&self) -> &str {
        &self.lane.url
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.lane.in_flight.set(self.lane.in_flight.get() - 1);
        self.lanes.in_flight.set(self.lanes.in_flight.get() - 1);
        // A waiter that is gone gives its turn to the next.
        loop {
            let waiter = self.lanes.waiting.borrow_mut().pop_front();
            if waiter.is_none_or(|waiter| waiter.send(()).is_ok()) {
                break;
            }
        }
    }
}

impl Lanes {
    /// Lanes for a plan. `path_of` makes a request URL from a base URL; `one_server`: whether all are names that the engine
    /// made up for one server; `preflights`: whether warming is needed.
    pub fn new(
        plan: &LanePlan,
        path_of: impl Fn(&str) -> String,
        one_server: bool,
        preflights: bool,
        headers: Vec<(String, String)>,
    ) -> Self {
        let lane = |base: &String| {
            Rc::new(Lane {
                url: path_of(base),
                in_flight: Cell::new(0),
                warmed_ms: Cell::new(None),
                warming: Cell::new(false),
                options_ms: Cell::new(None),
            })
        };
        Self {
            lanes: plan.base_urls.iter().map(lane).collect(),
            streams_per_lane: plan.streams_per_lane,
            slots: plan.slots,
            in_flight: Cell::new(0),
            waiting: RefCell::default(),
            closed: Cell::new(false),
            one_server,
            preflights,
            headers,
        }
    }

    /// Warms every lane and its connections; returns the positions of lanes (never the first) that do not answer.
    pub async fn warm_all(&self, clock: &Clock, concurrency: u32) -> Vec<usize> {
        let per_lane = concurrency
            .div_ceil(self.lanes.len().max(1) as u32)
            .clamp(1, self.streams_per_lane.min(16));
        let answers = join_all(self.lanes.iter().map(|lane| async move {
            // One first, so that the others find its preflight; then the others, so that each connection is open.
            let first = self.warm(lane, clock).await;
            if first {
                join_all((1..per_lane).map(|_| self.warm(lane, clock))).await;
            }
            first
        }))
        .await;
        answers
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, answered)| !**answered)
            .map(|(i, _)| i)
            .collect()
    }

    async fn warm(&self, lane: &Lane, clock: &Clock) -> bool {
        lane.warming.set(true);
        let sent_ms = clock.now_ms();
        let answered = self.ask_options(&lane.url).await;
        lane.warming.set(false);
        if answered {
            lane.options_ms.set(Some(clock.now_ms() - sent_ms));
            lane.warmed_ms.set(Some(sent_ms));
        }
        answered
    }

    async fn ask_options(&self, url: &str) -> bool {
        let Ok(abort) = AbortController::new() else {
            return false;
        };
        let Ok(request) = Prepared::bare(Method::OPTIONS, url, &self.headers, &abort.signal()) else {
            return false;
        };
        let asked = async {
            match request.send().await {
                // The body must be read to its end, or the connection cannot be used again.
                Ok(response) => {
                    let _ = response.text().await;
                    true
                }
                Err(_) => false,
            }
        };
        within(WARM_TIMEOUT_MS, &abort, asked).await.unwrap_or(false)
    }

    /// How long the last OPTIONS of the slowest lane took, ms: about what a preflight costs a request that needs one.
    pub fn slowest_options_ms(&self) -> Option<f64> {
        self.lanes
            .iter()
            .filter_map(|lane| lane.options_ms.get())
            .max_by(f64::total_cmp)
    }

    /// Renews preflights ahead of need, over free slots only.
    pub fn renew(self: &Rc<Self>, clock: &Clock) {
        if !self.preflights || self.closed.get() {
            return;
        }
        for (index, lane) in self.lanes.iter().enumerate() {
            let old = lane.warmed_ms.get().is_some_and(|at| clock.now_ms() - at > RENEW_MS);
            if old && !lane.warming.get() && lane.in_flight.get() < self.streams_per_lane {
                let (slot, clock) = (Slot::take(self, index), clock.clone());
                wasm_bindgen_futures::spawn_local(async move {
                    slot.lanes.warm(&slot.lane, &clock).await;
                });
            }
        }
    }

    /// Waits for a place on the wire, first come first served, and for a warm preflight on it.
    /// `None` once the lanes are closed.
    pub async fn acquire(self: &Rc<Self>, clock: &Clock) -> Option<Slot> {
        let slot = loop {
            if self.closed.get() {
                return None;
            }
            if let Some(slot) = self.free_slot() {
                break slot;
            }
            let (tell, told) = oneshot::channel();
            self.waiting.borrow_mut().push_back(tell);
            told.await.ok()?;
        };
        let stale = slot
            .lane
            .warmed_ms
            .get()
            .is_none_or(|at| clock.now_ms() - at > STALE_MS);
        // A first lane that could not be warmed at all is used as it is: its requests will tell what is wrong.
        if self.preflights && stale && !slot.lane.warming.get() && slot.lane.warmed_ms.get().is_some() {
            self.warm(&slot.lane, clock).await;
        }
        (!self.closed.get()).then_some(slot)
    }

    /// The next slot: of the first lane that has one, or of the emptiest.
    fn free_slot(self: &Rc<Self>) -> Option<Slot> {
        if self.in_flight.get() >= self.slots {
            return None;
        }
        let is_free = |(_, lane): &(usize, &Rc<Lane>)| lane.in_flight.get() < self.streams_per_lane;
        let mut free = self.lanes.iter().enumerate().filter(is_free);
        let (index, _) = if self.one_server {
            free.next()
        } else {
            free.min_by_key(|(_, lane)| lane.in_flight.get())
        }?;
        Some(Slot::take(self, index))
    }

    /// Gives out no more slots; whoever waits is told.
    pub fn close(&self) {
        self.closed.set(true);
        self.waiting.borrow_mut().clear();
    }
}
