//! The worker's side: listens for commands, runs one run.

use std::{cell::RefCell, rc::Rc};

use wasm_bindgen::{JsCast, prelude::*};
use wasm_bindgen_futures::spawn_local;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::{
    command::{Command, READY},
    run::Run,
};
use crate::load::EngineEvent;

/// Listens for [`Command`]s. Call once, in a dedicated worker.
///
/// # Panics
/// Outside a dedicated worker.
pub fn serve() {
    let scope: DedicatedWorkerGlobalScope = js_sys::global()
        .dyn_into()
        .expect("the engine runs in a dedicated worker");
    let run: Rc<RefCell<Option<Rc<Run>>>> = Rc::default();
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |message: MessageEvent| {
        let Some(text) = message.data().as_string() else { return };
        match serde_json::from_str(&text) {
            Ok(Command::Start(start)) => {
                let started = Run::new(*start);
                *run.borrow_mut() = Some(started.clone());
                spawn_local(started.drive());
            }
            Ok(Command::Stop) => {
                if let Some(run) = run.borrow().as_ref() {
                    run.stop();
                }
            }
            Ok(Command::DoNotWait) => {
                if let Some(run) = run.borrow().as_ref() {
                    run.do_not_wait();
                }
            }
            Err(error) => tell(&EngineEvent::Failed {
                message: format!("The engine cannot read its orders: {error}."),
            }),
        }
    });
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // The worker lives as long as its global scope.
    on_message.forget();
    let _ = scope.post_message(&READY.into());
}

/// Sends an event to the page.
pub fn tell(event: &EngineEvent) {
    let Ok(text) = serde_json::to_string(event) else { return };
    if let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() {
        let _ = scope.post_message(&text.into());
    }
}
