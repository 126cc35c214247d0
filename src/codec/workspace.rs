//! One worker's codec states.

use super::builtin::{COUNT, TABLE, by_compcode, by_format};
use super::{Blosc1Stream, Dictionary, Shuffled, StreamCodec, id};
use crate::{Error, Result};

/// The states of the built-in codecs (hash tables, contexts) of one worker. Each is made when the codec
/// is first used and kept for the next call; making a `Workspace` allocates nothing.
#[derive(Default)]
pub struct Workspace {
    codecs: [Option<Box<dyn StreamCodec>>; COUNT],
}

impl Workspace {
    /// An empty workspace.
    pub fn new() -> Workspace {
        Workspace::default()
    }

    /// Compresses `src` into `dest` with the built-in codec `compcode` at compression level `level`
    /// (0 to 9) and returns the length of the result. 0 means that the stream is to be stored raw: the
    /// codec gave up, or its result doesn't fit in `dest`. `dest.len()` is the codec's capacity, which may
    /// influence what it writes.
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
        let row = by_compcode(compcode).ok_or(Error::CodecSupport)?;
        self.codec(row).encode(level, dict, src, dest)
    }

    /// As [`Workspace::encode`] without a dictionary, for a stream of which is known how it is shuffled.
    ///
    /// # Errors
    /// Those of [`Workspace::encode`].
    pub fn encode_shuffled(
        &mut self,
        compcode: u8,
        level: u8,
        shuffled: Shuffled,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let row = by_compcode(compcode).ok_or(Error::CodecSupport)?;
        self.codec(row).encode_shuffled(level, shuffled, src, dest)
    }

    /// As [`Workspace::encode`], for a chunk of Blosc 1.x.
    ///
    /// # Errors
    /// Those of [`Workspace::encode`].
    pub fn encode_blosc1(
        &mut self,
        compcode: u8,
        level: u8,
        kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let row = by_compcode(compcode).ok_or(Error::CodecSupport)?;
        self.codec(row).encode_blosc1(level, kind, src, dest)
    }

    /// Decompresses `src`, a stream of the built-in format `format`, into `dest`, and returns the number
    /// of bytes produced: at most `dest.len()`, fewer for a stream that ends early. Bytes of `dest` behind
    /// the produced ones hold arbitrary values.
    ///
    /// # Errors
    /// [`Error::CodecSupport`] if there is no such format, [`Error::Data`] if `src` is not a valid stream
    /// of at most `dest.len()` bytes, [`Error::MemoryAlloc`].
    pub fn decode(
        &mut self,
        format: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.decode_loosely(format, dict, src, dest, dest.len())
    }

    /// As [`Workspace::decode`] into the first `len` bytes of `dest`; those behind may get any values, which saves time
    /// if there are [`SLACK`](super::SLACK) of them.
    ///
    /// # Errors
    /// Those of [`Workspace::decode`].
    pub(crate) fn decode_loosely(
        &mut self,
        format: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        let row = by_format(format).ok_or(Error::CodecSupport)?;
        self.codec(row).decode(dict, src, dest, len)
    }

    /// Gives up the states of codecs that may be large; those of BloscLZ and LZ4 are not.
    pub(crate) fn shrink(&mut self) {
        for (row, state) in TABLE.iter().zip(&mut self.codecs) {
            if !matches!(row.compcode, id::BLOSCLZ | id::LZ4) {
                *state = None;
            }
        }
    }

    fn codec(&mut self, row: usize) -> &mut dyn StreamCodec {
        &mut **self.codecs[row].get_or_insert_with(TABLE[row].make)
    }
}
