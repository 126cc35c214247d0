//! Queries on headers, on hostile bytes.

#![no_main]

libfuzzer_sys::fuzz_target!(|chunk: &[u8]| ferroblosc_fuzz::check::header(chunk));
