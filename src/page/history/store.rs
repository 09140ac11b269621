//! What this browser keeps of runs: finished results, and the journal of a run that goes on. IndexedDB, in three stores:
//! `runs` (id → what the list shows), `bodies` (id → the JSON document), `journal` ([id, number] → an entry).

use std::fmt;

use idb::{
    Database, DatabaseEvent, Error, Factory, KeyRange, ObjectStore, ObjectStoreParams, Query, Transaction,
    TransactionMode, TransactionResult,
};
use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::report::history::Entry;

const NAME: &str = "streamgauge";
const VERSION: u32 = 1;
const RUNS: &str = "runs";
const BODIES: &str = "bodies";
const JOURNAL: &str = "journal";

/// Why the browser keeps nothing, or not this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It has no room left.
    Full,
    /// It keeps nothing for this page at all, or something is wrong with it; in its own words.
    Unavailable(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(f, "the storage that this browser allows the page is full"),
            Self::Unavailable(why) => write!(f, "this browser refuses to keep anything for the page ({why})"),
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// A connection to what is kept.
#[derive(Debug)]
pub struct Store(Database);

impl Store {
    /// Opens it, and makes it if there is none.
    ///
    /// # Errors
    /// If the browser keeps nothing for this page: some do so in private windows, or on request.
    pub async fn open() -> Result<Self, Refused> {
        let mut request = Factory::new()?.open(NAME, Some(VERSION))?;
        request.on_upgrade_needed(|event| {
            // An error here fails the opening, which is told.
            if let Ok(database) = event.database() {
                for name in [RUNS, BODIES, JOURNAL] {
                    let _ = database.create_object_store(name, ObjectStoreParams::new());
                }
            }
        });
        let mut database = request.await?;
        // A newer page in another tab may change the layout: this one must not stand in its way.
        database.on_version_change(|event| {
            if let Ok(database) = event.database() {
                database.close();
            }
        });
        Ok(Self(database))
    }

    /// All that the list shows.
    ///
    /// # Errors
    /// The browser's refusal.
    pub async fn entries(&self) -> Result<Vec<Entry>, Refused> {
        let values = self.read(RUNS)?.get_all(None, None)?.await?;
        // One that cannot be read is left in its place: a newer page may have written it.
        Ok(values
            .iter()
            .filter_map(|value| serde_json::from_str(&value.as_string()?).ok())
            .collect())
    }

    /// A kept result's JSON document, if it is there.
    ///
    /// # Errors
    /// The browser's refusal.
    pub async fn body(&self, id: &str) -> Result<Option<String>, Refused> {
        let value = self.read(BODIES)?.get(JsValue::from(id))?.await?;
        Ok(value.and_then(|value| value.as_string()))
    }

    /// Keeps a result, and forgets its journal: both or neither.
    ///
    /// # Errors
    /// The browser's refusal; then nothing has changed.
    pub async fn keep(&self, entry: &Entry, body: &str) -> Result<(), Refused> {
        let transaction = self.write(&[RUNS, BODIES, JOURNAL])?;
        let id = JsValue::from(&entry.id);
        transaction.object_store(RUNS)?.put(&text(entry), Some(&id))?;
        transaction.object_store(BODIES)?.put(&body.into(), Some(&id))?;
        transaction.object_store(JOURNAL)?.delete(of_journal(&entry.id)?)?;
        done(transaction).await
    }

    /// Writes anew what the list shows of a kept result.
    ///
    /// # Errors
    /// The browser's refusal; then nothing has changed.
    pub async fn update(&self, entry: &Entry) -> Result<(), Refused> {
        let transaction = self.write(&[RUNS])?;
        transaction
            .object_store(RUNS)?
            .put(&text(entry), Some(&JsValue::from(&entry.id)))?;
        done(transaction).await
    }

    /// Deletes kept results.
    ///
    /// # Errors
    /// The browser's refusal; then nothing has changed.
    pub async fn delete(&self, ids: &[String]) -> Result<(), Refused> {
        let transaction = self.write(&[RUNS, BODIES])?;
        for id in ids {
            transaction.object_store(RUNS)?.delete(JsValue::from(id))?;
            transaction.object_store(BODIES)?.delete(JsValue::from(id))?;
        }
        done(transaction).await
    }

    /// Adds entries to a journal, numbered from `from` on.
    ///
    /// # Errors
    /// The browser's refusal; then nothing has changed.
    pub async fn append(&self, id: &str, from: u32, entries: &[String]) -> Result<(), Refused> {
        let transaction = self.write(&[JOURNAL])?;
        let journal = transaction.object_store(JOURNAL)?;
        for (number, entry) in (from..).zip(entries) {
            let key = Array::of2(&id.into(), &number.into());
            journal.put(&entry.into(), Some(&key))?;
        }
        done(transaction).await
    }

    /// Which journals there are.
    ///
    /// # Errors
    /// The browser's refusal.
    pub async fn journals(&self) -> Result<Vec<String>, Refused> {
        let keys = self.read(JOURNAL)?.get_all_keys(None, None)?.await?;
        // They come in order: those of one journal are neighbours.
        let mut ids: Vec<String> = keys
            .iter()
            .filter_map(|key| Array::from(key).get(0).as_string())
            .collect();
        ids.dedup();
        Ok(ids)
    }

    /// The entries of a journal, in their order.
    ///
    /// # Errors
    /// The browser's refusal.
    pub async fn journal(&self, id: &str) -> Result<Vec<String>, Refused> {
        let range = Query::from(of_journal(id)?);
        let values = self.read(JOURNAL)?.get_all(Some(range), None)?.await?;
        Ok(values.iter().filter_map(JsValue::as_string).collect())
    }

    /// Forgets a journal.
    ///
    /// # Errors
    /// The browser's refusal.
    pub async fn forget_journal(&self, id: &str) -> Result<(), Refused> {
        let transaction = self.write(&[JOURNAL])?;
        transaction.object_store(JOURNAL)?.delete(of_journal(id)?)?;
        done(transaction).await
    }

    fn read(&self, store: &str) -> Result<ObjectStore, Error> {
        self.0
            .transaction(&[store], TransactionMode::ReadOnly)?
            .object_store(store)
    }

    fn write(&self, stores: &[&str]) -> Result<Transaction, Error> {
        self.0.transaction(stores, TransactionMode::ReadWrite)
    }
}

/// Waits until a transaction is written. What it asked for needs no waiting of its own: if any of it fails, all does.
async fn done(transaction: Transaction) -> Result<(), Refused> {
    let names = transaction.store_names();
    // Waiting takes the transaction; its reason is asked of another handle to it.
    let same = transaction.object_store(&names[0])?.transaction();
    let why = match transaction.await {
        Ok(TransactionResult::Committed) => return Ok(()),
        Ok(TransactionResult::Aborted) => "it broke off the writing".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(match same.error() {
        Some(error) if error.name() == "QuotaExceededError" => Refused::Full,
        Some(error) => Refused::Unavailable(format!("{}: {}", error.name(), error.message())),
        None => Refused::Unavailable(why),
    })
}

fn text(entry: &Entry) -> JsValue {
    serde_json::to_string(entry).expect("plain data").into()
}

/// The keys of a journal's entries: an array sorts after any number.
fn of_journal(id: &str) -> Result<KeyRange, Error> {
    let (from, to) = (Array::of1(&id.into()), Array::of2(&id.into(), &Array::new()));
    KeyRange::bound(&from, &to, None, None)
}

/// Bytes in use and bytes allowed, where the browser tells.
pub async fn usage() -> Option<(f64, f64)> {
    let storage = web_sys::window()?.navigator().storage();
    let estimate = wasm_bindgen_futures::JsFuture::from(storage.estimate().ok()?)
        .await
        .ok()?;
    let read = |name: &str| js_sys::Reflect::get(&estimate, &name.into()).ok()?.as_f64();
    Some((read("usage")?, read("quota")?))
}
