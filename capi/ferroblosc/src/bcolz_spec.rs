//! The struct of `bcolz.h`.

use std::ffi::{c_char, c_int};
use std::ptr::null;

/// What a carray or a column is made with; bcolz_spec_default() gives the usual.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bcolz_spec {
    /// The type of an item, as NumPy writes it, such as "int64", "|S3" or "datetime64[ns]".
    pub dtype: *const c_char,
    /// The lengths of a row's dimensions, `ndim` of them; NULL for single items.
    pub row_shape: *const i64,
    /// What growth fills with, as JSON; NULL for zeros.
    pub dflt: *const c_char,
    /// The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd"; NULL for "lz4".
    pub cname: *const c_char,
    /// Rows of a chunk; 0 to choose by `expectedlen`.
    pub chunklen: i64,
    /// How many rows there will be, about.
    pub expectedlen: i64,
    /// Dimensions of a row, 0 for single items.
    pub ndim: c_int,
    /// 0 (store) to 9 (smallest).
    pub clevel: c_int,
    /// 0 none, 1 bytes, 2 bits.
    pub shuffle: c_int,
    /// Decimal digits that are kept of floats; 0 for all.
    pub quantize: c_int,
}

impl bcolz_spec {
    /// The usual for items of a type.
    pub(crate) fn of(dtype: *const c_char) -> bcolz_spec {
        bcolz_spec {
            dtype,
            row_shape: null(),
            dflt: null(),
            cname: null(),
            chunklen: 0,
            expectedlen: 0,
            ndim: 0,
            clevel: 5,
            shuffle: 1,
            quantize: 0,
        }
    }
}
