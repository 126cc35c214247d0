//! The header of the last chunk. Those of one array are the same but for their length, so it is read once.

use super::header::{ChunkHeader, EXTENDED_HEADER_LENGTH};
use super::view::{Blocking, ChunkView};
use crate::Result;
use crate::filter::Pipeline;

/// A header, and what follows from it.
pub(super) struct KnownHeader {
    /// What it was read from, if the next chunk may have the same.
    bytes: Option<[u8; EXTENDED_HEADER_LENGTH]>,
    header: ChunkHeader,
    blocking: Blocking,
    pipeline: Pipeline,
    /// Whether the pipeline is that of the header.
    is_prepared: bool,
}

impl Default for KnownHeader {
    fn default() -> KnownHeader {
        KnownHeader {
            bytes: None,
            header: ChunkHeader::UNREAD,
            blocking: Blocking::default(),
            pipeline: Pipeline::default(),
            is_prepared: false,
        }
    }
}

impl KnownHeader {
    /// Reads and checks the header of a chunk, of Blosc 1.x or of any, unless it is the known one.
    ///
    /// # Errors
    /// Those of [`ChunkHeader::parse`].
    #[inline(always)]
    pub fn read(&mut self, src: &[u8], blosc1: bool) -> Result<()> {
        match (&self.bytes, src.first_chunk()) {
            (Some(known), Some(front))
                if !blosc1 && ChunkHeader::is_same_but_cbytes(known, front) =>
            {
                self.header.read_cbytes(front)
            }
            _ => self.read_anew(src, blosc1),
        }
    }

    fn read_anew(&mut self, src: &[u8], blosc1: bool) -> Result<()> {
        self.bytes = None;
        self.is_prepared = false;
        self.header = ChunkHeader::UNREAD;
        match blosc1 {
            true => self.header.read_blosc1(src)?,
            false => self.header.read(src)?,
        }
        self.blocking = Blocking::of(&self.header);
        if self.header.basic.is_extended() && !blosc1 {
            self.bytes = src.first_chunk().copied();
        }
        Ok(())
    }

    /// Makes the pipeline that of the header.
    #[inline]
    pub fn prepare(&mut self) {
        if !self.is_prepared {
            self.header.prepare(&mut self.pipeline);
            self.is_prepared = self.pipeline.is_lasting();
        }
    }

    /// The header that was read.
    pub fn header(&self) -> &ChunkHeader {
        &self.header
    }

    /// How many blocks such a chunk has.
    pub fn nblocks(&self) -> usize {
        self.blocking.count
    }

    /// A chunk with this header, of which nothing else has been read.
    #[inline(always)]
    pub fn view<'a>(&'a self, src: &'a [u8]) -> ChunkView<'a> {
        ChunkView::unread(src, &self.header, self.blocking)
    }

    /// The pipeline, after [`KnownHeader::prepare`].
    pub fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }
}
