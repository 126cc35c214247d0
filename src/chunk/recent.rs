//! The block that items are read from again and again.
//!
//! Whoever reads single items mostly reads several of a block, each in a call of its own. The second in a row has the
//! block kept as it is when decoded, with the bytes it was stored as. A later call finds the same bytes, and need not decode
//! them: to compare them takes far less. So nothing goes wrong when a chunk is changed or another one comes to lie in its
//! place. Blocks that take little to decode are not kept, as raw and constant streams are read where they are.

use super::block::{BlockDecoder, Stored, Stream};
use super::header::{ChunkHeader, EXTENDED_HEADER_LENGTH, Special};
use super::worker::Worker;
use crate::Result;
use crate::codec;
use crate::filter::{self, Reference, grown};

/// Larger blocks are not kept.
const MAX_BLOCK: usize = 1 << 20;

/// So many times a block is read from before it is looked at whether it should be kept …
const PATIENCE: u32 = 1;

/// … and so often it is then looked at: other chunks may come to lie in its place.
const PERIOD: u32 = 8;

/// Streams that are shorter than their content by less than this part of it are quickly decoded …
const QUICK: usize = 8;

/// … and what the others stand for must be this part of what is stored for the block, at least, as all of that is
/// compared.
const LEAST_SLOW: usize = 4;

/// Filters that want to know the shape of the array.
const OF_ARRAYS: [u8; 2] = [filter::id::NDCELL, filter::id::NDMEAN];

/// A block that is kept, or none yet.
#[derive(Default)]
pub(super) struct RecentBlock {
    /// The header of its chunk.
    header: [u8; EXTENDED_HEADER_LENGTH],
    /// The bytes it was decoded from.
    stored: Vec<u8>,
    /// What they stand for; empty if none is kept.
    block: Vec<u8>,
    /// Where the block lies that was last read from without being kept, and how often it had been so before.
    place: usize,
    times: u32,
}

