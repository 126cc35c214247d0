//! Codecs: compression of the byte streams of a chunk, after its filters.
//!
//! A codec has up to three numbers. Users select it by its *compcode* ([`id`]). Chunk flags store
//! its 3-bit *format* ([`mod@format`]), which selects the decoder; LZ4 and LZ4HC share a format.
//! The chunk also stores its *version* byte.
//!
//! Users register their own codecs under ids from [`id::FIRST_USER`]:
//! ```
//! use ferroblosc::Result;
//! use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
//! use ferroblosc::codec::{self, Codec, CodecCall};
//!
//! /// Encodes only bytes that count up.
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
//! codec::register(200, "counting", Counting)?;
//! let data: Vec<u8> = (0..=255).cycle().take(100_000).collect();
//! let chunk = Compressor::new(CParams::default().codec(200).typesize(1))?.compress_to_vec(&data)?;
//! assert!(chunk.len() < 200);
//! assert_eq!(Decompressor::new(DParams::default()).decompress_to_vec(&chunk)?, data);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//! A codec is one module and one row of `TABLE`.

mod blosclz;
mod dictionary;
pub mod format;
pub mod id;
mod incompressible;
mod info;
mod interface;
mod lookup;
mod lz4;
mod names;
#[cfg(feature = "plugins")]
mod ndlz;
mod prepare;
mod registry;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(all(test, feature = "default"))]
mod tests;
mod wildcopy;
mod workspace;
#[cfg(feature = "zfp")]
mod zfp;
#[cfg(feature = "pure-zlib")]
mod zlib;
#[cfg(any(feature = "zstd", feature = "pure-zstd"))]
mod zstd;

pub(crate) use info::Blosc1Splitting;
pub use info::CodecInfo;
pub use interface::{Codec, CodecCall};
use interface::{StreamCodec, get_or_try_make};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use internals::*;
#[cfg(not(feature = "internals"))]
pub(crate) use internals::*;
pub use lookup::{all, info, info_of_format, is_built_in};
pub(crate) use names::{BLOSC1_NAMES, blosc1_compcode, built_in};
pub use names::{LibraryInfo, compcode_to_compname, compname_to_compcode, library_info};
pub(crate) use names::{wire_format, wire_version};
pub(crate) use registry::missing_plugin;
pub use registry::{can_encode, register};
pub(crate) use wildcopy::SLOP;
#[cfg(all(feature = "internals", feature = "zlib"))]
#[doc(hidden)]
pub use zlib::stream as zlib_stream;
#[cfg(all(feature = "internals", feature = "zstd"))]
#[doc(hidden)]
pub use zstd::RustDecoder as ZstdRustDecoder;

/// What the C libraries and tests use in addition.
mod internals {
    pub use super::dictionary::Dictionary;
    pub use super::interface::{Blosc1Stream, Shuffled};
    pub use super::names::BUILTIN_NAMES;
    pub use super::registry::{
        Implementation, Loader, RegisteredCodec, implementation, register_entry, registered,
        reset_user_registrations, set_loader,
    };
    pub use super::workspace::Workspace;
}

/// The codecs that this build knows, in the order of their compcodes.
const TABLE: &[CodecInfo] = &[
    blosclz::INFO,
    lz4::INFO,
    #[cfg(feature = "lz4")]
    lz4::INFO_HC,
    #[cfg(feature = "snappy")]
    snappy::INFO,
    #[cfg(feature = "pure-zlib")]
    zlib::INFO,
    #[cfg(any(feature = "zstd", feature = "pure-zstd"))]
    zstd::INFO,
    #[cfg(feature = "plugins")]
    ndlz::INFO,
    #[cfg(feature = "zfp")]
    zfp::INFO_ACCURACY,
    #[cfg(feature = "zfp")]
    zfp::INFO_PRECISION,
    #[cfg(feature = "zfp")]
    zfp::INFO_RATE,
    CodecInfo::external(id::OPENHTJ2K, c"openhtj2k"),
    CodecInfo::external(id::GROK, c"grok"),
    CodecInfo::external(id::OPENZL, c"openzl"),
    CodecInfo::external(id::J2K, c"j2k"),
    CodecInfo::external(id::HTJ2K, c"htj2k"),
];
