//! A compressed chunk with checked tables, ready to be decoded block by block.
//!
//! ```text
//! regular:  header | block starts: i32 × nblocks | [dictionary] | streams …
//! VL:       header | block starts: i32 × nblocks | [dictionary] | (u32 size, payload) …
//! memcpyed: header | nbytes raw bytes
//! special:  header | [value]
//! ```
//! The dictionary is a 32-bit length followed by its bytes. The blocks of a regular chunk may be
//! stored in any order. (Source: the C-Blosc2 chunk format.)

use super::blocks::{Blocking, word_at};
use super::header::{ChunkHeader, Special, VERSION_BLOSC1, div_rem};
use super::lazy::{LazyChunk, LazySource};
use super::limits::{MAX_DICT_SIZE, WORD};
use crate::codec::{self, CodecInfo, Dictionary};
use crate::filter::grown;
use crate::{Error, ErrorKind, Result};

/// A variable-length block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VlBlock {
    /// The offset in the chunk of its size word.
    pub start: usize,
    /// The size of that word and the payload in bytes.
    pub stored_len: usize,
    /// The offset in the decompressed chunk.
    pub offset: usize,
    /// The uncompressed size in bytes.
    pub len: usize,
}

/// A chunk whose header, tables and dictionary have been checked.
pub(crate) struct ChunkView<'a> {
    pub src: &'a [u8],
    pub header: &'a ChunkHeader,
    /// The size of a full block, or of the longest variable-length block, in bytes.
    pub blocksize: usize,
    pub nblocks: usize,
    /// The number of streams of a full block.
    full_streams: usize,
    pub dictionary: Option<Dictionary>,
    /// The file of a lazy chunk, whose blocks are not in `src`.
    pub lazy: Option<LazyChunk<'a>>,
    /// The end of header, block starts and dictionary; no block begins before it.
    data_start: usize,
    vl: Vec<VlBlock>,
    /// The index of the first block in `vl`.
    first_vl: usize,
}

/// The blocks to be decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockSelection {
    All,
    /// One block; the lengths of the other blocks of a lazy chunk are not read.
    One(usize),
}

