//! The page's handle on the worker.

use std::{cell::RefCell, rc::Rc};

use gloo_timers::callback::Interval;
use js_sys::Array;
use wasm_bindgen::{JsCast, prelude::*};
use web_sys::{Blob, BlobPropertyBag, MessageEvent, Url, VisibilityState, Worker, WorkerOptions, WorkerType};

use super::{
    clock::{Clock, thrown},
    command::{Command, READY, Start},
};
use crate::{
    config::{RunConfig, Secret},
    health::Health,
    load::EngineEvent,
    workload::file::FileItem,
};

#[wasm_bindgen]
extern "C" {
    /// Where this module's JavaScript was loaded from.
    #[wasm_bindgen(thread_local_v2, js_namespace = ["import", "meta"], js_name = url)]
    static MODULE_URL: String;
}

/// How often the page looks at its own clock to see whether it stood still, and at its visibility.
const WATCH_MS: u32 = 100;
/// A look this late is a stall.
const STALL_MS: f64 = 50.0;

/// A running engine. Dropping it ends the worker.
pub struct Engine {
    worker: Worker,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(web_sys::Event)>,
    _watch: Interval,
}

/// What the page sees of itself while the worker measures.
#[derive(Default)]
struct PageWatch {
    stall_max_ms: f64,
    stalled_ms: f64,
    hidden_ms: f64,
}

impl PageWatch {
    fn add_to(&self, health: &mut Health) {
        health.page_stall_max_ms = Some(self.stall_max_ms);
        health.page_stalled_ms = self.stalled_ms;
        health.hidden_ms = self.hidden_ms;
        health.judge();
    }
}

impl Engine {
    /// Starts a worker and in it the run. `on_event` is called on the page's thread.
    ///
    /// # Errors
    /// A message for people if the browser refuses the worker.
    pub fn start(
        config: &RunConfig,
        key: &Secret,
        items: Vec<FileItem>,
        on_event: impl FnMut(EngineEvent) + 'static,
    ) -> Result<Self, String> {
        let worker = spawn().map_err(|error| {
            format!(
                "The browser refused to start the engine's worker: {}. Reload the page and try again.",
                thrown(&error)
            )
        })?;
        let start = Command::Start(Box::new(Start {
            config: config.clone(),
            key: key.reveal().map(str::to_owned),
            page_origin: web_sys::window()
                .and_then(|w| w.location().origin().ok())
                .unwrap_or_default(),
            items,
        }));
        let on_event = Rc::new(RefCell::new(on_event));
        let watch = Rc::new(RefCell::new(PageWatch::default()));

        let on_message = Closure::new({
            let (worker, on_event, watch) = (worker.clone(), on_event.clone(), watch.clone());
            let mut start = Some(start);
            move |message: MessageEvent| {
                let Some(text) = message.data().as_string() else { return };
                if text == READY {
                    if let Some(start) = start.take() {
                        post(&worker, &start);
                    }
                    return;
                }
                let event = match serde_json::from_str(&text) {
                    Ok(EngineEvent::Progress(mut progress)) => {
                        watch.borrow().add_to(&mut progress.health);
                        EngineEvent::Progress(progress)
                    }
                    Ok(EngineEvent::Finished(mut end)) => {
                        watch.borrow().add_to(&mut end.health);
                        EngineEvent::Finished(end)
                    }
                    Ok(event) => event,
                    Err(error) => EngineEvent::Failed {
                        message: format!("The engine sent what the page cannot read: {error}."),
                    },
                };
                (on_event.borrow_mut())(event);
            }
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));

        let on_error = Closure::new(move |event: web_sys::Event| {
            event.prevent_default();
            let message = js_sys::Reflect::get(&event, &"message".into())
                .ok()
                .and_then(|m| m.as_string());
            (on_event.borrow_mut())(EngineEvent::Failed {
                message: format!(
                    "The engine's worker died: {}. What had been measured is kept; reload the page to run again.",
                    message.as_deref().unwrap_or("the browser gives no reason")
                ),
            });
        });
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));

        let clock = Clock::start();
        let mut last_ms = clock.now_ms();
        let watch = Interval::new(WATCH_MS, move || {
            let now_ms = clock.now_ms();
            let passed_ms = now_ms - last_ms;
            last_ms = now_ms;
            let mut watch = watch.borrow_mut();
            if hidden() {
                // A hidden tab's timers are slowed on purpose: that is no stall.
                watch.hidden_ms += passed_ms;
            } else {
                let late_ms = passed_ms - f64::from(WATCH_MS);
                watch.stall_max_ms = watch.stall_max_ms.max(late_ms);
                if late_ms > STALL_MS {
                    watch.stalled_ms += late_ms;
                }
            }
        });

        Ok(Self {
            worker,
            _on_message: on_message,
            _on_error: on_error,
            _watch: watch,
        })
    }

    /// Stops the run: nothing new is sent, running requests are aborted, [`EngineEvent::Finished`] follows.
    pub fn stop(&self) {
        post(&self.worker, &Command::Stop);
    }

    /// Ends the wait for the server to become idle, told of by [`EngineEvent::Settling`].
    pub fn do_not_wait(&self) {
        post(&self.worker, &Command::DoNotWait);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

fn post(worker: &Worker, command: &Command) {
    if let Ok(text) = serde_json::to_string(command) {
        // Posting a string fails only for a worker that is gone, and that is reported by its error event.
        let _ = worker.post_message(&text.into());
    }
}

fn hidden() -> bool {
    web_sys::window()
        .and_then(|window| window.document())
        .is_some_and(|document| document.visibility_state() == VisibilityState::Hidden)
}

/// A module worker that loads the same JavaScript and WebAssembly as the bench: one download, no skew between the two.
fn spawn() -> Result<Worker, JsValue> {
    let module = MODULE_URL.with(Clone::clone);
    // The build's mark stands in the query.
    let wasm = module.replacen(".js", "_bg.wasm", 1);
    let script = format!("import init from {module:?}; await init({{module_or_path: {wasm:?}}});");
    let options = BlobPropertyBag::new();
    options.set_type("text/javascript");
    let blob = Blob::new_with_str_sequence_and_options(&Array::of1(&script.into()), &options)?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    options.set_name("streamgauge-engine");
    Worker::new_with_options(&url, &options)
}
