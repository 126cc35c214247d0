//! The codec states of one worker.

use super::info::Code;
use super::lookup::{by_format, encoder};
use super::{Blosc1Stream, Dictionary, Shuffled, StreamCodec, TABLE};
use crate::{Error, Result};

/// The states of the built-in codecs (hash tables, contexts) of one worker. Each state is created
/// on first use and kept for later calls; creating a `Workspace` allocates nothing.
#[derive(Default)]
pub struct Workspace {
    codecs: [Option<Box<dyn StreamCodec>>; TABLE.len()],
}

impl Workspace {
    /// Returns an empty workspace.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// Compresses `src` into `dest` with the built-in codec `compcode` at compression level `level`
    /// (`0..=9`) and returns the compressed length. Returns 0 if `src` does not compress well
    /// enough or the result does not fit; the stream is then stored raw. `dest.len()` is the
    /// codec's capacity and may influence its output.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] if there is no such built-in codec, [`Error::MemoryAlloc`].
    pub fn encode(
        &mut self,
        compcode: u8,
        level: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.codec(encoder(compcode))?.encode(level, dict, src, dest)
    }

    /// Compresses a stream with a known shuffle like [`Workspace::encode`] without a dictionary.
    ///
    /// # Errors
    /// Returns the errors of [`Workspace::encode`].
    pub fn encode_shuffled(
        &mut self,
        compcode: u8,
        level: u8,
        shuffled: Shuffled,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.codec(encoder(compcode))?.encode_shuffled(level, shuffled, src, dest)
    }

    /// Compresses a stream of a Blosc 1.x chunk like [`Workspace::encode`].
    ///
    /// # Errors
    /// Returns the errors of [`Workspace::encode`].
    pub fn encode_blosc1(
        &mut self,
        compcode: u8,
        level: u8,
        kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.codec(encoder(compcode))?.encode_blosc1(level, kind, src, dest)
    }

    /// Decompresses `src`, a stream of the built-in format `format`, into `dest`. Returns the
    /// number of bytes produced: at most `dest.len()`, fewer if the stream ends early. The
    /// remaining bytes of `dest` hold arbitrary values.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] if there is no such format, [`Error::Data`] if `src` is not a valid
    /// stream of at most `dest.len()` bytes, [`Error::MemoryAlloc`].
    pub fn decode(
        &mut self,
        format: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.decode_with_slop(format, dict, src, dest, dest.len())
    }

    /// Decompresses like [`Workspace::decode`] into the first `len` bytes of `dest`. Bytes after
    /// them may be overwritten with any values; decoding is faster if there are
    /// [`SLOP`](super::SLOP) of them.
    ///
    /// # Errors
    /// Returns the errors of [`Workspace::decode`].
    pub(crate) fn decode_with_slop(
        &mut self,
        format: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        self.codec(by_format(format))?.decode(dict, src, dest, len)
    }

    /// Frees the codec states that may be large.
    pub(crate) fn shrink(&mut self) {
        for (codec, state) in TABLE.iter().zip(&mut self.codecs) {
            if codec.has_large_state {
                *state = None;
            }
        }
    }

    fn codec(&mut self, row: Option<usize>) -> Result<&mut dyn StreamCodec> {
        let row = row.ok_or(Error::CodecSupport)?;
        match TABLE[row].code {
            Code::Stream(make) => Ok(&mut **self.codecs[row].get_or_insert_with(make)),
            Code::Plugin(_) | Code::External => Err(Error::CodecSupport),
        }
    }
}
