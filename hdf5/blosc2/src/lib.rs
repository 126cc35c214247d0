//! `libH5Zblosc2.so`: HDF5 filter 32026, which stores each dataset chunk as a Blosc2 frame.

#![allow(non_snake_case, reason = "HDF5 defines the exported names, convention the file name")]

use ferroblosc_hdf5_common::blosc2::{Blosc2, automatic_blocksize};
use std::ffi::{CStr, c_int};

/// The version of C-Blosc2 whose frame format is written.
const VERSION: &CStr = c"3.3.5";
/// The release date of C-Blosc2 [`VERSION`], in C-Blosc2's notation.
const DATE: &CStr = c"$Date:: 2026-09-24 #$";

ferroblosc_hdf5_common::plugin!(Blosc2, register_blosc2, VERSION, DATE);
ferroblosc::version_note!();

/// Returns the block size in bytes that the library chooses for chunks of `chunksize` bytes with
/// items of `typesize` bytes at level `clevel`. A negative `compcode` selects BloscLZ. Programs use
/// it for the second parameter of the filter. Returns a negative number for invalid arguments.
#[unsafe(no_mangle)]
pub extern "C" fn compute_blosc2_blocksize(
    chunksize: i32,
    typesize: i32,
    clevel: c_int,
    compcode: c_int,
) -> i32 {
    automatic_blocksize(chunksize, typesize, clevel, compcode).unwrap_or_else(|error| error.code())
}
