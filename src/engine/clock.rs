//! One monotonic clock per run, and sleeping by it.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use futures_channel::oneshot;
use gloo_timers::future::TimeoutFuture;
use wasm_bindgen::{JsCast, prelude::*};
use web_sys::{MessageChannel, MessagePort, Performance};

#[wasm_bindgen]
extern "C" {
    // Windows and workers both have it; web-sys binds it to each apart.
    #[wasm_bindgen(thread_local_v2, js_name = performance)]
    static PERFORMANCE: Option<Performance>;
    #[wasm_bindgen(thread_local_v2, js_name = crossOriginIsolated)]
    static CROSS_ORIGIN_ISOLATED: Option<bool>;
}

/// The context's performance object.
pub fn performance() -> Option<Performance> {
    PERFORMANCE.with(Clone::clone)
}

/// Milliseconds since a fixed moment, on the browser's monotonic clock.
#[derive(Clone)]
pub struct Clock {
    performance: Performance,
    origin: f64,
}

impl Clock {
    /// A clock that starts now.
    ///
    /// # Panics
    /// Where there is no `performance`: no browser of the last ten years.
    pub fn start() -> Self {
        let performance = performance().expect("a browser has a performance clock");
        let origin = performance.now();
        Self { performance, origin }
    }

    /// ms since the clock was started.
    pub fn now_ms(&self) -> f64 {
        self.performance.now() - self.origin
    }

    /// The moment the clock was started, ms since the Unix epoch.
    pub fn started_unix_ms(&self) -> f64 {
        self.performance.time_origin() + self.origin
    }

    /// The smallest step seen in a short busy loop (at most 10 ms): 0.1 ms in a plain page, 0.005 ms in an isolated one.
    pub fn step_ms(&self) -> Option<f64> {
        let start = self.performance.now();
        let (mut last, mut smallest, mut steps) = (start, f64::INFINITY, 0);
        while steps < 200 && last - start < 10.0 {
            let now = self.performance.now();
            if now > last {
                smallest = smallest.min(now - last);
                steps += 1;
            }
            last = now;
        }
        (steps > 0).then_some(smallest)
    }

    /// Sleeps until `due_ms`, or up to about a millisecond longer.
    pub async fn sleep_until(&self, due_ms: f64) {
        while self.now_ms() < due_ms {
            // A timer that is set in another's callback, and that one in another's, waits for at least 4 ms. One that is
            // set in the handler of a message does not.
            by_message().await;
            let rest = due_ms - self.now_ms();
            if rest > 0.0 {
                // The cast saturates: at most 49 days, in which case the loop goes round again.
                TimeoutFuture::new(rest.ceil().min(86_400_000.0) as u32).await;
            }
        }
    }
}

/// A message port to oneself, and who waits for a message.
struct Hops {
    port: MessagePort,
    waiting: Rc<RefCell<VecDeque<oneshot::Sender<()>>>>,
}

impl Hops {
    fn new() -> Option<Self> {
        let channel = MessageChannel::new().ok()?;
        let waiting = Rc::<RefCell<VecDeque<oneshot::Sender<()>>>>::default();
        let queue = waiting.clone();
        let on_message = Closure::<dyn FnMut()>::new(move || {
            let next = queue.borrow_mut().pop_front();
            // Who gave up waiting is gone.
            let _ = next.map(|waiter| waiter.send(()));
        });
        // It lives as long as the page or the worker.
        channel
            .port1()
            .set_onmessage(Some(on_message.into_js_value().unchecked_ref()));
        Some(Self {
            port: channel.port2(),
            waiting,
        })
    }
}

thread_local! {
    static HOPS: Option<Hops> = Hops::new();
}

/// Goes on in the handler of a message, after what else is due now.
async fn by_message() {
    let told = HOPS.with(|hops| {
        let hops = hops.as_ref()?;
        let (tell, told) = oneshot::channel();
        hops.waiting.borrow_mut().push_back(tell);
        hops.port.post_message(&JsValue::NULL).ok().map(|()| told)
    });
    if let Some(told) = told {
        let _ = told.await;
    }
}

/// Whether the context is cross-origin isolated.
pub fn cross_origin_isolated() -> bool {
    CROSS_ORIGIN_ISOLATED.with(|isolated| isolated.unwrap_or(false))
}

/// A readable text of whatever was thrown.
pub fn thrown(value: &JsValue) -> String {
    match value.dyn_ref::<js_sys::Error>() {
        Some(error) => String::from(error.message()),
        None => value.as_string().unwrap_or_else(|| format!("{value:?}")),
    }
}
