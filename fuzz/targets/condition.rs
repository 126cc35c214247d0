//! Conditions on the rows of a table, compared with a naive evaluation.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::condition::condition(bytes);
});
