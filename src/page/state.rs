//! What the page knows, and what can be done with it.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::{browser, live::Live};
use crate::{
    config::{
        Endpoint, RunConfig, Secret,
        form::{Draft, FieldError},
        link,
    },
    engine::Engine,
    load::{
        EngineEvent, lanes,
        reach::{self, Finding, Seen},
    },
    metrics,
    report::{Document, Ending, Format},
    request::RequestRecord,
};

/// Requests at a public host from which on a run is asked for twice.
const MANY_REQUESTS: u32 = 1_000;
/// A file beyond this is no result of this page.
const MAX_FILE_BYTES: f64 = 512.0 * 1024.0 * 1024.0;

/// Where the page is.
#[derive(Clone, Debug, Default)]
pub enum Stage {
    /// The form.
    #[default]
    Setup,
    /// A run goes on.
    Running,
    /// A result is shown.
    Finished(Arc<Document>),
}

/// Which part of the page is in sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Setup, live view and result.
    #[default]
    Run,
    /// A captured response, explained.
    Explain,
}

/// What *Check connection* came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Check {
    /// Not asked.
    #[default]
    Unasked,
    /// Under way.
    Asking,
    /// What was seen with this key; [`Page::finding`] judges it.
    Seen(Seen, Secret),
}

/// The page's state: signals, so that each view redraws what it shows.
#[derive(Clone, Copy)]
pub struct Page {
    /// The form as typed.
    pub draft: RwSignal<Draft>,
    /// The form as a configuration, or what is wrong with it.
    pub checked: Memo<Result<RunConfig, Vec<FieldError>>>,
    /// The API key as typed.
    pub key: RwSignal<String>,
    /// Whether the key is kept for this tab.
    pub keep_key: RwSignal<bool>,
    /// Which part of the page is in sight.
    pub tab: RwSignal<Tab>,
    /// The captured response that is explained.
    pub captured: RwSignal<String>,
    /// Where the page is.
    pub stage: RwSignal<Stage>,
    /// The result shown last, to come back to.
    pub last: RwSignal<Option<Arc<Document>>>,
    /// The run as it goes.
    pub live: RwSignal<Live>,
    /// The result of *Check connection*.
    pub check: RwSignal<Check>,
    /// Things to be told, each in a sentence; they stay until dismissed.
    pub notices: RwSignal<Vec<String>>,
    /// What *Check connection* found out about what is typed now.
    pub finding: Memo<Option<Finding>>,
    /// Whether the last run's result exists in this tab alone.
    pub unsaved: RwSignal<bool>,
    /// The request in the inspector.
    pub inspected: RwSignal<Option<RequestRecord>>,
    /// Whether the help is open.
    pub help: RwSignal<bool>,
    /// Width of the window, CSS px.
    pub width: RwSignal<f64>,
    engine: StoredValue<Option<Engine>, LocalStorage>,
    config: StoredValue<RunConfig>,
}

/// A request of a result, as the URL's fragment names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedRequest {
    /// A measured one, by its index.
    Measured(u32),
    /// One of the warm-up, by its index.
    WarmUp(u32),
}

impl NamedRequest {
    /// The one that a fragment names, if it names one.
    pub fn of(fragment: &str) -> Option<Self> {
        let index = |prefix: &str| fragment.strip_prefix(prefix)?.parse().ok();
        index("#request-")
            .map(Self::Measured)
            .or_else(|| index("#warm-up-").map(Self::WarmUp))
    }

    /// The name of a record.
    pub fn from_record(record: &RequestRecord) -> Self {
        if record.warmup {
            Self::WarmUp(record.index)
        } else {
            Self::Measured(record.index)
        }
    }

    /// The fragment that names it.
    pub fn fragment(self) -> String {
        match self {
            Self::Measured(index) => format!("#request-{index}"),
            Self::WarmUp(index) => format!("#warm-up-{index}"),
        }
    }

    /// Its record, if the result has it.
    fn find(self, document: &Document) -> Option<RequestRecord> {
        let (records, index) = match self {
            Self::Measured(index) => (&document.requests, index),
            Self::WarmUp(index) => (&document.warmup, index),
        };
        records.iter().find(|record| record.index == index).cloned()
    }
}

impl std::fmt::Display for NamedRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Measured(index) => write!(f, "request #{index}"),
            Self::WarmUp(index) => write!(f, "warm-up request #{index}"),
        }
    }
}

