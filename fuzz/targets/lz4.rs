//! Our LZ4 decoder against liblz4's, on hostile blocks.

#![no_main]

libfuzzer_sys::fuzz_target!(|block: &[u8]| ferroblosc_fuzz::lz4::block(block));
