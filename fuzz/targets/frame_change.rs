//! Frames of hostile bytes that open, and are changed by several calls.

#![no_main]

libfuzzer_sys::fuzz_target!(|frame: &[u8]| ferroblosc_fuzz::frame::changes(frame));
