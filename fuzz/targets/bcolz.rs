//! Directories of bcolz with hostile files.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::bcolz::directory(bytes);
});
