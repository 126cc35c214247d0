//! Sequences of calls on valid and hostile super-chunks.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::program::program(bytes);
});
