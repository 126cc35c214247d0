//! Frames beside a hostile journal.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::journal::journal(bytes);
});
