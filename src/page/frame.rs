//! What the frame knows: the form, the check of the connection, and what the bench tells of itself.

use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::{
    bridge::{self, Notice, Parcel, Reading, Scene, Tab, ToBench, ToFrame},
    browser,
};
use crate::{
    config::{
        Endpoint, RunConfig, Secret,
        form::{Draft, FieldError},
        link,
        workload::{FileName, Kind},
    },
    load::{
        lanes,
        reach::{self, Finding, Seen},
        schedule::schedule,
    },
    protocol::ServerLoad,
    report::{ServerDetails, load_words},
    workload::file::Summary,
};

/// Requests at a public host from which on a run is asked for twice.
const MANY_REQUESTS: usize = 1_000;

/// What *Check connection* came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Check {
    /// Not asked.
    #[default]
    Unasked,
    /// Under way.
    Asking,
    /// What was seen with this key; [`Frame::finding`] judges it.
    Seen(Seen, Secret),
}

/// Whether the bench can be spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bench {
    /// It is on its way; what is said to it waits.
    #[default]
    Loading,
    /// It listens.
    Ready,
    /// The browser could not load it.
    Failed,
}

/// The frame's state: signals, so that each part redraws what it shows.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The form as typed.
    pub draft: RwSignal<Draft>,
    /// The form as a configuration, or what is wrong with it.
    pub checked: Memo<Result<RunConfig, Vec<FieldError>>>,
    /// The API key as typed.
    pub key: RwSignal<String>,
    /// Whether the key is kept for this tab.
    pub keep_key: RwSignal<bool>,
    /// The result of *Check connection*.
    pub check: RwSignal<Check>,
    /// What *Check connection* found out about what is typed now.
    pub finding: Memo<Option<Finding>>,
    /// What the server that was checked told of its settings and its load.
    pub told: RwSignal<Option<(Option<ServerDetails>, Option<ServerLoad>)>>,
    /// Which part of the page is in sight.
    pub tab: RwSignal<Tab>,
    /// What [`Tab::Run`] shows.
    pub scene: RwSignal<Scene>,
    /// Whether there is a result to come back to.
    pub has_last: RwSignal<bool>,
    /// Whether the bench can be spoken to.
    pub bench: RwSignal<Bench>,
    /// Things to be told, each in a sentence; they stay until dismissed.
    pub notices: RwSignal<Vec<Notice>>,
    /// The file of prompts that is being read.
    pub reading: RwSignal<Option<Reading>>,
    /// The file of prompts that was read, and what it came to.
    pub prompts: RwSignal<Option<(FileName, Summary)>>,
    /// Whether the help is open.
    pub help: RwSignal<bool>,
    waiting: StoredValue<Vec<Parcel>, LocalStorage>,
}