impl<'a> ChunkView<'a> {
    /// Checks the tables and the dictionary of a chunk with this header.
    ///
    /// # Errors
    /// [`Error::InvalidHeader`], [`Error::ReadBuffer`] or [`Error::CodecDict`] if they are invalid;
    /// [`Error::InvalidParam`] for a lazy chunk without a source, or for a block that does not
    /// exist.
    pub fn new(
        src: &'a [u8],
        header: &'a ChunkHeader,
        source: Option<&dyn LazySource>,
        wanted: BlockSelection,
    ) -> Result<ChunkView<'a>> {
        let mut view = ChunkView::from_header(src, header, Blocking::of(header));
        view.read_tables(source, wanted)?;
        Ok(view)
    }

    /// Creates a view with only the header checked. Call [`ChunkView::read_tables`] before any
    /// other use.
    #[inline(always)]
    pub fn from_header(
        src: &'a [u8],
        header: &'a ChunkHeader,
        blocking: Blocking,
    ) -> ChunkView<'a> {
        ChunkView {
            src,
            header,
            blocksize: blocking.size,
            nblocks: blocking.count,
            full_streams: blocking.streams,
            dictionary: None,
            lazy: None,
            data_start: header.header_len(),
            vl: Vec::new(),
            first_vl: 0,
        }
    }

    /// Checks the tables and the dictionary. Works in place because copying a view that has just
    /// been written stalls on store forwarding.
    ///
    /// # Errors
    /// Returns the errors of [`ChunkView::new`].
    #[inline(always)]
    pub fn read_tables(
        &mut self,
        source: Option<&dyn LazySource>,
        wanted: BlockSelection,
    ) -> Result<()> {
        let header = self.header;
        if (header.is_memcpyed() && !header.lazy) || header.special != Special::None {
            return Ok(());
        }
        let table_end = self
            .nblocks
            .checked_mul(WORD)
            .and_then(|bytes| bytes.checked_add(header.header_len()))
            .filter(|&end| end <= i32::MAX as usize)
            .ok_or(Error::InvalidHeader)?;
        if self.src.len() < table_end {
            return Err(Error::ReadBuffer);
        }
        self.data_start = table_end;
        if header.lazy || header.use_dict || header.vl_blocks {
            self.read_rare_tables(source, wanted)?;
        }
        Ok(())
    }

    /// Reads the tables of lazy chunks, dictionaries and variable-length blocks.
    #[cold]
    fn read_rare_tables(
        &mut self,
        source: Option<&dyn LazySource>,
        wanted: BlockSelection,
    ) -> Result<()> {
        if self.header.lazy {
            let table_end = self.data_start;
            self.lazy = Some(LazyChunk::open(self.src, self.header, table_end, source)?);
        }
        if self.header.use_dict && !self.header.is_memcpyed() {
            self.load_dictionary()?;
        }
        if self.header.vl_blocks {
            self.read_vl_blocks(wanted)?;
        }
        Ok(())
    }

    fn load_dictionary(&mut self) -> Result<()> {
        let size = self.stored_word(self.data_start, Error::ReadBuffer)?;
        let size = usize::try_from(size).map_err(|_| Error::CodecDict)?;
        if !(1..=MAX_DICT_SIZE).contains(&size) {
            return Err(Error::CodecDict);
        }
        let start = self.data_start + WORD;
        let mut read = Vec::new();
        let bytes = match &self.lazy {
            None => self.src.get(start..start + size).ok_or(Error::ReadBuffer)?,
            Some(lazy) => {
                let bytes = grown(&mut read, size)?;
                lazy.read(start, bytes, Error::FileRead)?;
                bytes
            }
        };
        self.dictionary = Some(Dictionary::for_decoding(self.header.basic.format(), bytes)?);
        self.data_start = start + size;
        Ok(())
    }

    /// Reads the word at offset `at` of the stored chunk; returns `missing` if it is past the end.
    fn stored_word(&self, at: usize, missing: Error) -> Result<i32> {
        match &self.lazy {
            None => word_at(self.src, at).ok_or(missing),
            Some(lazy) => {
                let mut word = [0; WORD];
                lazy.read(at, &mut word, Error::FileRead)?;
                Ok(i32::from_le_bytes(word))
            }
        }
    }

    fn read_vl_blocks(&mut self, wanted: BlockSelection) -> Result<()> {
        if let (BlockSelection::One(nblock), true) = (wanted, self.header.lazy) {
            if nblock >= self.nblocks {
                return Err(Error::InvalidParam);
            }
            let block = self.read_vl_block(nblock, 0)?;
            self.blocksize = block.len;
            self.first_vl = nblock;
            self.vl.push(block);
            return Ok(());
        }
        self.vl.try_reserve_exact(self.nblocks)?;
        let mut offset = 0;
        for nblock in 0..self.nblocks {
            let block = self.read_vl_block(nblock, offset)?;
            self.blocksize = self.blocksize.max(block.len);
            offset += block.len;
            self.vl.push(block);
        }
        if offset == self.header.nbytes { Ok(()) } else { Err(Error::InvalidHeader) }
    }

    /// Reads the variable-length block that begins at `offset` in the decompressed chunk.
    fn read_vl_block(&self, nblock: usize, offset: usize) -> Result<VlBlock> {
        let cbytes = self.header.cbytes;
        let start = self.raw_start(nblock)?;
        let is_last = nblock + 1 == self.nblocks;
        let end = if is_last { cbytes } else { self.raw_start(nblock + 1)? };
        if start < self.data_start || end <= start || end > cbytes {
            return Err(Error::InvalidHeader);
        }
        if let Some(lazy) = &self.lazy
            && lazy.stored_len(nblock)? != end - start
        {
            return Err(Error::InvalidHeader);
        }
        let len = self.stored_word(start, Error::InvalidHeader)?;
        let len = usize::try_from(len).map_err(|_| Error::InvalidHeader)?;
        if len == 0 || len > self.header.nbytes - offset {
            return Err(Error::InvalidHeader);
        }
        // Bounds the memory that callers allocate for the block.
        let stored = end - start;
        let is_bounded = self.header.basic.format() != codec::format::USER;
        if is_bounded && len > stored.saturating_mul(CodecInfo::LARGEST_EXPANSION) {
            return Err(Error::Data);
        }
        Ok(VlBlock { start, stored_len: end - start, offset, len })
    }

    /// Reads a block start from the table; it must not be negative.
    fn raw_start(&self, block: usize) -> Result<usize> {
        let start =
            word_at(self.src, self.header.header_len() + WORD * block).ok_or(Error::ReadBuffer)?;
        usize::try_from(start).map_err(|_| Error::InvalidHeader)
    }

    /// Returns the offset of the first stream of a regular block.
    ///
    /// # Errors
    /// [`Error::Data`] if it is outside the chunk's data.
    pub fn block_start(&self, block: usize) -> Result<usize> {
        let start = self.raw_start(block).map_err(|error| error.recast(ErrorKind::Data))?;
        let end = if self.header.lazy { self.header.cbytes } else { self.src.len() };
        if (self.data_start..end).contains(&start) { Ok(start) } else { Err(Error::Data) }
    }

    /// Checks that a block begins inside the chunk, before memory is allocated for it.
    ///
    /// # Errors
    /// Returns the errors of [`ChunkView::block_start`].
    pub fn check_block(&self, block: usize) -> Result<()> {
        if self.header.is_memcpyed() || self.header.special != Special::None {
            return Ok(());
        }
        self.block_start(block).map(drop)
    }

    /// Returns the variable-length block with index `block`.
    pub fn vl_block(&self, block: usize) -> &VlBlock {
        &self.vl[block - self.first_vl]
    }

    /// Returns the offset of a block in the decompressed chunk.
    pub fn block_offset(&self, block: usize) -> usize {
        if self.header.vl_blocks { self.vl_block(block).offset } else { block * self.blocksize }
    }

    /// Returns the index of the regular block that contains the byte at `offset`.
    pub fn block_of(&self, offset: usize) -> usize {
        if offset < self.blocksize { 0 } else { div_rem(offset, self.blocksize).0 }
    }

    /// Returns the uncompressed size of a block in bytes.
    pub fn block_len(&self, block: usize) -> usize {
        if self.header.vl_blocks {
            self.vl_block(block).len
        } else {
            self.blocksize.min(self.header.nbytes - block * self.blocksize)
        }
    }

    /// Returns the number of streams of a regular block of `len` bytes.
    pub fn streams(&self, len: usize) -> usize {
        if len < self.blocksize { 1 } else { self.full_streams }
    }

    /// Returns the number of streams to try if a Blosc 1.x block cannot be decoded with
    /// [`ChunkView::streams`]: Blosc 1.21 can be made to split blocks that its own reader treats as
    /// unsplit.
    pub fn alternate_streams(&self, len: usize) -> Option<usize> {
        let is_old = self.header.basic.version <= VERSION_BLOSC1;
        let typesize = self.header.typesize();
        let could_be_split = is_old && self.header.is_split() && len == self.blocksize;
        (could_be_split && typesize > 1 && self.streams(len) == 1).then_some(typesize)
    }
}
