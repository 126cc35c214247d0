//! Codecs: compression of the byte streams of a chunk, after its filters.
//!
//! A codec has up to three numbers. Users select it by its *compcode* ([`id`]). Chunk flags store
//! its 3-bit *format* ([`mod@format`]), which selects the decoder; LZ4 and LZ4HC share a format.
//! The chunk also stores its *version* byte.
//!
//! Users register their own codecs under ids from [`FIRST_USER_ID`]:
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
//! codec::register(200, c"counting", 200, 1, Some(std::sync::Arc::new(Counting)))?;
//! let data: Vec<u8> = (0..=255).cycle().take(100_000).collect();
//! let chunk = Compressor::new(CParams::default().codec(200).typesize(1))?.compress_to_vec(&data)?;
//! assert!(chunk.len() < 200);
//! let mut back = vec![0; data.len()];
//! Decompressor::new(DParams::default()).decompress(&chunk, &mut back)?;
//! assert_eq!(back, data);
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//! A codec is one module and one row of `TABLE`.

mod blosclz;
mod dictionary;
pub mod format;
pub mod id;
mod incompressible;
mod info;
mod lz4;
mod names;
mod ndlz;
mod registry;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(all(test, feature = "default"))]
mod tests;
mod wildcopy;
mod workspace;
#[cfg(feature = "zfp")]
mod zfp;
#[cfg(feature = "zlib")]
mod zlib;
#[cfg(feature = "zstd")]
mod zstd;

pub use dictionary::Dictionary;
pub use info::{Blosc1Splitting, CodecInfo, all, info, info_of_format, is_built_in};
pub(crate) use names::{BLOSC1_NAMES, blosc1_compcode, built_in};
pub use names::{
    BUILTIN_NAMES, LibraryInfo, compcode_to_compname, compname_to_compcode, library_info,
    wire_format, wire_version,
};
pub(crate) use registry::missing_plugin;
pub use registry::{
    Codec, CodecCall, FIRST_USER_ID, Implementation, Loader, RegisteredCodec, implementation,
    register, registered, reset_user_registrations, set_loader,
};
pub(crate) use wildcopy::SLOP;
pub use workspace::Workspace;
#[cfg(all(feature = "internals", feature = "zlib"))]
#[doc(hidden)]
pub use zlib::stream as zlib_stream;

use crate::Result;

/// The codecs that this build knows, in the order of their compcodes.
const TABLE: &[CodecInfo] = &[
    blosclz::INFO,
    lz4::INFO,
    #[cfg(feature = "lz4")]
    lz4::INFO_HC,
    #[cfg(feature = "snappy")]
    snappy::INFO,
    #[cfg(feature = "zlib")]
    zlib::INFO,
    #[cfg(feature = "zstd")]
    zstd::INFO,
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

/// Whether this process can compress with the codec. Loads plugin libraries as needed.
pub fn can_encode(compcode: u8) -> bool {
    match info(compcode) {
        Some(codec) if codec.is_built_in() => codec.can_encode,
        _ => implementation(compcode).is_ok(),
    }
}

/// The shuffle filter applied to a stream.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Shuffled {
    /// Not shuffled: whole items are contiguous.
    #[default]
    No,
    /// Byte shuffle: bytes of equal significance are contiguous.
    Bytes,
    /// Bit shuffle: bits of equal significance are contiguous.
    Bits,
}

/// Properties of a stream in a Blosc 1.x chunk.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Blosc1Stream {
    /// Whether the block is split into several streams.
    pub split: bool,
    /// The shuffle filter applied to the block.
    pub shuffled: Shuffled,
}

/// Returns the value in `slot`, made by `make` if there is none.
fn get_or_try_make<T>(slot: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    Ok(match slot {
        Some(value) => value,
        empty => empty.insert(make()?),
    })
}

/// A built-in codec. Implementors keep state to make later calls cheaper; results never depend on
/// earlier calls.
trait StreamCodec: Send {
    /// Compresses `src` into `dest` and returns the compressed length, or 0 if `src` does not
    /// compress well enough or the result does not fit. `level` is the chunk's compression level,
    /// `0..=9`. Codecs without dictionaries ignore `dict`.
    fn encode(
        &mut self,
        level: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize>;

    /// Compresses a stream with a known shuffle like [`StreamCodec::encode`] without a dictionary.
    fn encode_shuffled(
        &mut self,
        level: u8,
        _shuffled: Shuffled,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encode(level, None, src, dest)
    }

    /// Compresses a stream of a Blosc 1.x chunk like [`StreamCodec::encode`], possibly with other
    /// parameters.
    fn encode_blosc1(
        &mut self,
        level: u8,
        _kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encode(level, None, src, dest)
    }

    /// Decompresses `src` into the first `len` bytes of `dest` and returns the number of bytes
    /// produced, which is less than `len` if the stream ends early. Bytes after the first `len` may
    /// be overwritten with any values. Any `src` is safe to pass.
    ///
    /// # Errors
    /// [`Error::Data`](crate::Error::Data) if `src` is not a valid stream or decodes to more than
    /// `len` bytes.
    fn decode(
        &mut self,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize>;
}
