//! A cache of the block from which items are read repeatedly.
//!
//! Callers that read single items mostly read several from one block, each in its own call. The
//! second read in a row caches the decoded block together with its stored bytes. Later calls
//! compare the stored bytes, which is far cheaper than decoding them, so the cache stays correct
//! when a chunk is changed or its memory is reused for another. Blocks that are cheap to decode are
//! not cached: raw and constant streams are read directly.

use super::block::BlockDecoder;
use crate::chunk::format::header::{ChunkHeader, Special};
use crate::chunk::format::limits::EXTENDED_HEADER_LENGTH;
use crate::chunk::format::streams::{Stream, StreamReader};
use crate::chunk::worker::state::Worker;
use crate::codec;
use crate::filter::{Reference, grown};
use crate::{Result, kernels};

/// The maximum size of a cached block, in bytes.
const MAX_BLOCK_LEN: usize = 1 << 20;

/// The number of repeated reads of a block before the first attempt to cache it.
const FIRST_ATTEMPT: u32 = 1;

/// The number of reads between attempts to cache a block; its memory may hold another chunk by
/// then.
const ATTEMPT_PERIOD: u32 = 8;

/// The divisor of the minimum saving: streams that compression shortens by less than
/// `1 / MIN_SAVING_DIVISOR` are cheap to decode.
const MIN_SAVING_DIVISOR: usize = 8;

/// The divisor of the minimum size of all other streams: their decoded size must be at least
/// `1 / MIN_CODED_DIVISOR` of the block's stored size, since all stored bytes are compared on each
/// read.
const MIN_CODED_DIVISOR: usize = 4;

/// At most one cached block.
#[derive(Default)]
pub(super) struct BlockCache {
    /// The header of the chunk.
    header: [u8; EXTENDED_HEADER_LENGTH],
    /// The stored bytes of the block.
    stored: Vec<u8>,
    /// The decoded bytes of the block; empty if none is cached.
    block: Vec<u8>,
    /// The address of the last block read without being cached, and the number of earlier reads in
    /// a row.
    address: usize,
    misses: u32,
}

impl BlockCache {
    /// Returns block `nblock` of `len` bytes if it is cached, or if this read causes it to be
    /// cached. `header` is that of the chunk.
    ///
    /// # Errors
    /// Returns the errors of decoding the block.
    pub fn get(
        &mut self,
        decoder: &BlockDecoder<'_>,
        worker: &mut Worker,
        header: &[u8; EXTENDED_HEADER_LENGTH],
        nblock: usize,
        len: usize,
    ) -> Result<Option<&[u8]>> {
        let view = decoder.view;
        if view.lazy.is_some() || view.header.is_memcpyed() || view.header.special != Special::None
        {
            return Ok(None);
        }
        let stored = &view.src[view.block_start(nblock)?..];
        let is_cached = self.is_cached(header, stored, len);
        if !is_cached && !self.count_miss(stored) || !decoder.is_self_contained(len) {
            return Ok(None);
        }
        if is_cached {
            return Ok(Some(&self.block));
        }
        let Some(stored) = cacheable_bytes(stored, view.streams(len), len) else {
            return Ok(None);
        };
        self.block.clear();
        grown(&mut self.block, len)?;
        if let Err(error) = self.fill(decoder, worker, nblock, stored) {
            self.block.clear();
            return Err(error);
        }
        self.header = *header;
        Ok(Some(&self.block))
    }

    /// Whether the block at the beginning of `stored` is the cached one.
    fn is_cached(&self, header: &[u8; EXTENDED_HEADER_LENGTH], stored: &[u8], len: usize) -> bool {
        self.block.len() == len
            && ChunkHeader::eq_except_cbytes(&self.header, header)
            && stored.starts_with(&self.stored)
    }

    /// Counts a read of an uncached block at the beginning of `stored`; returns whether to try to
    /// cache it.
    fn count_miss(&mut self, stored: &[u8]) -> bool {
        let address = stored.as_ptr().addr();
        self.misses = if self.address == address { self.misses.wrapping_add(1) } else { 0 };
        self.address = address;
        self.misses % ATTEMPT_PERIOD == FIRST_ATTEMPT
    }

