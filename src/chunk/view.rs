//! A compressed chunk, checked and ready to be decoded block by block.
//!
//! ```text
//! regular:  header | block starts: i32 × nblocks | [dictionary] | streams …
//! VL:       header | block starts: i32 × nblocks | [dictionary] | (u32 size, payload) …
//! memcpyed: header | nbytes raw bytes
//! special:  header | [value]
//! ```
//! The dictionary is a length and that many bytes. Blocks of a regular chunk may lie in any order.
//! (Source: the C-Blosc2 chunk format.)

use super::header::{ChunkHeader, Special, VERSION_BLOSC1};
use crate::codec::{self, Dictionary};
use crate::filter::Pipeline;
use crate::{Error, Result};

/// Bytes of a block start, of a stream's size and of a dictionary's length.
pub(super) const WORD: usize = 4;
/// Longest dictionary.
pub(super) const MAX_DICT_SIZE: usize = 32768;
/// The rules of Blosc 1.x for splitting, which chunks from before the "not split" flag obey.
const BLOSC1_MAX_STREAMS: usize = 16;
const BLOSC1_MIN_STREAM: usize = 128;

/// A variable-length block.
#[derive(Clone, Copy, Debug)]
pub(super) struct VlBlock {
    /// Where its payload begins in the chunk.
    pub payload: usize,
    /// Bytes of the payload.
    pub payload_len: usize,
    /// Where it begins in the decompressed chunk.
    pub offset: usize,
    /// Uncompressed bytes.
    pub len: usize,
}

/// A chunk whose header, tables and dictionary have been checked.
pub(super) struct ChunkView<'a> {
    pub src: &'a [u8],
    pub header: ChunkHeader,
    /// Bytes of a full block; of the longest block when lengths vary.
    pub blocksize: usize,
    pub nblocks: usize,
    pub pipeline: Pipeline,
    pub dictionary: Option<Dictionary>,
    /// Behind header, block starts and dictionary: no block begins before.
    data_start: usize,
    vl: Vec<VlBlock>,
}

/// The little-endian word at `at`, if it is there.
pub(super) fn word_at(src: &[u8], at: usize) -> Option<i32> {
    let bytes = src.get(at..)?.first_chunk::<WORD>()?;
    Some(i32::from_le_bytes(*bytes))
}

/// How many blocks a chunk with this header has.
pub(super) fn count_blocks(header: &ChunkHeader) -> usize {
    if header.vl_blocks {
        header.basic.blocksize as usize
    } else {
        header.nbytes.div_ceil(header.blocksize())
    }
}

