//! Stores of python-blosc2 with hostile content.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::store::store(bytes);
});
