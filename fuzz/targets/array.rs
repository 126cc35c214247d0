//! Arrays: hostile metalayers on valid chunks, and hostile frames.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferroblosc_fuzz::array::array(input));