impl Page {
    /// The page as its URL describes it.
    pub fn from_url() -> Self {
        let (config, mut notices) = link::from_query(&browser::query());
        if let Some(named) = NamedRequest::of(&browser::fragment()) {
            notices.push(format!(
                "This link points at {named} of a result. Open that result's file to see it."
            ));
        }
        let draft = RwSignal::new(Draft::from(&config));
        let key = browser::stored_key(&server_of(&draft.get_untracked()));
        let check = RwSignal::new(Check::Unasked);
        let typed_key = RwSignal::new(key.clone().unwrap_or_default());
        Self {
            draft,
            checked: Memo::new(move |_| draft.with(Draft::check)),
            keep_key: RwSignal::new(key.is_some()),
            key: typed_key,
            finding: Memo::new(move |_| found(check, draft, typed_key)),
            tab: RwSignal::new(if browser::fragment() == "#explain" {
                Tab::Explain
            } else {
                Tab::Run
            }),
            captured: RwSignal::default(),
            stage: RwSignal::default(),
            last: RwSignal::default(),
            live: RwSignal::default(),
            check,
            unsaved: RwSignal::new(false),
            notices: RwSignal::new(notices),
            inspected: RwSignal::new(None),
            help: RwSignal::new(false),
            width: RwSignal::new(browser::window_width()),
            engine: StoredValue::new_local(None),
            config: StoredValue::new(config),
        }
    }

    /// The page, from any component.
    pub fn get() -> Self {
        expect_context()
    }

    /// Tells something.
    pub fn notice(self, words: impl Into<String>) {
        self.notices.update(|notices| notices.push(words.into()));
    }

    /// Whether the form is in sight, so that a run may be started from the keyboard.
    pub fn may_run(self) -> bool {
        self.tab.get_untracked() == Tab::Run
            && self.stage.with_untracked(|stage| matches!(stage, Stage::Setup))
            && !self.help.get_untracked()
    }

    /// Whether a run goes on.
    pub fn is_running(self) -> bool {
        self.stage.with_untracked(|stage| matches!(stage, Stage::Running))
    }

