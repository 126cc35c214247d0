//! Zstandard: whole frames (RFC 8878).
//!
//! The C library encodes and decodes them. Builds without it have a decoder in Rust, and cannot
//! encode.

#[cfg(feature = "zstd")]
mod libzstd;
#[cfg(any(not(feature = "zstd"), feature = "internals", test))]
mod pure;
#[cfg(all(test, feature = "zstd"))]
mod tests;

#[cfg(feature = "zstd")]
pub(super) use libzstd::INFO;
#[cfg(not(feature = "zstd"))]
pub(super) use pure::INFO;
#[cfg(all(feature = "internals", feature = "zstd"))]
pub use pure::RustDecoder;

use super::{Blosc1Splitting, CodecInfo, StreamCodec, format, id};

/// Returns the row of the codec without dictionaries.
const fn row(make: fn() -> Box<dyn StreamCodec>) -> CodecInfo {
    CodecInfo {
        title: "Zstd",
        library: c"Zstd",
        library_version: c"1.5.7",
        blosc1_library_version: c"1.5.7",
        max_split_level: Some(5),
        blosc1_splitting: Blosc1Splitting::OnRequest,
        has_large_blocks: true,
        ..CodecInfo::built_in(id::ZSTD, c"zstd", format::ZSTD, make)
    }
}
