//! The second half of the page (live view, results and all that is done with them) and the engine's worker: one
//! WebAssembly binary, its role chosen by where it is started.

#[cfg(target_arch = "wasm32")]
fn main() {
    console_error_panic_hook::set_once();
    if js_sys::global().has_type::<web_sys::Window>() {
        streamgauge::page::start_bench();
    } else {
        streamgauge::engine::serve();
    }
}

#[cfg(target_arch = "wasm32")]
use wasm_bindgen::JsCast as _;

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("This program runs in a browser. Start it with script/server.");
    std::process::exit(2);
}