    /// Decodes the block into `self.block`, which has its length, and copies its stored bytes.
    fn fill(
        &mut self,
        decoder: &BlockDecoder<'_>,
        worker: &mut Worker,
        nblock: usize,
        stored: &[u8],
    ) -> Result<()> {
        decoder.decode_plain(worker, nblock, Reference::Own, &mut self.block)?;
        self.stored.clear();
        self.stored.try_reserve_exact(stored.len())?;
        kernels::copy::append(stored, &mut self.stored);
        Ok(())
    }
}

/// Returns the stored bytes of a block at the beginning of `stored`, if it is expensive to decode
/// and cheap to compare. The block has `len` bytes in `streams` streams.
fn cacheable_bytes(stored: &[u8], streams: usize, len: usize) -> Option<&[u8]> {
    if len > MAX_BLOCK_LEN {
        return None;
    }
    let stream_len = len / streams;
    let mut expensive_len = 0;
    let mut rest = StreamReader(stored);
    for _ in 0..streams {
        // Errors are reported when the block is decoded.
        if let Stream::Coded(coded) = rest.next_stream(stream_len).ok()?
            && coded.len() < stream_len - stream_len / MIN_SAVING_DIVISOR
        {
            expensive_len += stream_len;
        }
    }
    let stored = &stored[..stored.len() - rest.0.len()];
    (MIN_CODED_DIVISOR * expensive_len >= stored.len()).then_some(stored)
}

