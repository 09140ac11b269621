//! What the bench knows, and what can be done with it.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::{
    bridge::{self, Notice, Scene, Tab, ToBench, ToFrame},
    browser,
    compare::Runs,
    history::{History, Journal, name_of},
    live::Live,
    workload::{self, Prompts},
};
use crate::{
    config::{Endpoint, RunConfig, Secret, series::Kind},
    engine::Engine,
    import::{self, Subject},
    load::{EngineEvent, series::next_run},
    metrics,
    report::{
        self, Document, Embedded, Ending, Format, Measured, Series,
        link::{self, Snapshot},
    },
    request::RequestRecord,
};

/// A file beyond this is no result of this page.
const MAX_FILE_BYTES: f64 = 512.0 * 1024.0 * 1024.0;

/// Where the bench is.
#[derive(Clone, Debug, Default)]
pub enum Stage {
    /// Nothing of it is in sight: the frame shows the form.
    #[default]
    Setup,
    /// A run goes on.
    Running,
    /// A result is shown.
    Finished(Arc<Document>),
    /// The result of several runs is shown.
    Series(Arc<Series>),
    /// A result is shown as a link carried it.
    Linked(Arc<Snapshot>),
}

/// The bench's state: signals, so that each view redraws what it shows.
#[derive(Clone, Copy)]
pub struct Page {
    /// Which part of the page is in sight.
    pub tab: RwSignal<Tab>,
    /// The captured response that is explained.
    pub captured: RwSignal<String>,
    /// Where the bench is.
    pub stage: RwSignal<Stage>,
    /// The result shown last, to come back to.
    pub last: RwSignal<Option<Arc<Document>>>,
    /// The runs that are compared.
    pub compared: Runs,
    /// The runs that this browser keeps.
    pub history: History,
    /// Where the run that goes on is written down.
    pub journal: Journal,
    /// The run as it goes.
    pub live: RwSignal<Live>,
    /// The runs of a series that are done; of the last one, once it is over.
    pub series: RwSignal<Option<Arc<Series>>>,
    /// Whether a series waits before its next run.
    pub pausing: RwSignal<bool>,
    /// What the series that goes on was asked for, and the key.
    plan: StoredValue<Option<(RunConfig, Secret)>>,
    /// Whether the last run's result exists in this tab alone.
    pub unsaved: RwSignal<bool>,
    /// The request in the inspector.
    pub inspected: RwSignal<Option<RequestRecord>>,
    /// Width of the window, CSS px.
    pub width: RwSignal<f64>,
    engine: StoredValue<Option<Engine>, LocalStorage>,
    config: StoredValue<RunConfig>,
    /// The prompts that were read of a file.
    pub prompts: StoredValue<Prompts, LocalStorage>,
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
    /// The bench before any run.
    pub fn new() -> Self {
        let history = History::new();
        Self {
            history,
            journal: Journal::new(history),
            tab: RwSignal::new(Tab::of(&browser::fragment())),
            captured: RwSignal::default(),
            stage: RwSignal::default(),
            last: RwSignal::default(),
            compared: Runs::new(),
            live: RwSignal::default(),
            series: RwSignal::default(),
            pausing: RwSignal::new(false),
            plan: StoredValue::new(None),
            unsaved: RwSignal::new(false),
            inspected: RwSignal::new(None),
            width: RwSignal::new(browser::window_width()),
            engine: StoredValue::new_local(None),
            config: StoredValue::default(),
            prompts: StoredValue::new_local(Prompts::default()),
        }
    }

    /// The bench, from any of its components.
    pub fn get() -> Self {
        expect_context()
    }

    /// Listens to the frame, and says so.
    pub fn begin(self) {
        bridge::on_bench(move |message| self.on_message(message), move |file| self.open(file));
        Effect::new(move |_| {
            bridge::to_frame(&ToFrame::Scene {
                scene: self.stage.with(|stage| match stage {
                    Stage::Setup => Scene::Setup,
                    Stage::Running => Scene::Running,
                    Stage::Finished(_) | Stage::Series(_) | Stage::Linked(_) => Scene::Result,
                }),
                has_last: self.last.with(Option::is_some),
            });
        });
        bridge::to_frame(&ToFrame::Ready {
            build: bridge::BUILD.to_owned(),
        });
        if let Some(named) = NamedRequest::of(&browser::fragment()) {
            self.notice(format!(
                "This link points at {named} of a result. Open that result's file to see it."
            ));
        }
        self.open_link();
        spawn_local(self.recover());
    }

