//! Sparse frames with hostile index and chunk files.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::sparse::directory(bytes);
});
