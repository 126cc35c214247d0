//! Zarr arrays and groups with hostile content.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ferroblosc_fuzz::zarr::zarr(bytes);
});
