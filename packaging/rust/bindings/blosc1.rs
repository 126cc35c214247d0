//! The items of `blosc.h`, with the types that `bindgen` makes from the original header.
//!
//! The including crate defines the macro `strings`.

use ferroblosc_capi_blosc1_rlib as capi;

pub use capi::cbuffer::*;
pub use capi::compress::*;
pub use capi::names::*;
pub use capi::settings::*;

strings! {
    BLOSC_VERSION_STRING = c"1.21.6";
    BLOSC_VERSION_REVISION = c"$Rev$";
    BLOSC_VERSION_DATE = c"$Date:: 2024-06-24 #$";
    BLOSC_BLOSCLZ_COMPNAME = c"blosclz";
    BLOSC_LZ4_COMPNAME = c"lz4";
    BLOSC_LZ4HC_COMPNAME = c"lz4hc";
    BLOSC_SNAPPY_COMPNAME = c"snappy";
    BLOSC_ZLIB_COMPNAME = c"zlib";
    BLOSC_ZSTD_COMPNAME = c"zstd";
    BLOSC_BLOSCLZ_LIBNAME = c"BloscLZ";
    BLOSC_LZ4_LIBNAME = c"LZ4";
    BLOSC_SNAPPY_LIBNAME = c"Snappy";
    BLOSC_ZLIB_LIBNAME = c"Zlib";
    BLOSC_ZSTD_LIBNAME = c"Zstd";
}

pub const BLOSC_VERSION_MAJOR: u32 = 1;
pub const BLOSC_VERSION_MINOR: u32 = 21;
pub const BLOSC_VERSION_RELEASE: u32 = 6;

/// Defines constants of the C interface, which are not negative, as unsigned numbers.
macro_rules! unsigned {
    ($($name:ident,)*) => {$( pub const $name: u32 = capi::constants::$name as u32; )*};
}

unsigned! {
    BLOSC_VERSION_FORMAT, BLOSC_MIN_HEADER_LENGTH, BLOSC_MAX_OVERHEAD, BLOSC_MAX_BUFFERSIZE,
    BLOSC_MAX_TYPESIZE, BLOSC_MAX_BLOCKSIZE, BLOSC_MAX_THREADS, BLOSC_NOSHUFFLE, BLOSC_SHUFFLE,
    BLOSC_BITSHUFFLE, BLOSC_DOSHUFFLE, BLOSC_MEMCPYED, BLOSC_DOBITSHUFFLE, BLOSC_BLOSCLZ,
    BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_SNAPPY, BLOSC_ZLIB, BLOSC_ZSTD, BLOSC_BLOSCLZ_LIB,
    BLOSC_LZ4_LIB, BLOSC_SNAPPY_LIB, BLOSC_ZLIB_LIB, BLOSC_ZSTD_LIB, BLOSC_BLOSCLZ_FORMAT,
    BLOSC_LZ4_FORMAT, BLOSC_LZ4HC_FORMAT, BLOSC_SNAPPY_FORMAT, BLOSC_ZLIB_FORMAT,
    BLOSC_ZSTD_FORMAT, BLOSC_BLOSCLZ_VERSION_FORMAT, BLOSC_LZ4_VERSION_FORMAT,
    BLOSC_LZ4HC_VERSION_FORMAT, BLOSC_SNAPPY_VERSION_FORMAT, BLOSC_ZLIB_VERSION_FORMAT,
    BLOSC_ZSTD_VERSION_FORMAT, BLOSC_ALWAYS_SPLIT, BLOSC_NEVER_SPLIT, BLOSC_AUTO_SPLIT,
    BLOSC_FORWARD_COMPAT_SPLIT,
}
