//! The NDLZ decoder, on hostile streams.

#![no_main]

libfuzzer_sys::fuzz_target!(|stream: &[u8]| ferroblosc_fuzz::plugins::ndlz(stream));
