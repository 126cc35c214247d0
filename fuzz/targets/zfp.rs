//! The ZFP decoders, on hostile streams.

#![no_main]

libfuzzer_sys::fuzz_target!(|stream: &[u8]| ferroblosc_fuzz::plugins::zfp(stream));
