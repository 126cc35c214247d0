//! Reading of chunks with variable-length blocks.

use super::block::BlockDecoder;
use super::decompressor::{Decompressor, decode_all};
use crate::chunk::format::header::ChunkHeader;
use crate::chunk::format::lazy::LazySource;
use crate::chunk::format::view::{BlockSelection, ChunkView};
use crate::filter::Reference;
use crate::{Error, Result};

/// Returns a view of a chunk, which must have variable-length blocks.
fn vl_view<'a>(
    src: &'a [u8],
    header: &'a ChunkHeader,
    source: Option<&dyn LazySource>,
    wanted: BlockSelection,
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
    /// Returns the uncompressed sizes of the blocks of a chunk with variable-length blocks, in
    /// bytes. `max` bounds the memory that an untrusted chunk requires.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for a chunk with fixed-length blocks, or with more than `max`
    ///   blocks;
    /// - the [decompression errors](Decompressor#errors).
    pub fn vl_block_sizes(&self, src: &[u8], max: usize) -> Result<Vec<usize>> {
        let header = ChunkHeader::parse(src)?;
        if header.basic.blocksize as usize > max {
            return Err(Error::InvalidParam);
        }
        let view = vl_view(src, &header, self.params.lazy.as_deref(), BlockSelection::All)?;
        let mut sizes = Vec::new();
        sizes.try_reserve_exact(view.nblocks)?;
        sizes.extend((0..view.nblocks).map(|nblock| view.block_len(nblock)));
        Ok(sizes)
    }

    /// Returns the uncompressed size of one block of a chunk with variable-length blocks, in bytes.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for a chunk with fixed-length blocks, or a block that does not
    ///   exist;
    /// - the [decompression errors](Decompressor#errors).
    pub fn vl_block_len(&self, src: &[u8], nblock: usize) -> Result<usize> {
        let header = ChunkHeader::parse(src)?;
        let view = vl_view(src, &header, self.params.lazy.as_deref(), BlockSelection::One(nblock))?;
        if nblock < view.nblocks { Ok(view.block_len(nblock)) } else { Err(Error::InvalidParam) }
    }

    /// Decompresses each block of a chunk with variable-length blocks into its own buffer. The
    /// number and the lengths of the buffers must be those of [`Decompressor::vl_block_sizes`].
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if they are not, and for a chunk with fixed-length blocks;
    /// - the [decompression errors](Decompressor#errors).
    pub fn vl_decompress_into(&mut self, src: &[u8], dests: &mut [&mut [u8]]) -> Result<()> {
        let source = self.params.lazy.as_deref();
        self.header_cache.read(src, false)?;
        self.header_cache.prepare_pipeline();
        let view = vl_view(src, self.header_cache.header(), source, BlockSelection::All)?;
        let fits = dests.len() == view.nblocks
            && dests.iter().enumerate().all(|(i, dest)| dest.len() == view.block_len(i));
        if !fits {
            return Err(Error::InvalidParam);
        }
        let decoder = BlockDecoder {
            view: &view,
            pipeline: self.header_cache.pipeline(),
            params: &self.params,
            use_streaming_stores: false,
        };
        let blocks = dests.iter_mut().map(|dest| &mut **dest).enumerate();
        decode_all(&decoder, &mut self.workers, blocks, Reference::Own)
    }

    /// Decompresses all blocks of a chunk with variable-length blocks into new vectors.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for a chunk with fixed-length blocks;
    /// - the [decompression errors](Decompressor#errors).
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

    /// Decompresses one block of a chunk with variable-length blocks into `dest`, whose length must
    /// be that of [`Decompressor::vl_block_len`].
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] for a chunk with fixed-length blocks, a block that does not exist
    ///   or a `dest` of another length;
    /// - the [decompression errors](Decompressor#errors).
    pub fn vl_decompress_block(
        &mut self,
        src: &[u8],
        nblock: usize,
        dest: &mut [u8],
    ) -> Result<()> {
        let source = self.params.lazy.as_deref();
        self.header_cache.read(src, false)?;
        self.header_cache.prepare_pipeline();
        let view = vl_view(src, self.header_cache.header(), source, BlockSelection::One(nblock))?;
        if nblock >= view.nblocks || dest.len() != view.block_len(nblock) {
            return Err(Error::InvalidParam);
        }
        let decoder = BlockDecoder {
            view: &view,
            pipeline: self.header_cache.pipeline(),
            params: &self.params,
            use_streaming_stores: false,
        };
        decoder.decode(self.workers.own(), nblock, 0, Reference::Own, dest)
    }
}
