//! `libH5Zblosc.so`: HDF5 filter 32001, which stores each dataset chunk as a Blosc 1 chunk.
//!
//! | file | content |
//! |---|---|
//! | `nczarr.rs` | the Zarr codec for netCDF-C |

#![allow(non_snake_case, reason = "HDF5 defines the exported names, convention the file name")]

mod nczarr;

use ferroblosc::blosc1;

/// The release date of C-Blosc [`blosc1::VERSION`], in C-Blosc's notation.
const DATE: &std::ffi::CStr = c"$Date:: 2024-06-24 #$";

ferroblosc_hdf5_common::plugin!(
    ferroblosc_hdf5_common::blosc::Blosc,
    register_blosc,
    blosc1::VERSION,
    DATE
);
ferroblosc::version_note!();
