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

use super::{Blosc1Splitting, CodecInfo, StreamCodec, format, id};

/// The decoder in Rust, which builds with the C library do not use; for tests.
#[cfg(all(feature = "internals", feature = "zstd"))]
#[derive(Default)]
pub struct RustDecoder(pure::PureZstd);

#[cfg(all(feature = "internals", feature = "zstd"))]
impl RustDecoder {
    /// Decompresses frames into `dest`; returns the length of the content.
    ///
    /// # Errors
    /// [`Error::Data`](crate::Error::Data) for damaged frames and for longer content,
    /// [`Error::CodecDict`](crate::Error::CodecDict) for an invalid dictionary,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn decode(
        &mut self,
        dict: Option<&[u8]>,
        src: &[u8],
        dest: &mut [u8],
    ) -> crate::Result<usize> {
        let dict = dict.map(pure::PureDict::new).transpose()?;
        self.0.decode_with(dict.as_ref(), src, dest)
    }
}

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
