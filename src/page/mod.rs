//! What a person sees: setup, the live view, the result. It owns no engine logic and sees no single tokens.

mod app;
mod browser;
mod check;
mod explain;
mod inspector;
mod live;
mod parts;
mod result;
mod setup;
mod state;

/// Puts the page into the document.
pub fn start() {
    browser::install_chart_colours();
    leptos::mount::mount_to_body(app::App);
}
