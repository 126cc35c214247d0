//! Hostile frames that can be opened, under several changes.

#![no_main]

libfuzzer_sys::fuzz_target!(|frame: &[u8]| ferroblosc_fuzz::frame::changes(frame));
