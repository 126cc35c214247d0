//! The zlib decoder compared with that of zlib-rs, on hostile blocks.

#![no_main]

libfuzzer_sys::fuzz_target!(|blocks: &[u8]| ferroblosc_fuzz::zlib::blocks(blocks));
