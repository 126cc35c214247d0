//! The LZ4 decoder compared with that of liblz4, on hostile blocks.

#![no_main]

libfuzzer_sys::fuzz_target!(|block: &[u8]| ferroblosc_fuzz::lz4::block(block));
