//! The Zstandard decoder in Rust, on hostile frames.

#![no_main]

libfuzzer_sys::fuzz_target!(|stream: &[u8]| ferroblosc_fuzz::zstd::stream(stream));
