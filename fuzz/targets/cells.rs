//! The cell filters, on hostile metalayers.

#![no_main]

libfuzzer_sys::fuzz_target!(|metalayer: &[u8]| ferroblosc_fuzz::plugins::cells(metalayer));
