//! Chunks that are passed to a super-chunk.

use crate::chunk::{ChunkHeader, Special};
use crate::frame::VL_BLOCKS;
use crate::{Buffer, Error, ErrorKind, Result};

/// A chunk passed to a super-chunk, with its ownership.
pub enum NewChunk<'a> {
    /// Borrowed bytes, which are copied if the super-chunk keeps chunks in memory.
    Copy(&'a [u8]),
    /// As [`NewChunk::Copy`], for a chunk that may be damaged: it gets no checksum.
    Unverified(&'a [u8]),
    /// A buffer whose ownership moves to the super-chunk if the call succeeds.
    Give(&'a mut Option<Buffer>),
    /// A buffer that moves to a super-chunk in memory if the call succeeds. An update swaps
    /// it for the buffer of the old chunk, for reuse.
    Exchange(&'a mut Buffer),
}

impl NewChunk<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            NewChunk::Copy(bytes) | NewChunk::Unverified(bytes) => bytes,
            NewChunk::Give(buffer) => buffer.as_deref().unwrap_or_default(),
            NewChunk::Exchange(buffer) => buffer,
        }
    }

    /// Whether the chunk gets no checksum.
    pub fn is_unverified(&self) -> bool {
        matches!(self, NewChunk::Unverified(_))
    }

    /// Returns the buffer to keep in memory.
    pub(super) fn take(&mut self) -> Result<Buffer> {
        match self {
            NewChunk::Copy(bytes) | NewChunk::Unverified(bytes) => Buffer::copy_of(bytes),
            NewChunk::Give(buffer) => buffer.take().ok_or(Error::InvalidParam),
            NewChunk::Exchange(buffer) => Ok(std::mem::take(*buffer)),
        }
    }

    /// Moves the buffer of the replaced chunk to the caller.
    pub(super) fn reuse(&mut self, old: Option<Buffer>) {
        if let (NewChunk::Exchange(buffer), Some(old)) = (self, old) {
            **buffer = old;
        }
    }

    /// Frees an owned buffer after its bytes were written to a frame.
    pub(super) fn done(self) {
        if let NewChunk::Give(buffer) = self {
            *buffer = None;
        }
    }
}

/// The header fields of a new chunk that super-chunks need. A complete [`ChunkHeader`] is large,
/// and moving it costs more than the rest of appending a small chunk in memory.
#[derive(Clone, Copy)]
pub struct ChunkInfo {
    /// Uncompressed size in bytes.
    pub nbytes: i32,
    /// Item size in bytes.
    pub typesize: usize,
    /// The kind of special chunk.
    pub special: Special,
    /// [`VL_BLOCKS`] if the blocks have individual lengths, otherwise 0.
    pub flags2: u8,
}

impl ChunkInfo {
    /// Reads the fields from a chunk.
    ///
    /// # Errors
    /// Returns the errors of [`ChunkHeader::parse`], with [`Error::InvalidHeader`] if the bytes are
    /// too short for a header, and for a lazy chunk, whose blocks are elsewhere.
    pub fn of(chunk: &[u8]) -> Result<ChunkInfo> {
        match ChunkHeader::parse(chunk) {
            Ok(ref header) if header.lazy => {
                Err(Error::InvalidHeader.because("a lazy chunk cannot be stored"))
            }
            Ok(ref header) => Ok(ChunkInfo {
                nbytes: i32::try_from(header.nbytes).map_err(|_| Error::InvalidHeader)?,
                typesize: header.typesize(),
                special: header.special,
                flags2: if header.vl_blocks { VL_BLOCKS } else { 0 },
            }),
            Err(error) if error == Error::ReadBuffer => Err(error.recast(ErrorKind::InvalidHeader)),
            Err(error) => Err(error),
        }
    }
}
