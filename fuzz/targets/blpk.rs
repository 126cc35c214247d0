//! Bloscpack containers and their JSON metadata, on hostile bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::blpk::container(bytes);
    ferroblosc_fuzz::blpk::value(bytes);
});
