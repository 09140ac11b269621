//! What a person sees: setup, the live view, the result. It owns no engine logic and sees no single tokens.
//!
//! Two programs share one document, so that the first view loads little (see [`bridge`]): the frame ([`start`]) with
//! the form, and the bench ([`start_bench`]) with all that comes after it.

mod app;
mod bridge;
mod browser;
mod calibration;
mod check;
mod compare;
mod explain;
mod explain_cases;
mod frame;
mod history;
mod inspector;
mod live;
mod parts;
mod result;
mod setup;
mod shell;
mod state;
mod workload;

use wasm_bindgen::JsCast;

/// Puts the frame into the document; it loads the bench.
pub fn start() {
    leptos::mount::mount_to_body(shell::Shell);
}

/// Puts the bench into its place in the frame.
///
/// # Panics
/// If there is no frame.
pub fn start_bench() {
    browser::install_chart_colours();
    let place = web_sys::window()
        .and_then(|window| window.document()?.get_element_by_id(bridge::BENCH_ID))
        .and_then(|place| place.dyn_into::<web_sys::HtmlElement>().ok())
        .expect("the frame has a place for the bench");
    leptos::mount::mount_to(place, app::App).forget();
}
