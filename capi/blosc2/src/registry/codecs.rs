//! `blosc2/codecs-registry.h`.

use std::ffi::{c_char, c_int};

/// Lempel-Ziv over the cells of two-dimensional arrays.
pub const BLOSC_CODEC_NDLZ: c_int = 32;
/// ZFP with a maximum absolute error.
pub const BLOSC_CODEC_ZFP_FIXED_ACCURACY: c_int = 33;
/// ZFP with a fixed number of bit planes.
pub const BLOSC_CODEC_ZFP_FIXED_PRECISION: c_int = 34;
/// ZFP with a fixed number of bits per value.
pub const BLOSC_CODEC_ZFP_FIXED_RATE: c_int = 35;
/// High-throughput JPEG 2000 by OpenHTJ2K (a plugin library).
pub const BLOSC_CODEC_OPENHTJ2K: c_int = 36;
/// JPEG 2000 by Grok (a plugin library).
pub const BLOSC_CODEC_GROK: c_int = 37;
/// OpenZL (a plugin library).
pub const BLOSC_CODEC_OPENZL: c_int = 38;
/// JPEG 2000 (a plugin library).
pub const BLOSC_CODEC_J2K: c_int = 39;
/// High-throughput JPEG 2000 (a plugin library).
pub const BLOSC_CODEC_HTJ2K: c_int = 40;

/// The object `info` of a codec's plugin library: the names of its functions.
#[repr(C)]
pub struct codec_info {
    /// The name of the encoder.
    pub encoder: *mut c_char,
    /// The name of the decoder.
    pub decoder: *mut c_char,
}
