//! Reading chunks whose blocks have lengths of their own.

use super::block_decoder::BlockDecoder;
use super::decode::{Decompressor, decode_all};
use super::header::{ChunkHeader, EXTENDED_HEADER_LENGTH};
use super::lazy::LazySource;
use super::view::{ChunkView, Wanted};
use crate::filter::Reference;
use crate::{Error, Result};

/// The number of blocks of a chunk with variable-length blocks, from its first 32 bytes.
///
/// # Errors
/// [`Error::ReadBuffer`] for fewer bytes, [`Error::InvalidParam`] for an ordinary chunk, and those of the
/// header.
pub fn vl_nblocks(src: &[u8]) -> Result<i32> {
    if src.len() < EXTENDED_HEADER_LENGTH {
        return Err(Error::ReadBuffer);
    }
    let header = ChunkHeader::parse(src)?;
    if header.vl_blocks {
        Ok(header.basic.blocksize)
    } else {
        Err(Error::InvalidParam)
    }
}

/// A chunk with this header, if it has blocks of variable length.
fn vl_view<'a>(
    src: &'a [u8],
    header: &'a ChunkHeader,
    source: Option<&dyn LazySource>,
    wanted: Wanted,
) -> Result<ChunkView<'a>> {
    if !header.vl_blocks {
        return Err(Error::InvalidParam);
    }
    if !header.lazy && header.cbytes > src.len() {
        return Err(Error::InvalidHeader);
    }
    ChunkView::new(src, header, source, wanted)
}

impl Decompressor {
    /// The uncompressed sizes of the blocks of a chunk with variable-length blocks.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for an ordinary chunk or one of more than `max` blocks; those of the header
    /// and the tables.
    pub fn vl_block_sizes(&self, src: &[u8], max: usize) -> Result<Vec<usize>> {
        let header = ChunkHeader::parse(src)?;
        if header.basic.blocksize as usize > max {
            return Err(Error::InvalidParam);
        }
        let view = vl_view(src, &header, self.params.lazy.as_deref(), Wanted::All)?;
        let mut sizes = Vec::new();
        sizes.try_reserve_exact(view.nblocks)?;
        sizes.extend((0..view.nblocks).map(|nblock| view.block_len(nblock)));
        Ok(sizes)
    }

    /// The uncompressed size of one block of a chunk with variable-length blocks.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for an ordinary chunk or a block it doesn't have; those of the header and
    /// the tables.
    pub fn vl_block_len(&self, src: &[u8], nblock: usize) -> Result<usize> {
        let header = ChunkHeader::parse(src)?;
        let view = vl_view(
            src,
            &header,
            self.params.lazy.as_deref(),
            Wanted::One(nblock),
        )?;
        if nblock < view.nblocks {
            Ok(view.block_len(nblock))
        } else {
            Err(Error::InvalidParam)
        }
    }

    /// Decompresses each block of a chunk with variable-length blocks into a buffer of its own;
    /// [`Decompressor::vl_block_sizes`] tells how many there are and how long they must be.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] when the buffers are not of those sizes; those of decompression.
    pub fn vl_decompress_into(&mut self, src: &[u8], dests: &mut [&mut [u8]]) -> Result<()> {
        let source = self.params.lazy.as_deref();
        self.known.read(src, false)?;
        self.known.prepare();
        let view = vl_view(src, self.known.header(), source, Wanted::All)?;
        let fits = dests.len() == view.nblocks
            && dests
                .iter()
                .enumerate()
                .all(|(i, dest)| dest.len() == view.block_len(i));
        if !fits {
            return Err(Error::InvalidParam);
        }
        let decoder = BlockDecoder {
            view: &view,
            pipeline: self.known.pipeline(),
            params: &self.params,
            is_streamed: false,
        };
        let blocks = dests.iter_mut().map(|dest| &mut **dest).enumerate();
        decode_all(&decoder, &mut self.staff, blocks, Reference::Own)
    }

    /// Decompresses all blocks of a chunk with variable-length blocks.
    ///
    /// # Errors
    /// Those of [`Decompressor::vl_decompress_into`]; [`Error::MemoryAlloc`].
    pub fn vl_decompress(&mut self, src: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut blocks = Vec::new();
        for size in self.vl_block_sizes(src, usize::MAX)? {
            let mut block = Vec::new();
            block.try_reserve_exact(size)?;
            block.resize(size, 0);
            blocks.push(block);
        }
        let mut dests: Vec<&mut [u8]> = blocks.iter_mut().map(Vec::as_mut_slice).collect();
        self.vl_decompress_into(src, &mut dests)?;
        Ok(blocks)
    }

    /// Decompresses one block of a chunk with variable-length blocks into `dest`, which has the size
    /// that [`Decompressor::vl_block_len`] tells.
    ///
    /// # Errors
    /// [`Error::InvalidParam`] for an ordinary chunk, a block it doesn't have or a `dest` of another size;
    /// those of decompression.
    pub fn vl_decompress_block(
        &mut self,
        src: &[u8],
        nblock: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let source = self.params.lazy.as_deref();
        self.known.read(src, false)?;
        self.known.prepare();
        let view = vl_view(src, self.known.header(), source, Wanted::One(nblock))?;
        if nblock >= view.nblocks || dest.len() != view.block_len(nblock) {
            return Err(Error::InvalidParam);
        }
        let decoder = BlockDecoder {
            view: &view,
            pipeline: self.known.pipeline(),
            params: &self.params,
            is_streamed: false,
        };
        decoder.decode(self.staff.own(), nblock, 0, Reference::Own, dest)
    }
}
