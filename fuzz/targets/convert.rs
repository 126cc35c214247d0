//! Files of hostile bytes of any format, and their repair.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::convert::file(bytes);
});