    /// What is wrong with the key as typed, if anything.
    pub fn key_error(self) -> Option<&'static str> {
        let sendable = self.key.with(|key| Secret::new(key).is_sendable());
        (!sendable).then_some("A key can hold plain Latin letters, digits and signs alone; this one has others.")
    }

    /// Starts a run if the form is right.
    pub fn run(self) {
        let Ok(config) = self.checked.get_untracked() else {
            return;
        };
        if untrack(move || self.key_error()).is_some() {
            return;
        }
        if self.stage.with_untracked(|stage| matches!(stage, Stage::Running)) || !agreed(&config) {
            return;
        }
        let key = Secret::new(&self.key.get_untracked());
        self.remember_key();
        // The request that a link names is not one of this run.
        browser::set_fragment("");
        self.live.set(Live::default());
        self.config.set_value(config.clone());
        match Engine::start(&config, &key, move |event| self.on_event(event)) {
            Ok(engine) => {
                self.engine.set_value(Some(engine));
                self.stage.set(Stage::Running);
            }
            Err(message) => self.notice(message),
        }
    }

    /// Stops the run; its result follows.
    pub fn stop(self) {
        self.live.update(|live| live.stopping = true);
        self.engine.with_value(|engine| engine.as_ref().map(Engine::stop));
    }

    /// Keeps the key for this tab and this server if that is ticked; else forgets it.
    pub fn remember_key(self) {
        let key = Secret::new(&self.key.get_untracked());
        let server = server_of(&self.draft.get_untracked());
        browser::keep_key(&server, key.reveal().filter(|_| self.keep_key.get_untracked()));
    }

    /// Back to the form.
    pub fn back(self) {
        self.inspected.set(None);
        self.stage.set(Stage::Setup);
    }

    /// Back to the result shown last.
    pub fn show_last(self) {
        if let Some(document) = self.last.get_untracked() {
            self.stage.set(Stage::Finished(document));
        }
    }

    fn on_event(self, event: EngineEvent) {
        match event {
            EngineEvent::Started {
                started_unix_ms,
                slots,
                server,
            } => {
                self.live.update(|live| live.begin(started_unix_ms, slots, server));
            }
            EngineEvent::Progress(progress) => self.live.update(|live| live.add(progress)),
            EngineEvent::Finished(end) => {
                self.live.update(|live| {
                    live.health = end.health;
                    live.notes = end.notes;
                    live.measured_from_ms = end.measured_from_ms;
                    live.duration_ms = end.duration_ms;
                });
                self.finish(end.ending);
            }
            EngineEvent::Failed { message } => {
                self.notice(message);
                if self.live.with_untracked(|live| live.records.is_empty()) {
                    self.end_engine();
                    self.stage.set(Stage::Setup);
                } else {
                    self.live.update(Live::close_interrupted);
                    self.finish(Ending::Interrupted);
                }
            }
        }
    }

    fn finish(self, ending: Ending) {
        self.end_engine();
        let config = self.config.get_value();
        // Moved and not copied: they are all that a long run holds in memory. The live view, told of nothing, goes next.
        let mut live = std::mem::take(&mut *self.live.write_untracked());
        live.records.sort_by_key(|record| record.index);
        live.warmup.sort_by_key(|record| record.index);
        let document = Document {
            format: Format::current(),
            simulated: config.endpoint == Endpoint::Simulated,
            started_unix_ms: live.started_unix_ms,
            measured_from_ms: live.measured_from_ms,
            duration_ms: live.duration_ms,
            ending,
            server: live.server,
            config,
            slots: live.slots,
            client: live.health,
            notes: live.notes,
            summary: metrics::summarize(&live.records, live.duration_ms),
            requests: live.records,
            warmup: live.warmup,
        };
        self.unsaved.set(!document.simulated);
        self.show(document.without_secrets());
    }

    /// Shows a result, and the request that the URL's fragment names.
    fn show(self, document: Document) {
        self.tab.set(Tab::Run);
        let document = Arc::new(document);
        self.last.set(Some(document.clone()));
        self.stage.set(Stage::Finished(document.clone()));
        self.inspected
            .set(NamedRequest::of(&browser::fragment()).and_then(|named| named.find(&document)));
    }

    /// Ends the worker, but not from within its own message.
    fn end_engine(self) {
        let engine = self.engine.try_update_value(Option::take).flatten();
        gloo_timers::callback::Timeout::new(0, move || drop(engine)).forget();
    }

    /// Reads a result from a file and shows it.
    pub fn open(self, file: web_sys::File) {
        let name = file.name();
        if self.is_running() {
            self.notice(format!(
                "{name} was not opened, because a run goes on. Stop it first, or open the file in another tab."
            ));
            return;
        }
        if file.size() > MAX_FILE_BYTES {
            self.notice(format!(
                "{name} is larger than any result of this page, and was not read."
            ));
            return;
        }
        spawn_local(async move {
            let Ok(text) = JsFuture::from(file.text()).await else {
                self.notice(format!("{name} could not be read. Is it still there?"));
                return;
            };
            let text = text.as_string().unwrap_or_default();
            match Document::from_json(&text) {
                Ok(document) => {
                    // Reading takes a while, in which a run may have been started.
                    if self.is_running() {
                        self.notice(format!("{name} was not opened, because a run was started meanwhile."));
                    } else if self.gives_up_unsaved(&name) {
                        self.show(document);
                    }
                }
                Err(_) if self.tab.get_untracked() == Tab::Explain => self.captured.set(text),
                Err(error) => self.notice(format!("{name}: {error}")),
            }
        });
    }

    /// Whether a file may take the place of the last run's result; asks if that one is nowhere but here.
    fn gives_up_unsaved(self, file_name: &str) -> bool {
        let question = format!(
            "The result of your last run is not saved. Open {file_name} in its place? The unsaved result is then gone."
        );
        let may = !self.unsaved.get_untracked() || browser::confirm(&question);
        if may {
            self.unsaved.set(false);
        }
        may
    }

    /// Takes a result's configuration into the form.
    pub fn take_config(self, config: &RunConfig) {
        self.draft.set(Draft::from(config));
    }
}

/// Judges what a check saw, for the model as typed now: to pick a listed one needs no second check. What was seen of
/// another server, or with another key, says nothing.
fn found(check: RwSignal<Check>, draft: RwSignal<Draft>, key: RwSignal<String>) -> Option<Finding> {
    let (base_url, model) = draft.with(|draft| (draft.base_url.trim().to_owned(), draft.model.trim().to_owned()));
    let key = key.with(|key| Secret::new(key));
    check.with(|check| match check {
        Check::Seen(seen, with) if seen.base_url == base_url && *with == key => {
            Some(reach::judge(&Seen { model, ..seen.clone() }))
        }
        _ => None,
    })
}

/// The server that a key belongs to: scheme, host and port of the base URL.
fn server_of(draft: &Draft) -> String {
    let mut parts = draft.base_url.trim().splitn(4, '/');
    let (scheme, authority) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
    format!("{scheme}//{authority}").to_ascii_lowercase()
}

/// Whether a heavy run at somebody else's host is meant.
fn agreed(config: &RunConfig) -> bool {
    let Endpoint::Http { base_url } = &config.endpoint else {
        return true;
    };
    let host = lanes::host(base_url).unwrap_or_default();
    if config.requests < MANY_REQUESTS || lanes::is_private(&host) {
        return true;
    }
    browser::confirm(&format!(
        "Send {} requests to {host}, {} at a time? That is a public host; make sure it is meant to take this load.",
        config.requests, config.concurrency
    ))
}
