//! Random access to items of chunks, on hostile bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|chunk: &[u8]| ferroblosc_fuzz::check::getitem(chunk));
