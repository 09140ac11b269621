//! Writes a run down as it goes, and finds what an earlier page left behind.

use std::{cell::RefCell, collections::HashSet, rc::Rc};

use leptos::prelude::*;
use wasm_bindgen::{JsCast, prelude::Closure};
use wasm_bindgen_futures::spawn_local;
use web_sys::{BroadcastChannel, MessageEvent};

use super::{History, Refused};
use crate::{
    config::RunConfig,
    page::live::Live,
    report::{Document, Measured, ServerFacts, Slots, journal},
};

/// How often it is written, ms: what a crash may lose.
const EVERY_MS: f64 = 1000.0;

/// How long another tab has to say that a run is its own, ms.
const ANSWER_MS: u32 = 1500;

const CHANNEL: &str = "streamgauge";
const ASK: &str = "whose runs go on?";
const MINE: &str = "mine: ";

/// The journal of this page's run.
#[derive(Clone, Copy)]
pub struct Journal {
    history: History,
    open: StoredValue<Option<Open>>,
    writing: StoredValue<bool>,
    channel: StoredValue<Option<BroadcastChannel>, LocalStorage>,
    answers: StoredValue<Rc<RefCell<HashSet<String>>>, LocalStorage>,
}

/// A journal that is being written.
struct Open {
    id: String,
    /// Number of the next entry.
    next: u32,
    /// Entries that are not written yet.
    waiting: Vec<String>,
    /// Measured and warm-up requests, and samples of the server's load, that are in it.
    taken: (usize, usize, usize),
    /// When records were last taken, ms since the run began.
    taken_ms: f64,
    /// Why it is no longer written.
    refused: Option<Refused>,
}

/// A run that an earlier page left behind.
pub struct Recovered {
    /// Its key in the history.
    pub id: String,
    /// What was measured of it.
    pub measured: Measured,
    /// Whether the history could take it.
    pub kept: Result<(), Refused>,
}

