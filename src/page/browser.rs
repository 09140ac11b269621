//! The few things of the browser that the page needs beside its elements. Each degrades where the browser refuses.

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, HtmlElement, Storage, Url};

use crate::{
    chart::{Theme, custom_properties},
    health::calibration::Calibration,
    load::lanes,
};

const THEME_KEY: &str = "streamgauge.theme";
const CALIBRATION_KEY: &str = "streamgauge.calibration";
const KEEPS_RUNS: &str = "streamgauge.keeps-runs";
const API_KEY: &str = "streamgauge.key";

fn document() -> Option<web_sys::Document> {
    web_sys::window()?.document()
}

/// Makes the charts' colours follow the theme.
pub fn install_chart_colours() {
    let (light, dark) = (custom_properties(Theme::Light), custom_properties(Theme::Dark));
    let css = format!(
        ":root{{{light}}}@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}:root[data-theme=dark]{{{dark}}}"
    );
    let Some(document) = document() else { return };
    if let (Ok(style), Some(head)) = (document.create_element("style"), document.head()) {
        style.set_text_content(Some(&css));
        let _ = head.append_child(&style);
    }
}

/// The query of the page's URL.
pub fn query() -> String {
    web_sys::window()
        .and_then(|window| window.location().search().ok())
        .unwrap_or_default()
}

/// The fragment of the page's URL, with its `#`.
pub fn fragment() -> String {
    web_sys::window()
        .and_then(|window| window.location().hash().ok())
        .unwrap_or_default()
}

/// Puts a fragment into the page's URL, or takes it out if empty, without scrolling anywhere.
pub fn set_fragment(fragment: &str) {
    replace_url(&query(), fragment);
}

/// Puts a query into the page's URL without loading anything; the fragment stays.
pub fn set_query(query: &str) {
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{query}")
    };
    replace_url(&query, &fragment());
}

fn replace_url(query: &str, fragment: &str) {
    let Some(window) = web_sys::window() else { return };
    let path = window.location().pathname().unwrap_or_default();
    if let Ok(history) = window.history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("{path}{query}{fragment}")));
    }
}

/// Brings an element into sight and moves the focus to it. What is folded away around it is unfolded.
pub fn go_to(id: &str) {
    let Some(element) = document().and_then(|document| document.get_element_by_id(id)) else {
        return;
    };
    if let Ok(Some(folded)) = element.closest("details") {
        let _ = folded.set_attribute("open", "");
    }
    element.scroll_into_view();
    if let Ok(element) = element.dyn_into::<HtmlElement>() {
        let _ = element.focus();
    }
}

/// Goes to the top of the page, where another view has come in, and moves the focus there.
pub fn go_to_top() {
    let main = document().and_then(|document| document.get_element_by_id("main"));
    if let Some(main) = main.and_then(|main| main.dyn_into::<HtmlElement>().ok()) {
        let _ = main.focus();
    }
    if let Some(window) = web_sys::window() {
        window.scroll_to_with_x_and_y(0.0, 0.0);
    }
}

