//! Arbitrary bytes in arbitrary reads; see `property`.
#![no_main]

#[path = "../property.rs"]
mod property;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    property::check(input);
});