    /// Offers what an earlier page left behind of a run.
    async fn recover(self) {
        self.history.load().await;
        for recovered in self.journal.recover().await {
            let name = recovered.measured.runs().first().map(name_of).unwrap_or_default();
            let ended: usize = recovered.measured.runs().iter().map(|run| run.requests.len()).sum();
            self.notice(match recovered.kept {
                Ok(()) => Notice {
                    words: format!(
                        "A run was interrupted when its page was closed or lost ({name}). What was measured until then, {ended} requests, is kept in History."
                    ),
                    kept: Some(recovered.id),
                },
                Err(refused) => Notice::from(format!(
                    "A run was interrupted when its page was closed or lost ({name}). It could not be put into History, because {refused}. Make room there and reload this page: it is offered again."
                )),
            });
        }
    }

    /// Opens the result that the URL's fragment carries, if it carries one. No server is asked.
    pub fn open_link(self) {
        let fragment = browser::fragment();
        if !fragment.starts_with(link::PREFIX) {
            return;
        }
        if self.is_running() {
            return self.notice("The link's result was not opened, because a run goes on. Stop it first, or open the link in another tab.");
        }
        match link::open(&fragment) {
            Ok(snapshot) => {
                bridge::to_frame(&ToFrame::Tab(Tab::Run));
                self.stage.set(Stage::Linked(Arc::new(snapshot)));
            }
            Err(error) => {
                browser::set_fragment("");
                self.notice(error.to_string());
            }
        }
    }

    fn on_message(self, message: ToBench) {
        match message {
            ToBench::Start { config, key } => self.run(*config, &Secret::new(key.as_deref().unwrap_or_default())),
            ToBench::Tab(tab) => self.tab.set(tab),
            ToBench::ShowLast => self.show_last(),
            ToBench::ShowKept(id) => self.show_kept(id),
        }
    }

    /// Tells the person something.
    pub fn notice(self, notice: impl Into<Notice>) {
        bridge::to_frame(&ToFrame::Notice(notice.into()));
    }

    /// Whether a run goes on.
    pub fn is_running(self) -> bool {
        self.stage.with_untracked(|stage| matches!(stage, Stage::Running))
    }

    /// What the run that is shown was asked for.
    pub fn config(self) -> RunConfig {
        self.stage.with_untracked(|stage| match stage {
            Stage::Finished(document) => document.config.clone(),
            Stage::Series(series) => series.config.clone(),
            Stage::Linked(snapshot) => snapshot.document.config.clone(),
            _ => self.config.get_value(),
        })
    }

    /// Starts a run or a series of them, unless one goes on.
    fn run(self, config: RunConfig, key: &Secret) {
        if self.is_running() {
            return;
        }
        self.journal.begin(&config);
        if config.series.kind == Kind::Single {
            self.series.set(None);
            self.plan.set_value(None);
            self.begin_run(config, key);
        } else {
            self.series.set(Some(Arc::new(Series::new(&config))));
            self.plan.set_value(Some((config, key.clone())));
            self.begin_next();
        }
    }

    /// Starts the next run of the series that goes on, or ends it.
    fn begin_next(self) {
        self.pausing.set(false);
        let next = self.plan.with_value(|plan| {
            let (config, key) = plan.as_ref()?;
            let done = self.series.get_untracked()?;
            Some((next_run(config, &done.points)?, key.clone()))
        });
        match next {
            Some((config, key)) => {
                self.begin_run(config, &key);
                if self.engine.with_value(Option::is_none) {
                    self.end_series();
                }
            }
            None => self.end_series(),
        }
    }

    /// A run of the series is done: the next one follows after the pause.
    fn add_to_series(self, document: Document) {
        let completed = document.ending == Ending::Completed;
        self.series.update(|series| {
            if let Some(series) = series {
                Arc::make_mut(series).points.push(document);
            }
        });
        let pause_s = self.plan.with_value(|plan| {
            let (config, _) = plan.as_ref()?;
            let done = self.series.get_untracked()?;
            next_run(config, &done.points)?;
            Some(config.series.pause_s)
        });
        match pause_s.filter(|_| completed) {
            Some(pause_s) => {
                self.pausing.set(true);
                // The worker of the run before is ended first, even without a pause.
                let pause_ms = (pause_s * 1000.0).max(1.0) as u32;
                gloo_timers::callback::Timeout::new(pause_ms, move || {
                    if self.pausing.get_untracked() {
                        self.begin_next();
                    }
                })
                .forget();
            }
            None => self.end_series(),
        }
    }

