//! `blosc2/filters-registry.h`.

use std::ffi::{c_char, c_int};

/// Groups the items of each multidimensional cell.
pub const BLOSC_FILTER_NDCELL: c_int = 32;
/// Replaces the items of each multidimensional cell by their mean (lossy).
pub const BLOSC_FILTER_NDMEAN: c_int = 33;
/// Byte differences of the first, faulty version; for reading only.
pub const BLOSC_FILTER_BYTEDELTA_BUGGY: c_int = 34;
/// Byte differences within each stream of a shuffled block.
pub const BLOSC_FILTER_BYTEDELTA: c_int = 35;
/// Truncates integers to a number of significant bits (lossy).
pub const BLOSC_FILTER_INT_TRUNC: c_int = 36;

/// The object `info` of a filter's plugin library: the names of its functions.
#[repr(C)]
pub struct filter_info {
    /// The name of the function that compression calls.
    pub forward: *mut c_char,
    /// The name of the function that decompression calls.
    pub backward: *mut c_char,
}
