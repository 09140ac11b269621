//! The first half of the page: the frame and the form. It loads the second.

#[cfg(target_arch = "wasm32")]
fn main() {
    console_error_panic_hook::set_once();
    streamgauge::page::start();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("This program runs in a browser. Start it with script/server.");
    std::process::exit(2);
}