    /// No run of the series follows; those that are done are kept and shown, if there are any.
    fn end_series(self) {
        self.pausing.set(false);
        self.plan.set_value(None);
        match self.series.get_untracked().filter(|series| !series.points.is_empty()) {
            Some(series) => {
                self.keep(Measured::Series(series.clone()));
                self.show(Measured::Series(series));
            }
            None => {
                self.journal.forget();
                self.series.set(None);
                self.stage.set(Stage::Setup);
            }
        }
    }

    /// Keeps a result that was just measured, if it is to be kept.
    fn keep(self, measured: Measured) {
        let Some(id) = self.journal.end() else { return };
        spawn_local(async move {
            match self.history.keep(&id, &measured).await {
                Ok(()) => self.unsaved.set(false),
                Err(refused) => self.notice(format!(
                    "This result was not kept in History, because {refused}. It is shown all the same: save it if it matters, and make room in History."
                )),
            }
        });
    }

    /// Shows one run of a series.
    pub fn open_point(self, series: &Series, position: usize) {
        if let Some(document) = series.points.get(position) {
            self.stage.set(Stage::Finished(Arc::new(document.clone())));
        }
    }

    /// Starts one run.
    fn begin_run(self, config: RunConfig, key: &Secret) {
        let items = match self.prompts.with_value(|prompts| prompts.for_run(&config.workload)) {
            Ok(items) => items,
            Err(message) => return self.notice(message),
        };
        self.live.set(Live::default());
        self.config.set_value(config.clone());
        match Engine::start(&config, key, items, move |event| self.on_event(event)) {
            Ok(engine) => {
                self.engine.set_value(Some(engine));
                self.stage.set(Stage::Running);
            }
            Err(message) => self.notice(message),
        }
    }

    /// Stops the run; its result follows.
    pub fn stop(self) {
        if self.pausing.get_untracked() {
            return self.end_series();
        }
        if self.live.with_untracked(|live| live.settling.is_some()) {
            self.engine
                .with_value(|engine| engine.as_ref().map(Engine::do_not_wait));
            return;
        }
        self.live.update(|live| live.stopping = true);
        self.engine.with_value(|engine| engine.as_ref().map(Engine::stop));
    }

    /// Back to the form.
    pub fn back(self) {
        self.inspected.set(None);
        if self.stage.with_untracked(|stage| matches!(stage, Stage::Linked(_))) {
            browser::set_fragment("");
        }
        self.stage.set(Stage::Setup);
    }

