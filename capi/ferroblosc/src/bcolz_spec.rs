//! The struct of `bcolz.h`.

use std::ffi::{c_char, c_int};
use std::ptr::null;

/// The properties of a new carray or column; bcolz_spec_default() fills in the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bcolz_spec {
    /// The type of an item in NumPy's notation, such as "int64", "|S3" or "datetime64[ns]".
    pub dtype: *const c_char,
    /// The shape of a row, `ndim` items; NULL if rows are single items.
    pub row_shape: *const i64,
    /// The fill value of rows that bcolz_resize() adds, as JSON; NULL for zeros.
    pub dflt: *const c_char,
    /// The codec: "blosclz", "lz4", "lz4hc", "snappy", "zlib" or "zstd"; NULL for "lz4".
    pub cname: *const c_char,
    /// The number of rows of a chunk; 0 to derive it from `expectedlen`.
    pub chunklen: i64,
    /// The expected number of rows.
    pub expectedlen: i64,
    /// The number of dimensions of a row; 0 if rows are single items.
    pub ndim: c_int,
    /// The compression level: 0 (no compression) to 9 (smallest).
    pub clevel: c_int,
    /// The shuffle filter: 0 for none, 1 for byte shuffle, 2 for bit shuffle.
    pub shuffle: c_int,
    /// The number of decimal digits of floating-point values to keep; 0 for all.
    pub quantize: c_int,
}

impl bcolz_spec {
    /// Returns the default description for items of a type.
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
