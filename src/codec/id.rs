//! Compcodes: the numbers that select a codec, as in `blosc2_cparams.compcode`.

/// BloscLZ.
pub const BLOSCLZ: u8 = 0;
/// LZ4, fast encoder.
pub const LZ4: u8 = 1;
/// LZ4, high-compression encoder; decodes as LZ4.
pub const LZ4HC: u8 = 2;
/// Snappy, a codec of C-Blosc 1.x; C-Blosc2 has no name for it.
pub const SNAPPY: u8 = 3;
/// Zlib.
pub const ZLIB: u8 = 4;
/// Zstandard.
pub const ZSTD: u8 = 5;
/// The first id of globally registered codecs (plugins).
pub const FIRST_REGISTERED: u8 = 32;
/// NDLZ, for two-dimensional arrays of bytes.
pub const NDLZ: u8 = 32;
/// ZFP, fixed accuracy.
pub const ZFP_ACCURACY: u8 = 33;
/// ZFP, fixed precision.
pub const ZFP_PRECISION: u8 = 34;
/// ZFP, fixed rate.
pub const ZFP_RATE: u8 = 35;
/// High-throughput JPEG 2000 by OpenHTJ2K, a plugin.
pub const OPENHTJ2K: u8 = 36;
/// JPEG 2000 by Grok, a plugin.
pub const GROK: u8 = 37;
/// OpenZL, a plugin.
pub const OPENZL: u8 = 38;
/// JPEG 2000, a plugin.
pub const J2K: u8 = 39;
/// High-throughput JPEG 2000, a plugin.
pub const HTJ2K: u8 = 40;
/// The first id available to users.
pub const FIRST_USER: u8 = 160;
