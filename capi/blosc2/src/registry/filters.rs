//! `blosc2/filters-registry.h`.

use std::ffi::{c_char, c_int};

/// Items of a multidimensional cell side by side.
pub const BLOSC_FILTER_NDCELL: c_int = 32;
/// Items of a multidimensional cell replaced by their mean (lossy).
pub const BLOSC_FILTER_NDMEAN: c_int = 33;
/// Differences of bytes, as the first version computed them; for reading only.
pub const BLOSC_FILTER_BYTEDELTA_BUGGY: c_int = 34;
/// Differences of the bytes of each stream of a shuffled block.
pub const BLOSC_FILTER_BYTEDELTA: c_int = 35;
/// Truncation of integers to a number of significant bits (lossy).
pub const BLOSC_FILTER_INT_TRUNC: c_int = 36;

/// What a filter plugin exports under the name `info`: the names of its functions.
#[repr(C)]
pub struct filter_info {
    /// The function that compression calls.
    pub forward: *mut c_char,
    /// The function that decompression calls.
    pub backward: *mut c_char,
}