/// The page's URL without query and fragment: what a link to it begins with.
pub fn page_url() -> String {
    let href = web_sys::window()
        .and_then(|window| window.location().href().ok())
        .unwrap_or_default();
    href.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// The page's origin.
pub fn origin() -> String {
    web_sys::window()
        .and_then(|window| window.location().origin().ok())
        .unwrap_or_default()
}

/// Whether the page comes from this machine.
pub fn is_local() -> bool {
    lanes::is_loopback(&origin())
}

/// Asks a question with yes and no.
pub fn confirm(question: &str) -> bool {
    web_sys::window().is_some_and(|window| window.confirm_with_message(question).unwrap_or(false))
}

fn local() -> Option<Storage> {
    web_sys::window()?.local_storage().ok()?
}

fn session() -> Option<Storage> {
    web_sys::window()?.session_storage().ok()?
}

/// What the last calibration of this browser came to.
pub fn stored_calibration() -> Option<Calibration> {
    serde_json::from_str(&local()?.get_item(CALIBRATION_KEY).ok()??).ok()
}

/// Keeps what a calibration came to.
pub fn keep_calibration(calibration: &Calibration) {
    if let (Some(storage), Ok(text)) = (local(), serde_json::to_string(calibration)) {
        // A full or forbidden storage keeps nothing: the figures are on the page all the same.
        let _ = storage.set_item(CALIBRATION_KEY, &text);
    }
}

/// Whether runs are to be kept in this browser: yes, unless that was declined.
pub fn keeps_runs() -> bool {
    local()
        .and_then(|storage| storage.get_item(KEEPS_RUNS).ok()?)
        .as_deref()
        != Some("no")
}

/// Remembers whether runs are to be kept.
pub fn set_keeps_runs(keeps: bool) {
    if let Some(storage) = local() {
        let _ = match keeps {
            true => storage.remove_item(KEEPS_RUNS),
            false => storage.set_item(KEEPS_RUNS, "no"),
        };
    }
}

/// The theme chosen before; empty for the system's.
pub fn stored_theme() -> String {
    local()
        .and_then(|storage| storage.get_item(THEME_KEY).ok()?)
        .unwrap_or_default()
}

/// Applies and keeps a theme; empty for the system's.
pub fn set_theme(theme: &str) {
    if let Some(root) = document().and_then(|document| document.document_element()) {
        let _ = if theme.is_empty() {
            root.remove_attribute("data-theme")
        } else {
            root.set_attribute("data-theme", theme)
        };
    }
    if let Some(storage) = local() {
        let _ = if theme.is_empty() {
            storage.remove_item(THEME_KEY)
        } else {
            storage.set_item(THEME_KEY, theme)
        };
    }
}

/// The key kept for this tab, if it is that of this server: a link must not send it to another.
pub fn stored_key(server: &str) -> Option<String> {
    let kept = session()?.get_item(API_KEY).ok()??;
    let (of, key) = kept.split_once('\n')?;
    (of == server).then(|| key.to_owned())
}

/// Keeps a server's key for this tab, or forgets what was kept.
pub fn keep_key(server: &str, key: Option<&str>) {
    if let Some(storage) = session() {
        let _ = match key {
            Some(key) => storage.set_item(API_KEY, &format!("{server}\n{key}")),
            None => storage.remove_item(API_KEY),
        };
    }
}

/// Width of the window, CSS px.
pub fn window_width() -> f64 {
    window_size().0
}

/// Width and height of the window, CSS px.
pub fn window_size() -> (f64, f64) {
    let size = web_sys::window().and_then(|window| {
        Some((
            window.inner_width().ok()?.as_f64()?,
            window.inner_height().ok()?.as_f64()?,
        ))
    });
    size.unwrap_or((1280.0, 800.0))
}

/// Saves text as a file.
///
/// # Errors
/// The browser's refusal.
pub fn save_file(name: &str, mime: &str, text: &str) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type(mime);
    save_blob(
        name,
        &Blob::new_with_str_sequence_and_options(&Array::of1(&text.into()), &options)?,
    )
}

/// Saves bytes as a file.
///
/// # Errors
/// The browser's refusal.
pub fn save_blob(name: &str, blob: &Blob) -> Result<(), JsValue> {
    let url = Url::create_object_url_with_blob(blob)?;
    let document = document().ok_or(JsValue::NULL)?;
    let link: HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
    link.set_href(&url);
    link.set_download(name);
    link.click();
    // The browser has taken the blob by the next turn of its loop.
    gloo_timers::callback::Timeout::new(10_000, move || _ = Url::revoke_object_url(&url)).forget();
    Ok(())
}

/// Puts text on the clipboard; `false` where the browser does not allow it.
pub async fn copy(text: &str) -> bool {
    let Some(window) = web_sys::window() else { return false };
    wasm_bindgen_futures::JsFuture::from(window.navigator().clipboard().write_text(text))
        .await
        .is_ok()
}

/// Date and time of a moment, in the person's own way.
pub fn date_and_time(unix_ms: f64) -> String {
    String::from(js_sys::Date::new(&unix_ms.into()).to_locale_string("default", &JsValue::UNDEFINED))
}

/// Date and time as part of a file's name: `20261201-142305`.
pub fn stamp(unix_ms: f64) -> String {
    let iso = String::from(js_sys::Date::new(&unix_ms.into()).to_iso_string());
    let digits: String = iso
        .chars()
        .take(19)
        .filter(|c| c.is_ascii_digit() || *c == 'T')
        .collect();
    digits.replace('T', "-")
}
