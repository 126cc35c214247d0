//! Chunks of Blosc 1.x with hostile content.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::blosc1::chunk(bytes);
});
