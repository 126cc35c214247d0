//! `libH5Zblosc.so`: filter 32001 of HDF5, each chunk of a dataset one chunk of Blosc 1.
//!
//! | file | what |
//! |---|---|
//! | `filter.rs` | the filter: parameters, compression, decompression |
//! | `nczarr.rs` | the same as a codec of Zarr, for netCDF-C |

#![allow(
    non_snake_case,
    reason = "HDF5 chose the names that a plugin exports, and custom that of its file"
)]

mod filter;
mod nczarr;

use ferroblosc::blosc1;

/// When that version of C-Blosc came out, as it tells itself.
const DATE: &std::ffi::CStr = c"$Date:: 2024-06-24 #$";

ferroblosc_hdf5_common::plugin!(filter::Blosc, register_blosc, blosc1::VERSION, DATE);
ferroblosc::version_note!();
