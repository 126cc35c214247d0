//! The HDF5 filters on hostile chunks and parameters.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ferroblosc_fuzz::hdf5::chunk(input));
