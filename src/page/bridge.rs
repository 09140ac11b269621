//! What the two halves of the page say to each other.
//!
//! The page is two WebAssembly programs in one document. The *frame* (header, form) is small and all that the first view
//! loads; the *bench* (engine, live view, results) is loaded right after it. Neither sees the other's memory: they send
//! each other events through the window.

use js_sys::Function;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use wasm_bindgen::{JsCast, JsValue, prelude::Closure};
use web_sys::{CustomEvent, CustomEventInit, File};

use crate::{
    config::{RunConfig, workload::FileName},
    workload::file,
};

/// The mark of this build; both halves must have the same.
pub const BUILD: &str = env!("STREAMGAUGE_BUILD");

/// Id of the element that the bench fills.
pub const BENCH_ID: &str = "bench";

/// Which part of the page is in sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tab {
    /// Setup, live view and result.
    #[default]
    Run,
    /// Runs beside each other.
    Compare,
    /// The runs that this browser keeps.
    History,
    /// A captured response, explained.
    Explain,
    /// What this browser adds, measured.
    Calibrate,
}

impl Tab {
    /// All of them, in the order of the header.
    pub const ALL: [Self; 5] = [Self::Run, Self::Compare, Self::History, Self::Explain, Self::Calibrate];

    /// Its name in the header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "Run",
            Self::Compare => "Compare",
            Self::History => "History",
            Self::Explain => "Explain",
            Self::Calibrate => "Calibrate",
        }
    }

    /// The fragment that opens it.
    pub fn fragment(self) -> &'static str {
        match self {
            Self::Run => "#run",
            Self::Compare => "#compare",
            Self::History => "#history",
            Self::Explain => "#explain",
            Self::Calibrate => "#calibrate",
        }
    }

    /// The one that a fragment opens; [`Tab::Run`] for all that names none.
    pub fn of(fragment: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|tab| tab.fragment() == fragment)
            .unwrap_or_default()
    }
}

/// What [`Tab::Run`] shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scene {
    /// The form.
    #[default]
    Setup,
    /// A run goes on.
    Running,
    /// A result.
    Result,
}

/// What the frame tells the bench.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToBench {
    /// Begin a run. It stays inside the page: one of the two places where a key is serialised.
    Start {
        /// What was asked.
        config: Box<RunConfig>,
        /// The API key.
        key: Option<String>,
    },
    /// Another part of the page is in sight.
    Tab(Tab),
    /// Show the last result again.
    ShowLast,
    /// Show a result that this browser keeps, by its key.
    ShowKept(String),
}

/// How far a file is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Its name.
    pub name: String,
    /// Share that is read.
    pub share: f64,
    /// Prompts found so far.
    pub items: u64,
}

/// Something to tell a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// In a sentence or two.
    pub words: String,
    /// The kept result that it is about, to be shown.
    pub kept: Option<String>,
}

impl<W: Into<String>> From<W> for Notice {
    fn from(words: W) -> Self {
        Self {
            words: words.into(),
            kept: None,
        }
    }
}

/// What the bench tells the frame.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToFrame {
    /// It listens.
    Ready {
        /// Its [`BUILD`].
        build: String,
    },
    /// What [`Tab::Run`] shows now.
    Scene {
        /// That.
        scene: Scene,
        /// Whether there is a result to come back to.
        has_last: bool,
    },
    /// Bring a part of the page into sight.
    Tab(Tab),
    /// Something to tell.
    Notice(Notice),
    /// Take a result's configuration into the form.
    Config(Box<RunConfig>),
    /// Take it into the form, and run it.
    Again(Box<RunConfig>),
    /// How far a file of prompts is read.
    Reading(Option<Reading>),
    /// A file of prompts is read; the bench keeps its sample.
    Prompts {
        /// The file.
        file: FileName,
        /// What it came to.
        summary: Box<file::Summary>,
    },
}

const TO_BENCH: &str = "streamgauge-to-bench";
const TO_FRAME: &str = "streamgauge-to-frame";

/// A message to the bench, as it travels: JSON, or a file that the person gave.
pub type Parcel = JsValue;

impl From<&ToBench> for Parcel {
    fn from(message: &ToBench) -> Self {
        pack(message)
    }
}

/// Hands a parcel to the bench.
pub fn to_bench(parcel: &Parcel) {
    dispatch(TO_BENCH, parcel);
}

/// Tells the frame something.
pub fn to_frame(message: &ToFrame) {
    dispatch(TO_FRAME, &pack(message));
}

/// Listens in the frame, for as long as the page lives.
pub fn on_frame(mut act: impl FnMut(ToFrame) + 'static) {
    listen(TO_FRAME, move |parcel| {
        act(unpack(&parcel).expect("both halves are of one build"))
    });
}

/// Listens in the bench, for as long as the page lives.
pub fn on_bench(mut act: impl FnMut(ToBench) + 'static, mut open: impl FnMut(File) + 'static) {
    listen(TO_BENCH, move |parcel| match parcel.dyn_into::<File>() {
        Ok(file) => open(file),
        Err(parcel) => act(unpack(&parcel).expect("both halves are of one build")),
    });
}

fn pack(message: &impl Serialize) -> Parcel {
    serde_json::to_string(message).expect("plain data").into()
}

fn unpack<T: DeserializeOwned>(parcel: &Parcel) -> Option<T> {
    serde_json::from_str(&parcel.as_string()?).ok()
}

fn dispatch(name: &str, parcel: &Parcel) {
    let init = CustomEventInit::new();
    init.set_detail(parcel);
    if let (Some(window), Ok(event)) = (web_sys::window(), CustomEvent::new_with_event_init_dict(name, &init)) {
        let _ = window.dispatch_event(&event);
    }
}

fn listen(name: &str, mut act: impl FnMut(JsValue) + 'static) {
    let listener = Closure::<dyn FnMut(CustomEvent)>::new(move |event: CustomEvent| act(event.detail()));
    let function: Function = listener.into_js_value().unchecked_into();
    if let Some(window) = web_sys::window() {
        let _ = window.add_event_listener_with_callback(name, &function);
    }
}

/// Loads the bench and starts it. `failed` is called if the browser cannot.
///
/// Its file names carry no hash, so the build's mark stands in the URL: a cache cannot give an older one.
pub fn load_bench(failed: impl FnMut() + 'static) {
    let script = format!(
        "import init from './bench.js?{BUILD}'; await init({{ module_or_path: new URL('./bench_bg.wasm?{BUILD}', document.baseURI) }});"
    );
    let Some(document) = web_sys::window().and_then(|window| window.document()) else {
        return;
    };
    let (Ok(element), Some(head)) = (document.create_element("script"), document.head()) else {
        return;
    };
    let _ = element.set_attribute("type", "module");
    element.set_text_content(Some(&script));
    let failed = Closure::<dyn FnMut()>::new(failed).into_js_value();
    let _ = element.add_event_listener_with_callback("error", failed.unchecked_ref());
    let _ = head.append_child(&element);
}