impl BlockDecoder<'_> {
    /// Whether only the header and the stored bytes determine the decoded content of a block of
    /// `len` bytes of a regular chunk.
    fn is_self_contained(&self, len: usize) -> bool {
        let header = self.view.header;
        self.params.postfilter.is_none()
            && self.pipeline.is_builtin_only()
            && !self.pipeline.needs_reference()
            && !self.pipeline.needs_shape()
            && self.view.dictionary.is_none()
            && self.view.alternate_streams(len).is_none()
            && header.basic.format() != codec::format::USER
            && !header.instrumented
            && !header.vl_blocks
    }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use super::*;
    use crate::chunk::{CParams, Compressor, DParams, Decompressor};
    use crate::filter;

    const TYPESIZE: usize = 4;
    const ITEMS: usize = 3000;

    fn data(seed: u32) -> Vec<u8> {
        (0..ITEMS as u32).flat_map(|i| (i / 7 * seed + i % 13 * i % 5).to_le_bytes()).collect()
    }

    fn chunk(id: u8, compcode: u8, blocksize: i32, data: &[u8]) -> Vec<u8> {
        let mut params = CParams {
            typesize: TYPESIZE as i32,
            blocksize,
            compcode: compcode.into(),
            ..CParams::default()
        };
        params.filters = Default::default();
        params.filters[5].id = id;
        let mut compressor = Compressor::new(params).unwrap();
        compressor.compress_to_vec(data).unwrap()
    }

    fn item(decompressor: &mut Decompressor, chunk: &[u8], at: usize) -> Result<[u8; TYPESIZE]> {
        let mut item = [0; TYPESIZE];
        decompressor.getitem(chunk, at as i32, 1, &mut item)?;
        Ok(item)
    }

    #[test]
    fn a_block_is_cached_from_its_second_read_on() {
        let chunk = chunk(filter::id::SHUFFLE, codec::id::LZ4, 4096, &data(3));
        let mut reader = Decompressor::new(DParams::default());
        for (reads, cached) in [0, 4096, 4096].into_iter().enumerate() {
            item(&mut reader, &chunk, 2000 + reads).unwrap();
            assert_eq!(reader.block_cache.block.len(), cached, "after {} items", reads + 1);
        }
        // Alternating reads of different blocks are not counted.
        for _ in 0..3 {
            item(&mut reader, &chunk, 0).unwrap();
            assert_eq!(reader.block_cache.misses, 0);
            item(&mut reader, &chunk, 2500).unwrap();
            assert_eq!(reader.block_cache.misses, 0);
        }
    }

    #[test]
    fn blocks_of_stored_streams_are_not_cached() {
        let mut state = 1u32;
        let data: Vec<u8> = (0..ITEMS)
            .flat_map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16).to_le_bytes()
            })
            .collect();
        let chunk = chunk(filter::id::SHUFFLE, codec::id::LZ4, 4096, &data);
        assert!(chunk.len() < data.len() * 2 / 3, "two streams are constant");
        let mut reader = Decompressor::new(DParams::default());
        for at in 0..20 {
            let expected = &data[at * TYPESIZE..][..TYPESIZE];
            assert_eq!(item(&mut reader, &chunk, at).unwrap(), expected);
        }
        assert!(reader.block_cache.block.is_empty());
    }

    #[test]
    fn large_blocks_are_not_cached() {
        let data = [7, 8, 9, 1].repeat(MAX_BLOCK_LEN / 2);
        let chunk = chunk(filter::id::SHUFFLE, codec::id::LZ4, data.len() as i32, &data);
        let mut reader = Decompressor::new(DParams::default());
        for at in 0..5 {
            assert_eq!(item(&mut reader, &chunk, at), Ok([7, 8, 9, 1]));
        }
        assert!(reader.block_cache.block.is_empty());
    }

    #[test]
    fn a_cached_block_is_not_used_after_any_of_its_bytes_changes() {
        let data = data(3);
        let expected = &data[1500 * TYPESIZE..][..TYPESIZE];
        for id in [0, filter::id::SHUFFLE, filter::id::BITSHUFFLE, filter::id::DELTA] {
            for compcode in [codec::id::BLOSCLZ, codec::id::LZ4, codec::id::ZLIB, codec::id::ZSTD] {
                let mut chunk = chunk(id, compcode, 4096, &data);
                let mut reader = Decompressor::new(DParams::default());
                for at in (0..chunk.len()).step_by(3) {
                    for _ in 0..4 {
                        assert_eq!(item(&mut reader, &chunk, 1500).unwrap(), expected);
                    }
                    chunk[at] ^= 0x11;
                    let fresh = item(&mut Decompressor::new(DParams::default()), &chunk, 1500);
                    assert_eq!(item(&mut reader, &chunk, 1500), fresh, "{id}, {compcode}, {at}");
                    chunk[at] ^= 0x11;
                }
            }
        }
    }

    #[test]
    fn another_chunk_at_the_same_address_is_decoded_again() {
        let chunks =
            [3, 11].map(|seed| chunk(filter::id::SHUFFLE, codec::id::LZ4, 4096, &data(seed)));
        let mut buffer = vec![0; chunks[0].len().max(chunks[1].len())];
        let mut reader = Decompressor::new(DParams::default());
        for turn in 0..20 {
            let (chunk, data) = match turn / 5 % 2 {
                0 => (&chunks[0], data(3)),
                _ => (&chunks[1], data(11)),
            };
            buffer[..chunk.len()].copy_from_slice(chunk);
            let at = 100 * turn;
            let expected = &data[at * TYPESIZE..][..TYPESIZE];
            assert_eq!(item(&mut reader, &buffer, at).unwrap(), expected);
        }
    }

    #[test]
    fn a_truncated_block_is_not_read_from_the_cache() {
        let chunk = chunk(filter::id::SHUFFLE, codec::id::LZ4, 4096, &data(3));
        let mut reader = Decompressor::new(DParams::default());
        for _ in 0..4 {
            item(&mut reader, &chunk, ITEMS - 1).unwrap();
        }
        for len in (EXTENDED_HEADER_LENGTH..chunk.len()).rev().take(50) {
            let fresh = item(&mut Decompressor::new(DParams::default()), &chunk[..len], ITEMS - 1);
            assert_eq!(item(&mut reader, &chunk[..len], ITEMS - 1), fresh);
        }
    }
}
