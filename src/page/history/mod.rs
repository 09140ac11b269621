//! The runs that this browser keeps, and nothing but this browser.

mod journal;
mod store;
mod view;

use std::{collections::BTreeSet, rc::Rc};

use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::{browser, state::Page};
use crate::report::{
    Document, Measured,
    history::{Entry, Facts, series_words},
};
pub use journal::Journal;
pub use store::Refused;
use store::Store;
pub use view::HistoryView;

/// What is kept, as far as it was read.
#[derive(Clone, Copy)]
pub struct History {
    /// The kept results, the newest first.
    pub entries: RwSignal<Vec<Entry>>,
    /// Why nothing is kept, if the browser refuses.
    pub refused: RwSignal<Option<Refused>>,
    /// Bytes in use and bytes allowed, where the browser tells.
    pub usage: RwSignal<Option<(f64, f64)>>,
    /// Whether runs are to be kept.
    pub keeps: RwSignal<bool>,
    /// What the person searches for.
    pub query: RwSignal<String>,
    /// Which results are ticked.
    pub ticked: RwSignal<BTreeSet<String>>,
    store: StoredValue<Option<Rc<Store>>, LocalStorage>,
}

impl History {
    /// Before anything was read.
    pub fn new() -> Self {
        Self {
            entries: RwSignal::default(),
            refused: RwSignal::default(),
            usage: RwSignal::default(),
            keeps: RwSignal::new(browser::keeps_runs()),
            query: RwSignal::default(),
            ticked: RwSignal::default(),
            store: StoredValue::new_local(None),
        }
    }

    /// Reads the list anew: another tab may have changed it.
    pub async fn load(self) {
        match self.attempt(async |store| store.entries().await).await {
            Ok(mut entries) => {
                entries.sort_by(|a, b| b.facts.started_unix_ms.total_cmp(&a.facts.started_unix_ms));
                self.entries.set(entries);
                self.refused.set(None);
            }
            Err(refused) => self.refused.set(Some(refused)),
        }
        self.usage.set(store::usage().await);
    }

    /// Keeps a result under a key. One that is there under it gives way, but for what the person wrote to it.
    ///
    /// # Errors
    /// The browser's refusal; then nothing was kept.
    pub async fn keep(self, id: &str, measured: &Measured) -> Result<(), Refused> {
        let Some(facts) = Facts::of(measured) else {
            return Ok(());
        };
        let body = measured.to_json();
        let there = self
            .entries
            .with_untracked(|entries| entries.iter().find(|entry| entry.id == id).cloned());
        let mut entry = there.unwrap_or_else(|| Entry {
            id: id.to_owned(),
            name: name_of_measured(measured),
            note: String::new(),
            tags: Vec::new(),
            pinned: false,
            bytes: 0,
            facts: facts.clone(),
        });
        entry.bytes = body.len() as u64;
        entry.facts = facts;
        let mut kept = self.attempt(async |store| store.keep(&entry, &body).await).await;
        if kept == Err(Refused::Full) {
            // The journal holds the same once more: without it there may be room.
            let _ = self.attempt(async |store| store.forget_journal(id).await).await;
            kept = self.attempt(async |store| store.keep(&entry, &body).await).await;
        }
        kept?;
        self.load().await;
        Ok(())
    }

    /// Writes anew what a person says of a kept result.
    pub fn change(self, entry: Entry) {
        spawn_local(async move {
            let changed = self.attempt(async |store| store.update(&entry).await).await;
            self.after(changed).await;
        });
    }

    /// Deletes kept results.
    pub fn delete(self, ids: Vec<String>) {
        spawn_local(async move {
            let deleted = self.attempt(async |store| store.delete(&ids).await).await;
            self.after(deleted).await;
        });
    }

    async fn after(self, done: Result<(), Refused>) {
        self.load().await;
        if let Err(refused) = done {
            self.refused.set(Some(refused));
        }
    }

    /// A kept result's JSON document; `None` if it is gone.
    ///
    /// # Errors
    /// The browser's refusal.
    pub async fn body(self, id: &str) -> Result<Option<String>, Refused> {
        self.attempt(async |store| store.body(id).await).await
    }

    /// Keeps runs from now on, or does not.
    pub fn set_keeps(self, keeps: bool) {
        self.keeps.set(keeps);
        browser::set_keeps_runs(keeps);
    }

    /// Does something with what is kept; once more with a new connection if the one there was is dead.
    async fn attempt<T>(self, act: impl AsyncFn(&Store) -> Result<T, Refused>) -> Result<T, Refused> {
        if let Some(store) = self.store.get_value() {
            match act(&store).await {
                Err(Refused::Unavailable(_)) => self.store.set_value(None),
                done => return done,
            }
        }
        let store = Rc::new(Store::open().await?);
        self.store.set_value(Some(store.clone()));
        act(&store).await
    }
}

/// A name for a result: its model, and when it was measured.
pub fn name_of(document: &Document) -> String {
    let model = match document.server.model.as_str() {
        _ if document.simulated => "simulated",
        "" => "result",
        model => model,
    };
    format!("{model}, {}", browser::date_and_time(document.started_unix_ms))
}

fn name_of_measured(measured: &Measured) -> String {
    match measured {
        Measured::Run(document) => name_of(document),
        Measured::Series(series) => {
            let first = series.points.first().map(name_of).unwrap_or_default();
            format!("{}: {first}", series_words(series.config.series.kind))
        }
    }
}

impl Page {
    /// Shows a kept result.
    pub fn show_kept(self, id: String) {
        spawn_local(async move {
            let Some(measured) = self.read_kept(&id).await else {
                return;
            };
            if self.is_running() {
                self.notice(
                    "The kept run was not opened, because a run goes on. Stop it first, or open it in another tab.",
                );
            } else if self.gives_up_unsaved("the kept run") {
                self.show(measured);
            }
        });
    }

    /// Puts kept results among the runs that are compared, and shows them. The first is the baseline, if there was none.
    pub fn compare_kept(self, entries: Vec<Entry>) {
        spawn_local(async move {
            for entry in entries {
                if let Some(measured) = self.read_kept(&entry.id).await {
                    self.compare_as(&entry.name, &measured);
                }
            }
        });
    }

    /// A kept result; if it cannot be had, that is told.
    async fn read_kept(self, id: &str) -> Option<Measured> {
        let why = match self.history.body(id).await {
            Ok(Some(text)) => match Measured::from_json(&text) {
                Ok(measured) => return Some(measured),
                Err(error) => error.to_string(),
            },
            Ok(None) => {
                self.history.load().await;
                "it is no longer there. It was deleted, here or in another tab".to_owned()
            }
            Err(refused) => refused.to_string(),
        };
        self.notice(format!("The kept run could not be opened: {why}."));
        None
    }
}
