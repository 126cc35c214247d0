//! Format numbers: bits 5–7 of a chunk's flags, which select the decoder.

/// BloscLZ.
pub const BLOSCLZ: u8 = 0;
/// The LZ4 block format, written by LZ4 and LZ4HC.
pub const LZ4: u8 = 1;
/// The Snappy block format, in chunks of C-Blosc 1.x.
pub const SNAPPY: u8 = 2;
/// A zlib stream (RFC 1950).
pub const ZLIB: u8 = 3;
/// Zstandard frames (RFC 8878).
pub const ZSTD: u8 = 4;
/// A registered codec; the extended header stores its compcode.
pub const USER: u8 = 6;
