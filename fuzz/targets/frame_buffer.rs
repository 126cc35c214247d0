//! Hostile frames in memory.

#![no_main]

libfuzzer_sys::fuzz_target!(|frame: &[u8]| ferroblosc_fuzz::frame::buffer(frame));
