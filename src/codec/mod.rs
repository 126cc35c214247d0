//! Floor 1: codecs. What happens to one byte stream between "filtered bytes" and "bytes in a chunk".
//!
//! A codec has up to three numbers. Its *compcode* ([`id`]) is what users choose by; its *format*
//! ([`mod@format`]) is the 3-bit number a chunk's flags carry, and tells a reader which decoder to use (LZ4
//! and LZ4HC share one); its *version* byte stands beside it in the chunk.
//!
//! What users add is chosen by a number of theirs, from [`FIRST_USER_ID`] on:
//!
//! ```
//! use ferroblosc::Result;
//! use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
//! use ferroblosc::codec::{self, Codec, CodecCall};
//!
//! /// Knows one thing: bytes that count up.
//! struct Counting;
//!
//! impl Codec for Counting {
//!     fn encode(&self, _: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
//!         let counts = src.windows(2).all(|pair| pair[1] == pair[0].wrapping_add(1));
//!         dest[0] = src[0];
//!         Ok(usize::from(counts))
//!     }
//!
//!     fn decode(&self, _: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
//!         for (byte, step) in dest.iter_mut().zip((0..=255).cycle()) {
//!             *byte = src[0].wrapping_add(step);
//!         }
//!         Ok(dest.len())
//!     }
//! }
//!
//! codec::register(200, c"counting", 200, 1, Some(std::sync::Arc::new(Counting)))?;
//! let data: Vec<u8> = (0..=255).cycle().take(100_000).collect();
//! let chunk = Compressor::new(CParams::default().codec(200).typesize(1))?.compress_to_vec(&data)?;
//! assert!(chunk.len() < 200);
//! let mut back = vec![0; data.len()];
//! Decompressor::new(DParams::default()).decompress(&chunk, &mut back)?;
//! assert_eq!(back, data);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! | file | what |
//! |---|---|
//! | `builtin.rs` | the table of the built-in codecs: one line each |
//! | `blosclz/`, `lz4/`, `zlib/`, `zstd/`, `snappy/` | the codecs, each behind `StreamCodec` |
//! | `ndlz/`, `zfp/` | the plugins that are part of the library, each behind [`Codec`] |
//! | `dictionary.rs` | [`Dictionary`]: a chunk's dictionary, prepared once and shared by workers |
//! | `registry.rs` | the plugins, what users register, and how code is found for a name |
//! | `names.rs` | names, numbers and versions of all of them |
//! | `workspace.rs` | [`Workspace`]: one worker's codec states, kept between calls |
//! | `noise/` | finds what Zlib and Zstd needn't search for matches |
//! | `wild.rs` | the copies all LZ decoders are made of |
//!
//! A built-in codec is one file or folder and one line in the table; nothing else changes.

mod blosclz;
mod builtin;
mod dictionary;
mod lz4;
mod names;
mod ndlz;
mod noise;
mod registry;
mod snappy;
#[cfg(test)]
mod tests;
mod wild;
mod workspace;
mod zfp;
mod zlib;
mod zstd;

pub use dictionary::Dictionary;
pub use names::{
    BUILTIN_NAMES, LibraryInfo, compcode_to_compname, compname_to_compcode, library_info,
    wire_format, wire_version,
};
pub use registry::{
    Codec, CodecCall, FIRST_USER_ID, Implementation, Loader, RegisteredCodec, implementation,
    register, registered, reset_user_registrations, set_loader,
};
pub(crate) use wild::SLACK;
pub use workspace::Workspace;
pub(crate) use zlib::stream as zlib_stream;

use crate::Result;

/// Whether streams of a format can be decoded in chunks of a version, other than those of registered codecs.
pub(crate) fn has_format(format: u8, chunk_version: u8) -> bool {
    let is_readable =
        format != format::SNAPPY || chunk_version <= crate::chunk::header::VERSION_BLOSC1;
    is_readable && builtin::by_format(format).is_some()
}

/// Compcodes: the numbers by which users choose a codec, as in `blosc2_cparams.compcode`.
pub mod id {
    /// BloscLZ.
    pub const BLOSCLZ: u8 = 0;
    /// LZ4, fast encoder.
    pub const LZ4: u8 = 1;
    /// LZ4, high-compression encoder; decodes as LZ4.
    pub const LZ4HC: u8 = 2;
    /// Snappy: a codec of C-Blosc 1.x, unknown by name to C-Blosc2.
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
}

/// Format numbers: bits 5–7 of a chunk's flags, which tell a reader how streams are coded.
pub mod format {
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
    /// A registered codec, whose compcode stands in the extended header.
    pub const USER: u8 = 6;
}

/// What stands together in a stream.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Shuffled {
    /// Items.
    #[default]
    No,
    /// Their bytes of the same significance.
    Bytes,
    /// Their bits of the same significance.
    Bits,
}

/// What a stream of a chunk of Blosc 1.x is.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Blosc1Stream {
    /// One of the streams that a block is split into.
    pub split: bool,
    /// What stands together.
    pub shuffled: Shuffled,
}

/// A built-in codec: turns one stream into another. Implementors keep whatever state makes the next
/// call cheap; results never depend on earlier calls.
trait StreamCodec: Send {
    /// Compresses `src` into `dest` and returns the length of the result; 0 if the codec gave up or the
    /// result doesn't fit. `level` is the chunk's compression level, 0 to 9. A codec without
    /// dictionaries ignores `dict`.
    fn encode(
        &mut self,
        level: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize>;

    /// As [`StreamCodec::encode`] without a dictionary, for a stream of which is known how it is shuffled.
    fn encode_shuffled(
        &mut self,
        level: u8,
        _shuffled: Shuffled,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encode(level, None, src, dest)
    }

    /// As [`StreamCodec::encode`], for a chunk of Blosc 1.x: as its codec would, where that differs.
    fn encode_blosc1(
        &mut self,
        level: u8,
        _kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encode(level, None, src, dest)
    }

    /// Decompresses `src` into the first `len` bytes of `dest` and returns how many of them were produced, which is less
    /// than `len` for a stream that ends early. The bytes behind may get any values. Any `src` is safe to pass.
    ///
    /// # Errors
    /// [`Error::Data`](crate::Error::Data) if `src` is no valid stream, or one longer than `len`.
    fn decode(
        &mut self,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize>;
}