impl RecentBlock {
    /// Block `nblock` of `len` bytes, if it is kept or has been read from so often that it is from now on. `header` is
    /// that of the chunk.
    ///
    /// # Errors
    /// Those of decoding it.
    pub fn block(
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
        let is_kept = self.is_kept(header, stored, len);
        if !is_kept && !self.is_due(stored) || !decoder.needs_nothing_else(len) {
            return Ok(None);
        }
        if is_kept {
            return Ok(Some(&self.block));
        }
        let Some(stored) = worth_keeping(stored, view.streams(len), len) else {
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

    /// Whether the block at the beginning of `stored` is the one that is kept.
    fn is_kept(&self, header: &[u8; EXTENDED_HEADER_LENGTH], stored: &[u8], len: usize) -> bool {
        self.block.len() == len
            && ChunkHeader::is_same_but_cbytes(&self.header, header)
            && stored.starts_with(&self.stored)
    }

    /// Whether it is time to see if the block that begins with `stored`, which has not been kept, should be.
    fn is_due(&mut self, stored: &[u8]) -> bool {
        let place = stored.as_ptr().addr();
        self.times = match self.place == place {
            true => self.times.wrapping_add(1),
            false => 0,
        };
        self.place = place;
        self.times % PERIOD == PATIENCE
    }

    /// Decodes the block, which has been given its length, and keeps the bytes that it is stored as.
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
        self.stored.extend_from_slice(stored);
        Ok(())
    }
}

/// The bytes that a block of `len` bytes in so many streams is stored as, at the beginning of `stored`, if it takes
/// much to decode them and little to compare them.
fn worth_keeping(stored: &[u8], streams: usize, len: usize) -> Option<&[u8]> {
    if len > MAX_BLOCK {
        return None;
    }
    let stream_len = len / streams;
    let mut slow = 0;
    let mut rest = Stored::at(stored);
    for _ in 0..streams {
        // Whoever decodes the block finds out what is wrong.
        if let Stream::Coded(coded) = rest.next(stream_len).ok()?
            && coded.len() < stream_len - stream_len / QUICK
        {
            slow += stream_len;
        }
    }
    let stored = &stored[..stored.len() - rest.left()];
    (LEAST_SLOW * slow >= stored.len()).then_some(stored)
}

impl BlockDecoder<'_> {
    /// Whether nothing but the header and its stored bytes decides what a block of `len` bytes of an ordinary chunk
    /// is decoded to.
    fn needs_nothing_else(&self, len: usize) -> bool {
        let header = self.view.header;
        self.params.postfilter.is_none()
            && self.pipeline.is_builtin_only()
            && !self.pipeline.has_delta()
            && !header
                .filters
                .iter()
                .any(|slot| OF_ARRAYS.contains(&slot.id))
            && self.view.dictionary.is_none()
            && self.view.streams_instead(len).is_none()
            && header.basic.format() != codec::format::USER
            && !header.instrumented
            && !header.vl_blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::{CParams, Compressor, DParams, Decompressor};

    const TYPESIZE: usize = 4;
    const ITEMS: usize = 3000;

    fn data(seed: u32) -> Vec<u8> {
        (0..ITEMS as u32)
            .flat_map(|i| (i / 7 * seed + i % 13 * i % 5).to_le_bytes())
            .collect()
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
    fn a_block_is_kept_from_its_second_item_on() {
        let chunk = chunk(filter::id::SHUFFLE, codec::id::LZ4, 4096, &data(3));
        let mut reader = Decompressor::new(DParams::default());
        for (times, kept) in [0, 4096, 4096].into_iter().enumerate() {
            item(&mut reader, &chunk, 2000 + times).unwrap();
            assert_eq!(reader.recent.block.len(), kept, "after {} items", times + 1);
        }
        // Others in between don't count.
        for _ in 0..3 {
            item(&mut reader, &chunk, 0).unwrap();
            assert_eq!(reader.recent.times, 0);
            item(&mut reader, &chunk, 2500).unwrap();
            assert_eq!(reader.recent.times, 0);
        }
    }

    #[test]
    fn blocks_of_raw_streams_are_not_kept() {
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
        assert!(reader.recent.block.is_empty());
    }

    #[test]
    fn large_blocks_are_not_kept() {
        let data = [7, 8, 9, 1].repeat(MAX_BLOCK / 2);
        let chunk = chunk(
            filter::id::SHUFFLE,
            codec::id::LZ4,
            data.len() as i32,
            &data,
        );
        let mut reader = Decompressor::new(DParams::default());
        for at in 0..5 {
            assert_eq!(item(&mut reader, &chunk, at), Ok([7, 8, 9, 1]));
        }
        assert!(reader.recent.block.is_empty());
    }

    #[test]
    fn a_kept_block_is_forgotten_when_any_of_its_bytes_changes() {
        for id in [
            0,
            filter::id::SHUFFLE,
            filter::id::BITSHUFFLE,
            filter::id::DELTA,
        ] {
            for compcode in [
                codec::id::BLOSCLZ,
                codec::id::LZ4,
                codec::id::ZLIB,
                codec::id::ZSTD,
            ] {
                let mut chunk = chunk(id, compcode, 4096, &data(3));
                let mut reader = Decompressor::new(DParams::default());
                for at in (0..chunk.len()).step_by(3) {
                    for _ in 0..4 {
                        let expected = &data(3)[1500 * TYPESIZE..][..TYPESIZE];
                        assert_eq!(item(&mut reader, &chunk, 1500).unwrap(), expected);
                    }
                    chunk[at] ^= 0x11;
                    let fresh = item(&mut Decompressor::new(DParams::default()), &chunk, 1500);
                    assert_eq!(
                        item(&mut reader, &chunk, 1500),
                        fresh,
                        "{id}, {compcode}, {at}"
                    );
                    chunk[at] ^= 0x11;
                }
            }
        }
    }

    #[test]
    fn another_chunk_in_the_same_place_is_read_anew() {
        let chunks =
            [3, 11].map(|seed| chunk(filter::id::SHUFFLE, codec::id::LZ4, 4096, &data(seed)));
        let mut place = vec![0; chunks[0].len().max(chunks[1].len())];
        let mut reader = Decompressor::new(DParams::default());
        for turn in 0..20 {
            let (chunk, data) = match turn / 5 % 2 {
                0 => (&chunks[0], data(3)),
                _ => (&chunks[1], data(11)),
            };
            place[..chunk.len()].copy_from_slice(chunk);
            let at = 100 * turn;
            let expected = &data[at * TYPESIZE..][..TYPESIZE];
            assert_eq!(item(&mut reader, &place, at).unwrap(), expected);
        }
    }

    #[test]
    fn a_block_cut_off_behind_is_not_read_from_what_is_kept() {
        let chunk = chunk(filter::id::SHUFFLE, codec::id::LZ4, 4096, &data(3));
        let mut reader = Decompressor::new(DParams::default());
        for _ in 0..4 {
            item(&mut reader, &chunk, ITEMS - 1).unwrap();
        }
        for len in (EXTENDED_HEADER_LENGTH..chunk.len()).rev().take(50) {
            let fresh = item(
                &mut Decompressor::new(DParams::default()),
                &chunk[..len],
                ITEMS - 1,
            );
            assert_eq!(item(&mut reader, &chunk[..len], ITEMS - 1), fresh);
        }
    }
}
