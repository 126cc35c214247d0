//! Sequences of changes of a table in a store.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::table::table(bytes);
});
