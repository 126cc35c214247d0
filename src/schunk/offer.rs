//! Chunks that are to become a super-chunk's.

use crate::chunk::{ChunkHeader, Special};
use crate::frame::VL_BLOCKS;
use crate::{Buffer, Error, ErrorKind, Result};

/// A chunk that is offered to a super-chunk.
pub enum Offer<'a> {
    /// Bytes of the caller's, copied if they are kept.
    Copy(&'a [u8]),
    /// Bytes that become the super-chunk's, and are taken out, only when the call succeeds.
    Give(&'a mut Option<Buffer>),
    /// Bytes that become the super-chunk's when the call succeeds, if it keeps its chunks apart in memory. An update
    /// leaves the memory of the old chunk in their place, for reuse.
    Exchange(&'a mut Buffer),
}

impl Offer<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Offer::Copy(bytes) => bytes,
            Offer::Give(buffer) => buffer.as_deref().unwrap_or_default(),
            Offer::Exchange(buffer) => buffer,
        }
    }

    /// The bytes to keep in memory.
    pub(super) fn take(&mut self) -> Result<Buffer> {
        match self {
            Offer::Copy(bytes) => Buffer::copy_of(bytes),
            Offer::Give(buffer) => buffer.take().ok_or(Error::InvalidParam),
            Offer::Exchange(buffer) => Ok(std::mem::take(*buffer)),
        }
    }

    /// Passes on the chunk that was replaced.
    pub(super) fn reuse(&mut self, old: Option<Buffer>) {
        if let (Offer::Exchange(buffer), Some(old)) = (self, old) {
            **buffer = old;
        }
    }

    /// The bytes are in a frame: those that were given aren't needed any more.
    pub(super) fn done(self) {
        if let Offer::Give(buffer) = self {
            *buffer = None;
        }
    }
}

/// What the header of an offered chunk says, as far as super-chunks care. (Headers are large and told field by
/// field; moving one costs more than all the rest of adding a small chunk in memory.)
#[derive(Clone, Copy)]
pub struct Facts {
    /// Uncompressed bytes.
    pub nbytes: i32,
    /// Bytes of an item.
    pub typesize: usize,
    /// Whether the chunk is one value over and over, and which.
    pub special: Special,
    /// The bit that a super-chunk of such chunks has in its flags.
    pub flags2: u8,
}

impl Facts {
    /// What a chunk says.
    ///
    /// # Errors
    /// Those of [`ChunkHeader::parse`], but [`Error::InvalidHeader`] for what is too short for a header.
    pub fn of(chunk: &[u8]) -> Result<Facts> {
        match ChunkHeader::parse(chunk) {
            Ok(ref header) => Ok(Facts {
                nbytes: i32::try_from(header.nbytes).map_err(|_| Error::InvalidHeader)?,
                typesize: header.typesize(),
                special: header.special,
                flags2: match header.vl_blocks {
                    true => VL_BLOCKS,
                    false => 0,
                },
            }),
            Err(error) if error == Error::ReadBuffer => Err(error.recast(ErrorKind::InvalidHeader)),
            Err(error) => Err(error),
        }
    }
}
