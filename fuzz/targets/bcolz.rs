//! Directories of bcolz, with hostile files in them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::bcolz::directory(bytes);
});