    /// Back to the result shown last.
    fn show_last(self) {
        if let Some(series) = self.series.get_untracked() {
            return self.stage.set(Stage::Series(series));
        }
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
                let config = self.config.get_value();
                self.journal.run_began(started_unix_ms, &config, &slots, &server);
                self.live.update(|live| live.begin(started_unix_ms, slots, server));
            }
            EngineEvent::Progress(progress) => {
                self.live.update(|live| live.add(progress));
                self.live.with_untracked(|live| self.journal.went_on(live));
            }
            EngineEvent::Settling(load) => self.live.update(|live| live.settling = Some(load)),
            EngineEvent::Recounted(counts) => self.live.update(|live| live.recount(&counts)),
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
                    self.end_series();
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
        self.live.with_untracked(|live| self.journal.take(live));
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
            server_load: live.server_load,
            summary: metrics::summarize(&live.records, live.duration_ms),
            requests: live.records,
            warmup: live.warmup,
        };
        self.unsaved.set(!document.simulated);
        let document = document.without_secrets();
        if self.plan.with_value(Option::is_some) {
            self.journal.run_over(&document);
            self.add_to_series(document);
        } else {
            let measured = Measured::Run(Arc::new(document));
            self.keep(measured.clone());
            self.show(measured);
        }
    }

    /// Shows a result, and the request of it that the URL's fragment names.
    pub fn show(self, measured: Measured) {
        bridge::to_frame(&ToFrame::Tab(Tab::Run));
        match measured {
            Measured::Run(document) => {
                self.series.set(None);
                self.last.set(Some(document.clone()));
                self.stage.set(Stage::Finished(document.clone()));
                self.inspected
                    .set(NamedRequest::of(&browser::fragment()).and_then(|named| named.find(&document)));
            }
            Measured::Series(series) => {
                self.series.set(Some(series.clone()));
                self.last.set(series.points.last().cloned().map(Arc::new));
                self.stage.set(Stage::Series(series));
            }
        }
    }

    /// Ends the worker, but not from within its own message.
    fn end_engine(self) {
        let engine = self.engine.try_update_value(Option::take).flatten();
        gloo_timers::callback::Timeout::new(0, move || drop(engine)).forget();
    }

    /// Reads a file: prompts for the next run, or a result, which is shown. What it is is told by looking.
    pub fn open(self, file: web_sys::File) {
        let name = file.name();
        let compares = self.tab.get_untracked() == Tab::Compare;
        if self.is_running() && !compares {
            self.notice(format!(
                "{name} was not opened, because a run goes on. Stop it first, or open the file in another tab."
            ));
            return;
        }
        spawn_local(async move {
            if self.tab.get_untracked() == Tab::Run && workload::holds_prompts(&file).await {
                workload::read(self, file).await;
                return;
            }
            if file.size() > MAX_FILE_BYTES {
                self.notice(format!(
                    "{name} is larger than any result of this page, and was not read."
                ));
                return;
            }
            let Ok(text) = JsFuture::from(file.text()).await else {
                self.notice(format!("{name} could not be read. Is it still there?"));
                return;
            };
            let mut text = text.as_string().unwrap_or_default();
            if compares {
                return self.compare_file(&name, &text);
            }
            match report::embedded(&text) {
                Some(Embedded::Document(json)) => text = json,
                Some(Embedded::Link(fragment)) => return self.open_snapshot(&name, &fragment),
                None => {}
            }
            match Measured::from_json(&text) {
                // Reading takes a while, in which a run may have been started.
                Ok(_) if self.is_running() => {
                    self.notice(format!("{name} was not opened, because a run was started meanwhile."));
                }
                Ok(measured) => {
                    if self.gives_up_unsaved(&name) {
                        self.show(measured);
                    }
                }
                Err(_) if self.tab.get_untracked() == Tab::Explain => self.captured.set(text),
                // Another tool's result is no run of this page, but it can be compared.
                Err(_) if import::read(&name, &text).is_ok() => {
                    bridge::to_frame(&ToFrame::Tab(Tab::Compare));
                    self.compare_file(&name, &text);
                }
                Err(error) => self.notice(format!("{name}: {error}")),
            }
        });
    }

    /// Puts the runs of a file among those that are compared.
    fn compare_file(self, name: &str, text: &str) {
        match import::read(name, text) {
            Ok(subjects) => subjects.into_iter().for_each(|subject| self.compared.add(subject)),
            Err(error) => self.notice(format!("{name}: {error}")),
        }
    }

    /// Puts a result among the runs that are compared, and shows them.
    pub fn compare(self, document: &Document) {
        self.compared.add(Subject::of(&name_of(document), document));
        bridge::to_frame(&ToFrame::Tab(Tab::Compare));
    }

    /// Puts the runs of a result among those that are compared, under a name, and shows them.
    pub fn compare_as(self, name: &str, measured: &Measured) {
        for subject in Subject::of_measured(name, measured) {
            self.compared.add(subject);
        }
        bridge::to_frame(&ToFrame::Tab(Tab::Compare));
    }

    /// Shows the snapshot that a report carries in place of the whole result.
    fn open_snapshot(self, name: &str, fragment: &str) {
        match link::open(fragment) {
            Ok(_) if self.is_running() => {
                self.notice(format!("{name} was not opened, because a run was started meanwhile."));
            }
            Ok(snapshot) => {
                bridge::to_frame(&ToFrame::Tab(Tab::Run));
                self.stage.set(Stage::Linked(Arc::new(snapshot)));
            }
            Err(_) => self.notice(format!(
                "{name} is a report, but the result in it is damaged. Ask for it again."
            )),
        }
    }

    /// Whether a file may take the place of the last run's result; asks if that one is nowhere but here.
    pub fn gives_up_unsaved(self, other: &str) -> bool {
        let question = format!(
            "The result of your last run is not saved. Open {other} in its place? The unsaved result is then gone."
        );
        let may = !self.unsaved.get_untracked() || browser::confirm(&question);
        if may {
            self.unsaved.set(false);
        }
        may
    }

    /// Runs what a result was asked for once more.
    pub fn run_again(self, config: &RunConfig) {
        self.back();
        bridge::to_frame(&ToFrame::Again(Box::new(config.clone())));
    }

    /// Takes a result's configuration into the form.
    pub fn take_config(self, config: &RunConfig) {
        bridge::to_frame(&ToFrame::Config(Box::new(config.clone())));
    }
}