impl Journal {
    /// None is written yet. Other tabs that ask are answered from now on.
    pub fn new(history: History) -> Self {
        let journal = Self {
            history,
            open: StoredValue::new(None),
            writing: StoredValue::new(false),
            channel: StoredValue::new_local(BroadcastChannel::new(CHANNEL).ok()),
            answers: StoredValue::new_local(Rc::default()),
        };
        let answer = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            let Some(words) = event.data().as_string() else { return };
            if let Some(id) = words.strip_prefix(MINE) {
                journal.answers.get_value().borrow_mut().insert(id.to_owned());
            } else if words == ASK
                && let Some(id) = journal.id()
            {
                journal.say(&format!("{MINE}{id}"));
            }
        });
        if let Some(channel) = journal.channel.get_value() {
            channel.set_onmessage(Some(answer.into_js_value().unchecked_ref()));
        }
        journal
    }

    fn id(self) -> Option<String> {
        self.open.with_value(|open| Some(open.as_ref()?.id.clone()))
    }

    fn say(self, words: &str) {
        if let Some(channel) = self.channel.get_value() {
            let _ = channel.post_message(&words.into());
        }
    }

    /// A run or a series begins; nothing is written if runs are not to be kept.
    pub fn begin(self, config: &RunConfig) {
        let open = self.history.keeps.get_untracked().then(|| Open {
            // Two tabs never begin in the same microsecond with the same random digits.
            id: format!(
                "{:.0}-{:08x}",
                js_sys::Date::now(),
                (js_sys::Math::random() * 4e9) as u32
            ),
            next: 0,
            waiting: vec![journal::asked(config)],
            taken: (0, 0, 0),
            taken_ms: 0.0,
            refused: None,
        });
        self.open.set_value(open);
    }

    /// The engine began a run.
    pub fn run_began(self, started_unix_ms: f64, config: &RunConfig, slots: &Slots, server: &ServerFacts) {
        self.update(|open| {
            open.taken = (0, 0, 0);
            open.taken_ms = 0.0;
            open.waiting
                .push(journal::began(started_unix_ms, config, slots, server));
        });
        self.write();
    }

    /// The run goes on.
    pub fn went_on(self, live: &Live) {
        let due = self.open.with_value(|open| {
            open.as_ref()
                .is_some_and(|open| live.elapsed_ms - open.taken_ms >= EVERY_MS)
        });
        if due && self.take(live) {
            self.write();
        }
    }

    /// Takes what ended since it was last taken; tells whether there was any.
    pub fn take(self, live: &Live) -> bool {
        let mut any = false;
        self.update(|open| {
            let (measured, warmup, told) = open.taken;
            open.taken = (live.records.len(), live.warmup.len(), live.server_load.len());
            open.taken_ms = live.elapsed_ms;
            let (measured, warmup) = (&live.records[measured..], &live.warmup[warmup..]);
            let told = &live.server_load[told..];
            any = !measured.is_empty() || !warmup.is_empty() || !told.is_empty();
            if any {
                let records = warmup.iter().chain(measured).cloned().collect();
                open.waiting
                    .push(journal::ended(records, live.health.clone(), told.to_vec()));
            }
        });
        any
    }

    /// A run of a series is over.
    pub fn run_over(self, document: &Document) {
        self.update(|open| open.waiting.push(journal::over(document)));
        self.write();
    }

    /// Nothing is written any more; the key under which the result is kept, if it is to be.
    pub fn end(self) -> Option<String> {
        let open = self.open.try_update_value(Option::take).flatten();
        open.map(|open| open.id)
    }

    /// What it told came to nothing.
    pub fn forget(self) {
        if let Some(id) = self.end() {
            spawn_local(async move {
                let _ = self
                    .history
                    .attempt(async |store| store.forget_journal(&id).await)
                    .await;
            });
        }
    }

    fn update(self, change: impl FnOnce(&mut Open)) {
        self.open.update_value(|open| {
            if let Some(open) = open.as_mut().filter(|open| open.refused.is_none()) {
                change(open);
            }
        });
    }

    /// Writes what waits, one transaction after the other.
    fn write(self) {
        if self.writing.get_value() {
            return;
        }
        self.writing.set_value(true);
        spawn_local(async move {
            while let Some((id, from, entries)) = self.waiting() {
                let written = self
                    .history
                    .attempt(async |store| store.append(&id, from, &entries).await)
                    .await;
                if let Err(refused) = written {
                    // The run goes on without; the result is kept, or saved, as ever.
                    self.update(|open| {
                        open.waiting = Vec::new();
                        open.refused = Some(refused);
                    });
                }
            }
            self.writing.set_value(false);
        });
    }

    fn waiting(self) -> Option<(String, u32, Vec<String>)> {
        self.open
            .try_update_value(|open| {
                let open = open.as_mut().filter(|open| !open.waiting.is_empty())?;
                let (from, entries) = (open.next, std::mem::take(&mut open.waiting));
                open.next += entries.len() as u32;
                Some((open.id.clone(), from, entries))
            })
            .flatten()
    }

    /// Finds the runs that no page goes on with, and puts what was measured of them into the history.
    pub async fn recover(self) -> Vec<Recovered> {
        let Ok(found) = self.history.attempt(async |store| store.journals().await).await else {
            return Vec::new();
        };
        if found.is_empty() {
            return Vec::new();
        }
        self.say(ASK);
        gloo_timers::future::TimeoutFuture::new(ANSWER_MS).await;
        let alive = self.answers.get_value();
        let mut recovered = Vec::new();
        for id in found {
            if alive.borrow().contains(&id) || self.id().as_ref() == Some(&id) {
                continue;
            }
            let Ok(entries) = self.history.attempt(async |store| store.journal(&id).await).await else {
                continue;
            };
            match journal::restore(entries.iter().map(String::as_str)) {
                Some(measured) => {
                    let kept = self.history.keep(&id, &measured).await;
                    recovered.push(Recovered { id, measured, kept });
                }
                None => {
                    let _ = self
                        .history
                        .attempt(async |store| store.forget_journal(&id).await)
                        .await;
                }
            }
        }
        recovered
    }
}