impl<'a> ChunkView<'a> {
    /// Checks the tables and the dictionary of a chunk whose header has been read.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`], [`Error::ReadBuffer`] or [`Error::CodecDict`] when they are not sound,
    /// [`Error::InvalidParam`] for a lazy chunk, whose blocks are elsewhere.
    pub fn new(src: &'a [u8], header: ChunkHeader) -> Result<ChunkView<'a>> {
        let nblocks = count_blocks(&header);
        let mut view = ChunkView {
            src,
            header,
            blocksize: if header.vl_blocks {
                0
            } else {
                header.blocksize()
            },
            nblocks,
            pipeline: Pipeline::new(&header.filters, header.basic.version),
            dictionary: None,
            data_start: header.header_len(),
            vl: Vec::new(),
        };
        if header.is_memcpyed() || header.special != Special::None {
            return Ok(view);
        }
        let table_end = nblocks
            .checked_mul(WORD)
            .and_then(|bytes| bytes.checked_add(header.header_len()))
            .filter(|&end| end <= i32::MAX as usize)
            .ok_or(Error::InvalidHeader)?;
        if src.len() < table_end {
            return Err(Error::ReadBuffer);
        }
        if header.lazy {
            return Err(Error::InvalidParam);
        }
        view.data_start = table_end;
        if header.use_dict {
            view.load_dictionary()?;
        }
        if header.vl_blocks {
            view.read_vl_blocks()?;
        }
        Ok(view)
    }

    fn load_dictionary(&mut self) -> Result<()> {
        let size = word_at(self.src, self.data_start).ok_or(Error::ReadBuffer)?;
        let size = usize::try_from(size).map_err(|_| Error::CodecDict)?;
        if !(1..=MAX_DICT_SIZE).contains(&size) {
            return Err(Error::CodecDict);
        }
        let start = self.data_start + WORD;
        let bytes = self.src.get(start..start + size).ok_or(Error::ReadBuffer)?;
        self.dictionary = Some(Dictionary::for_decoding(self.header.basic.format(), bytes)?);
        self.data_start = start + size;
        Ok(())
    }

    fn read_vl_blocks(&mut self) -> Result<()> {
        self.vl.try_reserve_exact(self.nblocks)?;
        let cbytes = self.header.cbytes;
        let mut offset = 0usize;
        let mut start = self.raw_start(0)?;
        if start < self.data_start {
            return Err(Error::InvalidHeader);
        }
        for i in 0..self.nblocks {
            let end = if i + 1 < self.nblocks {
                self.raw_start(i + 1)?
            } else {
                cbytes
            };
            if end < start + WORD || end > cbytes {
                return Err(Error::InvalidHeader);
            }
            let len = word_at(self.src, start).ok_or(Error::InvalidHeader)?;
            let len = usize::try_from(len).map_err(|_| Error::InvalidHeader)?;
            if len == 0 || len > self.header.nbytes - offset {
                return Err(Error::InvalidHeader);
            }
            let payload = start + WORD;
            self.vl.push(VlBlock {
                payload,
                payload_len: end - payload,
                offset,
                len,
            });
            self.blocksize = self.blocksize.max(len);
            offset += len;
            start = end;
        }
        if offset == self.header.nbytes {
            Ok(())
        } else {
            Err(Error::InvalidHeader)
        }
    }

    /// Block start as the table says, which must not be negative.
    fn raw_start(&self, block: usize) -> Result<usize> {
        let start =
            word_at(self.src, self.header.header_len() + WORD * block).ok_or(Error::ReadBuffer)?;
        usize::try_from(start).map_err(|_| Error::InvalidHeader)
    }

    /// Where the first stream of a regular block begins.
    ///
    /// # Errors
    /// [`Error::Data`] when that is outside the chunk or in front of its data.
    pub fn block_start(&self, block: usize) -> Result<usize> {
        let start = self.raw_start(block).map_err(|_| Error::Data)?;
        if start >= self.data_start && start < self.src.len() {
            Ok(start)
        } else {
            Err(Error::Data)
        }
    }

    /// The variable-length block of this number.
    pub fn vl_block(&self, block: usize) -> &VlBlock {
        &self.vl[block]
    }

    /// Where a block begins in the decompressed chunk.
    pub fn block_offset(&self, block: usize) -> usize {
        if self.header.vl_blocks {
            self.vl[block].offset
        } else {
            block * self.blocksize
        }
    }

    /// Uncompressed bytes of a block.
    pub fn block_len(&self, block: usize) -> usize {
        if self.header.vl_blocks {
            self.vl[block].len
        } else {
            self.blocksize
                .min(self.header.nbytes - block * self.blocksize)
        }
    }

    /// In how many streams a regular block of `len` bytes is stored.
    pub fn streams(&self, len: usize) -> usize {
        if !self.header.is_split() || len < self.blocksize {
            return 1;
        }
        let typesize = self.header.typesize();
        let is_guarded = self.header.basic.version <= VERSION_BLOSC1;
        let may_split = typesize <= BLOSC1_MAX_STREAMS && len / typesize >= BLOSC1_MIN_STREAM;
        if is_guarded && !may_split {
            1
        } else {
            typesize
        }
    }

    /// In how many streams an old block may be stored after all, when it can't be read as
    /// [`ChunkView::streams`] says: Blosc 1.21 could be told to split where its own reader does not.
    pub fn streams_instead(&self, len: usize) -> Option<usize> {
        let is_old = self.header.basic.version <= VERSION_BLOSC1;
        let typesize = self.header.typesize();
        let could_be_split = is_old && self.header.is_split() && len == self.blocksize;
        (could_be_split && typesize > 1 && self.streams(len) == 1).then_some(typesize)
    }

    /// Whether the streams hold Snappy data, which only Blosc 1.x wrote.
    pub fn supports_format(&self) -> bool {
        match self.header.basic.format() {
            codec::format::SNAPPY => self.header.basic.version <= VERSION_BLOSC1,
            _ => true,
        }
    }

    /// Whether blocks after the first depend on it.
    pub fn needs_reference(&self) -> bool {
        self.pipeline.has_delta()
            && self.nblocks > 1
            && !self.header.vl_blocks
            && !self.header.is_memcpyed()
            && !self.header.instrumented
            && self.header.special == Special::None
    }
}
