//! The usual frame costs no allocation of its own: what grows, grows by doubling.
#![cfg(not(target_arch = "wasm32"))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use streamgauge::request::{Machine, Spec};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator as it came; counting touches only a thread-local number.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn a_thousand_frames_cost_a_few_allocations() {
    let frames: Vec<String> = (1..=1000)
        .map(|n| {
            format!(
                r#"data: {{"id":"r","object":"chat.completion.chunk","model":"m","choices":[{{"index":0,"delta":{{"reasoning_content":null,"content":" tok"}},"logprobs":null,"finish_reason":null,"matched_stop":null}}],"usage":{{"prompt_tokens":7,"total_tokens":9,"completion_tokens":{n},"prompt_tokens_details":null,"reasoning_tokens":0}}}}

"#
            )
        })
        .collect();
    let mut machine = Machine::new(Spec::default(), 0.0);
    machine.headers(200, Some("text/event-stream"), 1.0);
    let before = ALLOCATIONS.get();
    for (n, frame) in frames.iter().enumerate() {
        let _ = machine.read(frame.as_bytes(), 2.0 + n as f64);
    }
    let cost = ALLOCATIONS.get() - before;
    assert_eq!(machine.token_frames(), 1000);
    assert!(cost < 60, "{cost} allocations for 1000 frames");
}
