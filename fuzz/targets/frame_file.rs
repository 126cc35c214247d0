//! Hostile frames in files.

#![no_main]

libfuzzer_sys::fuzz_target!(|frame: &[u8]| ferroblosc_fuzz::frame::file(frame));
