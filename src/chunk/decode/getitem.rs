//! Random access to items of a chunk: only the blocks that contain them are decoded.

use super::block::BlockDecoder;
use super::decompressor::Decompressor;
use crate::chunk::format::header::{ChunkHeader, Special};
use crate::chunk::format::special::fill_special;
use crate::chunk::format::view::BlockSelection;
use crate::filter::{Reference, grown};
use crate::{Error, Result, kernels};

impl Decompressor {
    /// Reads the items `start..start + nitems` to the start of `dest`; returns their size in bytes.
    /// Only the blocks that contain them are decoded. The item size is that of the header, which is
    /// 1 byte for items of more than 255 bytes. The mask of [`Decompressor::set_maskout`] is
    /// ignored.
    ///
    /// ```
    /// use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
    ///
    /// let data: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
    /// let chunk = Compressor::new(CParams::default().typesize(4))?.compress_to_vec(&data)?;
    /// let mut items = [0; 8];
    /// let mut decompressor = Decompressor::new(DParams::default());
    /// assert_eq!(decompressor.getitem(&chunk, 500, 2, &mut items)?, 8);
    /// assert_eq!(items, [500u32, 501].map(u32::to_le_bytes).concat()[..]);
    /// # Ok::<(), ferroblosc::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if the items are not all in the chunk, `nitems` is negative, or
    ///   the chunk has variable-length blocks;
    /// - [`Error::WriteBuffer`] if `dest` is too small;
    /// - [`Error::SchunkSpecial`] for a chunk of kind [`Special::Unknown`];
    /// - the [decompression errors](Decompressor#errors).
    pub fn getitem(
        &mut self,
        src: &[u8],
        start: i32,
        nitems: i32,
        dest: &mut [u8],
    ) -> Result<usize> {
        let typesize = i64::from(self.read_header(src)?.basic.typesize);
        self.get_range(src, i64::from(start) * typesize, i64::from(nitems) * typesize, dest)
    }

    /// Reads the bytes `start..start + nbytes` of the uncompressed data to the start of `dest`;
    /// returns their number. `start` and `nbytes` must be multiples of the item size in the header.
    ///
    /// # Errors
    /// - [`Error::InvalidParam`] if they are negative or not multiples of the item size;
    /// - the errors of [`Decompressor::getitem`].
    pub fn getitem_bytes(
        &mut self,
        src: &[u8],
        start: i32,
        nbytes: i32,
        dest: &mut [u8],
    ) -> Result<usize> {
        if start < 0 || nbytes < 0 {
            return Err(Error::InvalidParam);
        }
        let typesize = i32::from(self.read_header(src)?.basic.typesize);
        if start % typesize != 0 || nbytes % typesize != 0 {
            return Err(Error::InvalidParam);
        }
        self.get_range(src, i64::from(start), i64::from(nbytes), dest)
    }

    fn get_range(&mut self, src: &[u8], start: i64, len: i64, dest: &mut [u8]) -> Result<usize> {
        let header = self.header_cache.header();
        if len == 0 {
            return Ok(0);
        }
        if len < 0 {
            return Err(Error::InvalidParam);
        }
        if len > i64::from(i32::MAX) || len as usize > dest.len() {
            return Err(Error::WriteBuffer);
        }
        if start < 0 || start + len > header.nbytes as i64 {
            return Err(Error::InvalidParam);
        }
        let (start, len) = (start as usize, len as usize);
        let dest = &mut dest[..len];
        let has_postfilter = self.params.postfilter.is_some();
        if header.special == Special::Unknown {
            return Err(Error::SchunkSpecial);
        }
        if header.special != Special::None && !has_postfilter {
            fill_special(src, header, start, dest)?;
            return Ok(len);
        }
        if header.is_memcpyed() && !header.lazy && !has_postfilter {
            let from = header.header_len() + start;
            kernels::copy::copy(src.get(from..from + len).ok_or(Error::ReadBuffer)?, dest);
            return Ok(len);
        }
        self.decode_range(src, start, dest)?;
        Ok(len)
    }

    fn decode_range(&mut self, src: &[u8], start: usize, dest: &mut [u8]) -> Result<()> {
        self.header_cache.prepare_pipeline();
        let mut view = self.header_cache.view(src);
        view.read_tables(self.params.lazy.as_deref(), BlockSelection::All)?;
        let view = &view;
        let decoder = BlockDecoder {
            view,
            pipeline: self.header_cache.pipeline(),
            params: &self.params,
            use_streaming_stores: false,
        };
        let first = view.block_of(start);
        let last = if start + dest.len() <= (first + 1) * view.blocksize {
            first
        } else {
            view.block_of(start + dest.len() - 1)
        };
        for nblock in first..=last {
            view.check_block(nblock)?;
        }
        let worker = self.workers.own();
        let mut reference = Reference::Own;
        if last > 0 && decoder.needs_reference() {
            view.check_block(0)?;
            reference = decoder.reference(worker, &mut self.reference)?;
        }
        let mut rest = dest;
        let mut from = start - first * view.blocksize;
        for nblock in first..=last {
            let block_len = view.block_len(nblock);
            let (dest, others) = rest.split_at_mut(rest.len().min(block_len - from));
            rest = others;
            if first == last
                && dest.len() < block_len
                && let Some(header) = self.header_cache.bytes()
                && let Some(block) =
                    self.block_cache.get(&decoder, worker, header, nblock, block_len)?
            {
                kernels::copy::copy(&block[from..from + dest.len()], dest);
                return Ok(());
            }
            let own_or = if nblock == 0 { Reference::Own } else { reference };
            if dest.len() == block_len {
                decoder.decode(worker, nblock, 0, own_or, dest)?;
            } else {
                decoder.decode_range(worker, nblock, own_or, block_len, from, dest)?;
            }
            from = 0;
        }
        Ok(())
    }