impl Frame {
    /// The frame as the page's URL describes it.
    pub fn from_url() -> Self {
        let (config, notices) = link::from_query(&browser::query());
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
            told: RwSignal::default(),
            tab: RwSignal::new(Tab::of(&browser::fragment())),
            scene: RwSignal::default(),
            has_last: RwSignal::default(),
            bench: RwSignal::default(),
            check,
            notices: RwSignal::new(notices.into_iter().map(Notice::from).collect()),
            reading: RwSignal::default(),
            prompts: RwSignal::default(),
            help: RwSignal::new(false),
            waiting: StoredValue::new_local(Vec::new()),
        }
    }

    /// The frame, from any of its components.
    pub fn get() -> Self {
        expect_context()
    }

    /// Loads the bench and listens to it.
    pub fn begin(self) {
        bridge::on_frame(move |message| self.on_message(message));
        bridge::load_bench(move || {
            self.bench.set(Bench::Failed);
            self.waiting.update_value(Vec::clear);
            self.notice("The second part of this page could not be loaded. Is the server that the page came from still there? Reload the page to try again.");
        });
        Effect::new(move |_| self.tell(&ToBench::Tab(self.tab.get())));
    }

    /// Tells the bench something, as soon as it listens.
    pub fn tell(self, message: &ToBench) {
        self.hand_over(message.into());
    }

    /// Gives the bench files to open. Several are there to be compared.
    pub fn open_all(self, files: &web_sys::FileList) {
        if files.length() > 1 {
            self.tab.set(Tab::Compare);
            self.tell(&ToBench::Tab(Tab::Compare));
        }
        (0..files.length())
            .filter_map(|i| files.get(i))
            .for_each(|file| self.open(&file));
    }

    /// Gives the bench a file to open, as soon as it listens.
    pub fn open(self, file: &web_sys::File) {
        self.hand_over(JsValue::from(file));
    }

    fn hand_over(self, parcel: Parcel) {
        match self.bench.get_untracked() {
            Bench::Ready => bridge::to_bench(&parcel),
            Bench::Loading => self.waiting.update_value(|waiting| waiting.push(parcel)),
            Bench::Failed => {}
        }
    }

    fn on_message(self, message: ToFrame) {
        match message {
            ToFrame::Ready { build } => {
                if build != bridge::BUILD {
                    self.notice("The page was renewed on its server while it loaded. Reload it.");
                    return;
                }
                self.bench.set(Bench::Ready);
                let waiting = self.waiting.try_update_value(std::mem::take).unwrap_or_default();
                waiting.iter().for_each(bridge::to_bench);
            }
            ToFrame::Scene { scene, has_last } => {
                self.scene.set(scene);
                self.has_last.set(has_last);
            }
            ToFrame::Tab(tab) => self.tab.set(tab),
            ToFrame::Notice(notice) => self.notice(notice),
            ToFrame::Config(config) => self.draft.set(Draft::from(&*config)),
            ToFrame::Again(config) => self.run_again(&config),
            ToFrame::Reading(reading) => self.reading.set(reading),
            ToFrame::Prompts { file, summary } => {
                self.reading.set(None);
                self.draft.update(|draft| {
                    draft.workload.kind = Kind::File;
                    draft.workload.file = Some(file.clone());
                });
                self.prompts.set(Some((file, *summary)));
            }
        }
    }

    /// Tells the person something.
    pub fn notice(self, notice: impl Into<Notice>) {
        self.notices.update(|notices| notices.push(notice.into()));
    }

    /// Whether this file of prompts was read.
    pub fn has_prompts(self, file: &FileName) -> bool {
        self.prompts
            .with(|prompts| prompts.as_ref().is_some_and(|(read, _)| read == file))
    }

    /// Whether the form is in sight.
    pub fn shows_form(self) -> bool {
        self.tab.get() == Tab::Run && self.scene.get() == Scene::Setup
    }

    /// Whether a run may be started from the keyboard.
    pub fn may_run(self) -> bool {
        untrack(move || self.shows_form()) && !self.help.get_untracked()
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
        if untrack(move || self.key_error()).is_some() || !agreed(&config) {
            return;
        }
        let key = Secret::new(&self.key.get_untracked());
        self.remember_key();
        // The request that a link names is not one of this run.
        browser::set_fragment("");
        self.tell(&ToBench::Start {
            config: Box::new(config),
            key: key.reveal().map(str::to_owned),
        });
    }

    /// Takes a result's configuration into the form and runs it at once; but a key that was typed for one server is not
    /// sent to another, and what was hidden in a result cannot be sent at all.
    fn run_again(self, config: &RunConfig) {
        let draft = Draft::from(config);
        let same_server = self.draft.with_untracked(server_of) == server_of(&draft);
        let incomplete = link::to_query(config).contains("%28hidden%29");
        self.draft.set(draft);
        if incomplete {
            self.notice("This result was saved without some of what it was asked for. Look for “(hidden)” in the form, fill it in, and run.");
        } else if !same_server && self.key.with_untracked(|key| Secret::new(key).reveal().is_some()) {
            self.notice(
                "The API key that is typed in was meant for another server. See that the form is right, and run.",
            );
        } else if self.checked.with_untracked(Result::is_err) {
            self.notice("This result's configuration cannot be run as it is: the form says why.");
        } else {
            self.run();
        }
    }

    /// Keeps the key for this tab and this server if that is ticked; else forgets it.
    pub fn remember_key(self) {
        let key = Secret::new(&self.key.get_untracked());
        let server = server_of(&self.draft.get_untracked());
        browser::keep_key(&server, key.reveal().filter(|_| self.keep_key.get_untracked()));
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
    let requests = match config.load.duration_s {
        _ if config.load.is_open() => schedule(config, Vec::new()).len(),
        // How many a closed loop makes of a time is the server's matter.
        Some(_) => usize::MAX,
        None => config.requests as usize,
    };
    if requests < MANY_REQUESTS || lanes::is_private(&host) {
        return true;
    }
    browser::confirm(&format!(
        "Run this at {host}: {}? That is a public host; make sure it is meant to take this load.",
        load_words(config)
    ))
}
