//! The interfaces of codecs: [`StreamCodec`] for built-in ones, [`Codec`] for plugins and for
//! codecs of users.

use super::dictionary::Dictionary;
use crate::{CallContext, Result};

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
    /// The item size in bytes.
    pub typesize: usize,
}

/// A built-in codec. Implementors keep state to make later calls cheaper; results never depend on
/// earlier calls.
pub(super) trait StreamCodec: Send {
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

/// Returns the value in `slot`, made by `make` if there is none.
pub(super) fn get_or_try_make<T>(
    slot: &mut Option<T>,
    make: impl FnOnce() -> Result<T>,
) -> Result<&mut T> {
    Ok(match slot {
        Some(value) => value,
        empty => empty.insert(make()?),
    })
}

/// Chunk parameters passed to each codec call.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct CodecCall<'a> {
    /// The chunk's compression level, `0..=9`; 0 when decoding.
    pub level: u8,
    /// The codec's own parameter (`compcode_meta`).
    pub meta: u8,
    /// The context of the call: super-chunk, user data and chunk.
    pub ctx: CallContext<'a>,
}

/// A registered codec. It is called once per stream, concurrently from several threads, and never
/// for streams that are runs of one byte or stored raw.
pub trait Codec: Send + Sync {
    /// Compresses `src` into `dest` and returns the compressed length, at most `dest.len()`.
    /// Returns 0 if the result does not fit; the stream is then stored raw.
    ///
    /// # Errors
    /// [`Error::CodecSupport`](crate::Error::CodecSupport) if the codec cannot encode at all,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc); any other error fails the compression of
    /// the chunk with [`Error::Data`](crate::Error::Data).
    fn encode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize>;

    /// Decompresses `src` into `dest` and returns the number of bytes produced, which must be
    /// `dest.len()`.
    ///
    /// # Errors
    /// [`Error::CodecSupport`](crate::Error::CodecSupport) if the codec cannot decode at all,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc); any other error or length fails the
    /// decompression of the chunk with [`Error::Data`](crate::Error::Data).
    fn decode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize>;

    /// Decompresses the range of `part.len()` bytes at offset `from` of the `len` bytes that `src`
    /// decodes to. Returns `None` if the codec has no faster method than decoding all of them.
    ///
    /// # Errors
    /// Returns the errors of [`Codec::decode`].
    fn decode_part(
        &self,
        _call: &CodecCall<'_>,
        _src: &[u8],
        _len: usize,
        _from: usize,
        _part: &mut [u8],
    ) -> Option<Result<()>> {
        None
    }
}