    /// Decodes blocks in the calling thread, in this order, and passes each to `visit` together with
    /// the value beside its index. Needs memory for one block only, while
    /// [`Decompressor::decompress`] needs that of the chunk. The postfilter and the mask of
    /// [`Decompressor::set_maskout`] are ignored.
    ///
    /// # Errors
    /// The errors of [`Decompressor::decompress`]; [`Error::InvalidParam`] for chunks of
    /// variable-length blocks.
    pub(crate) fn visit_blocks<B>(
        &mut self,
        src: &[u8],
        mut blocks: impl Iterator<Item = (usize, B)>,
        mut visit: impl FnMut(&B, &[u8]),
    ) -> Result<()> {
        self.read_header(src)?.check_stored(src.len())?;
        self.header_cache.prepare_pipeline();
        let mut view = self.header_cache.view(src);
        view.read_tables(self.params.lazy.as_deref(), BlockSelection::All)?;
        let view = &view;
        let decoder = BlockDecoder {
            view,
            pipeline: self.header_cache.pipeline(),
            params: &self.params,
            use_streaming_stores: false,
        };
        let worker = self.workers.own();
        let reference = decoder.reference(worker, &mut self.reference)?;
        let mut buffer = std::mem::take(&mut worker.partial_block);
        let result = blocks.try_for_each(|(nblock, value)| {
            let block = grown(&mut buffer, view.block_len(nblock))?;
            let own_or = if nblock == 0 { Reference::Own } else { reference };
            decoder.decode_plain(worker, nblock, own_or, block)?;
            visit(&value, block);
            Ok(())
        });
        worker.partial_block = buffer;
        result
    }

    /// Reads the header of a chunk, which must support random access.
    #[inline(always)]
    fn read_header(&mut self, src: &[u8]) -> Result<&ChunkHeader> {
        self.header_cache.read(src, self.params.blosc1)?;
        let header = self.header_cache.header();
        if header.vl_blocks {
            return Err(Error::InvalidParam);
        }
        if !header.lazy && header.cbytes > src.len() {
            return Err(Error::InvalidHeader);
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{CParams, Compressor, DParams};
    use crate::filter::{Slot, id};

    /// Blocks of 1000 bytes and a short last one.
    fn chunk(params: CParams) -> (Vec<u8>, Vec<u8>) {
        let data: Vec<u8> =
            (0..1_750u32).flat_map(|i| (i * i / 7).to_le_bytes()[..2].to_vec()).collect();
        let params = CParams { typesize: 2, blocksize: 1000, ..params };
        let chunk = Compressor::new(params).and_then(|mut it| it.compress_to_vec(&data)).unwrap();
        (data, chunk)
    }

    fn visited(chunk: &[u8], blocks: &[usize]) -> Result<Vec<(usize, Vec<u8>)>> {
        let mut seen = Vec::new();
        let blocks = blocks.iter().map(|&nblock| (nblock, nblock));
        Decompressor::new(DParams::default())
            .visit_blocks(chunk, blocks, |&nblock, block| seen.push((nblock, block.to_vec())))?;
        Ok(seen)
    }

    #[test]
    fn visited_blocks_have_the_bytes_of_the_chunk() {
        let mut delta = [Slot { id: id::NONE, meta: 0 }; 6];
        delta[5] = Slot { id: id::DELTA, meta: 0 };
        let pipelines = [
            CParams::default(),
            CParams { filters: delta, ..CParams::default() },
            CParams { clevel: 0, ..CParams::default() },
        ];
        for params in pipelines {
            let (data, chunk) = chunk(params);
            let block = |nblock: usize| {
                (nblock, data[nblock * 1000..data.len().min((nblock + 1) * 1000)].to_vec())
            };
            for blocks in [&[0, 1, 2, 3][..], &[3, 1], &[0], &[]] {
                let expected: Vec<_> = blocks.iter().copied().map(block).collect();
                assert_eq!(visited(&chunk, blocks), Ok(expected), "{blocks:?}");
            }
        }
    }

    #[test]
    fn damaged_chunks_are_errors() {
        let (_, chunk) = chunk(CParams::default());
        assert_eq!(visited(&chunk[..chunk.len() - 1], &[0]), Err(Error::InvalidHeader));
        let mut stored = self::chunk(CParams { clevel: 0, ..CParams::default() }).1;
        let cbytes = (stored.len() as i32 + 1).to_le_bytes();
        stored[12..16].copy_from_slice(&cbytes);
        stored.push(0);
        assert_eq!(visited(&stored, &[0]), Err(Error::Data));
    }
}
