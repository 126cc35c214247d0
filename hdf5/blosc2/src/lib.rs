//! `libH5Zblosc2.so`: filter 32026 of HDF5, each chunk of a dataset a frame of Blosc2.
//!
//! | file | what |
//! |---|---|
//! | `filter.rs` | the filter, and its parameters |
//! | `encode.rs`, `decode.rs` | from a chunk to a frame and back |
//! | `blockshape.rs` | how chunks of several dimensions are cut |

#![allow(
    non_snake_case,
    reason = "HDF5 chose the names that a plugin exports, and custom that of its file"
)]

mod blockshape;
mod decode;
mod encode;
mod filter;

use std::ffi::{CStr, c_int};

/// The version of C-Blosc2 whose frames are written.
const VERSION: &CStr = c"3.3.5";
/// When that version came out, as it tells itself.
const DATE: &CStr = c"$Date:: 2026-09-24 #$";

ferroblosc_hdf5_common::plugin!(filter::Blosc2, register_blosc2, VERSION, DATE);
ferroblosc::version_note!();

/// The block size in bytes that the library chooses for chunks of `chunksize` bytes, items of `typesize`
/// bytes, at level `clevel`; a negative `compcode` stands for BloscLZ. What programs put into the second
/// parameter of the filter. Gives a negative number when there can be no such chunk.
#[unsafe(no_mangle)]
pub extern "C" fn compute_blosc2_blocksize(
    chunksize: i32,
    typesize: i32,
    clevel: c_int,
    compcode: c_int,
) -> i32 {
    blockshape::automatic_blocksize(chunksize, typesize, clevel, compcode)
        .unwrap_or_else(|error| error.code())
}
