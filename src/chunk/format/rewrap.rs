//! Conversion of chunks between Blosc 1.x and Blosc2 without recompression.
//!
//! Both formats contain the same streams after a table of block starts. The header of Blosc2 is 16
//! bytes longer, which shifts all offsets. Some rules differ and forbid the conversion of a few
//! chunks: the splitting of blocks, the bitshuffle of item counts that are not a multiple of 8, and
//! runs, which Blosc 1.x does not have. (Source: the chunk formats of C-Blosc 1.21 and C-Blosc2.)

use super::header::{ChunkHeader, HeaderFields, Special, VERSION_BLOSC1, VERSION_STABLE, flag};
use super::limits::{EXTENDED_HEADER_LENGTH, MIN_HEADER_LENGTH, WORD, blosc1};
use super::view::{BlockSelection, ChunkView};
use crate::codec;
use crate::filter::{self, SLOTS, Slot};
use crate::kernels;

/// The number of items in a group of the bitshuffle.
const BITS: usize = 8;

/// Converts a Blosc 1.x chunk to Blosc2; returns `None` if it must be recompressed.
pub fn to_blosc2(chunk: &[u8]) -> Option<Vec<u8>> {
    let header = ChunkHeader::parse(chunk).ok()?;
    let basic = header.basic;
    let is_old = basic.version == VERSION_BLOSC1 && !basic.is_extended();
    if !is_old || basic.flags & flag::DELTA != 0 {
        return None;
    }
    let mut fields = fields_of(&header);
    fields.version = VERSION_STABLE;
    fields.flags |= flag::EXTENDED;
    fields.cbytes += EXTENDED_HEADER_LENGTH - MIN_HEADER_LENGTH;
    rewrapped(chunk, header, fields, |view, len| {
        // Refuses blocks for which the reader of old chunks would have to try both numbers of
        // streams.
        (view.alternate_streams(len).is_none()).then(|| view.streams(len))
    })
}

/// Converts a Blosc2 chunk to Blosc 1.x; returns `None` if it must be recompressed.
pub fn to_blosc1(chunk: &[u8]) -> Option<Vec<u8>> {
    let header = ChunkHeader::parse(chunk).ok()?;
    let is_new = header.basic.version == VERSION_STABLE && header.basic.is_extended();
    let is_special = header.special != Special::None || header.lazy || header.instrumented;
    if !is_new || is_special || header.vl_blocks || header.use_dict {
        return None;
    }
    let mut fields = fields_of(&header);
    fields.version = VERSION_BLOSC1;
    fields.flags &= !(flag::EXTENDED | flag::DELTA);
    fields.flags |= match only_filter(&header.filters)? {
        filter::id::SHUFFLE => flag::SHUFFLE,
        filter::id::BITSHUFFLE => flag::BITSHUFFLE,
        filter::id::NONE => 0,
        _ => return None,
    };
    fields.cbytes -= EXTENDED_HEADER_LENGTH - MIN_HEADER_LENGTH;
    if header.nbytes > blosc1::MAX_BUFFERSIZE || header.basic.blocksize > blosc1::MAX_BLOCKSIZE {
        return None;
    }
    rewrapped(chunk, header, fields, |view, len| {
        let typesize = view.header.typesize();
        let may_split = typesize <= blosc1::MAX_STREAMS && len / typesize >= blosc1::MIN_STREAM;
        let streams = view.streams(len);
        (streams == 1 || may_split).then_some(streams)
    })
}

/// Returns the only filter of a pipeline, or `None` if there are several or it has a parameter.
fn only_filter(slots: &[Slot; SLOTS]) -> Option<u8> {
    let mut filters = slots.iter().filter(|slot| slot.id != filter::id::NONE);
    let only = filters.next().copied().unwrap_or_default();
    (only.meta == 0 && filters.next().is_none()).then_some(only.id)
}

fn fields_of(header: &ChunkHeader) -> HeaderFields {
    HeaderFields {
        version: header.basic.version,
        versionlz: header.basic.versionlz,
        flags: header.basic.flags,
        typesize: header.basic.typesize,
        nbytes: header.nbytes,
        blocksize: header.blocksize(),
        cbytes: header.cbytes,
        filters: header.filters,
        udcodec: 0,
        codec_meta: 0,
        flags2: 0,
        blosc2_flags: 0,
    }
}

/// Returns a chunk with the header `fields` and the streams of `chunk`. `streams_of` returns the
/// number of streams of a full block of the given length, or `None` if the formats differ in it.
fn rewrapped(
    chunk: &[u8],
    header: ChunkHeader,
    mut fields: HeaderFields,
    streams_of: impl Fn(&ChunkView<'_>, usize) -> Option<usize>,
) -> Option<Vec<u8>> {
    let chunk = chunk.get(..header.cbytes)?;
    let format = header.basic.format();
    // Snappy by its number: its row is missing in builds without it.
    if format == codec::format::SNAPPY || format >= codec::format::USER || header.nbytes == 0 {
        return None;
    }
    let (from, to) = (header.header_len(), fields.header_len());
    let mut rewrapped = Vec::new();
    rewrapped.try_reserve_exact(fields.cbytes).ok()?;
    rewrapped.resize(to, 0);
    kernels::copy::append(chunk.get(from..)?, &mut rewrapped);
    if header.is_memcpyed() {
        fields.write(&mut rewrapped);
        return (chunk.len() == from + header.nbytes).then_some(rewrapped);
    }
    let view = ChunkView::new(chunk, &header, None, BlockSelection::All).ok()?;
    let is_bitshuffled = header.filters.iter().any(|slot| slot.id == filter::id::BITSHUFFLE);
    for block in 0..view.nblocks {
        let len = view.block_len(block);
        let items = header.typesize() * BITS;
        if is_bitshuffled && !len.is_multiple_of(items) {
            return None;
        }
        let streams = if len == view.block_len(0) { streams_of(&view, len)? } else { 1 };
        if block == 0 && streams == 1 {
            fields.flags |= flag::NOT_SPLIT;
        }
        let start = view.block_start(block).ok()?;
        check_streams(chunk, start, streams, len)?;
        let at = to + block * WORD;
        let moved = i32::try_from(start - from + to).ok()?;
        rewrapped[at..at + WORD].copy_from_slice(&moved.to_le_bytes());
    }
    fields.write(&mut rewrapped);
    Some(rewrapped)
}

/// Checks that all streams of a block are inside the chunk and that none is a run.
fn check_streams(chunk: &[u8], start: usize, streams: usize, len: usize) -> Option<()> {
    let mut at = start;
    for _ in 0..streams {
        let word = chunk.get(at..)?.first_chunk()?;
        let size = usize::try_from(i32::from_le_bytes(*word)).ok()?;
        at = at.checked_add(WORD)?.checked_add(size)?;
        if size == 0 || size > len || at > chunk.len() {
            return None;
        }
    }
    Some(())
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use super::*;
    use crate::blosc1::{Call, Engine, Params};
    use crate::chunk::{CParams, Compressor, DParams, Decompressor, SplitMode};
    use crate::codec::id;

    /// Increasing numbers with some noise.
    fn data(len: usize) -> Vec<u8> {
        let noise = |k: u64| k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61;
        let numbers = (0..).flat_map(|k: u64| (k * 3 + noise(k)).to_le_bytes());
        numbers.take(len).collect()
    }

    fn old_chunk(codec: u8, shuffle: i32, clevel: i32, typesize: usize, data: &[u8]) -> Vec<u8> {
        let params = Params {
            call: Call { clevel, shuffle, typesize },
            compressor: Some(codec),
            blocksize: 0,
            splitmode: SplitMode::FORWARD_COMPAT,
            nthreads: 1,
        };
        let mut chunk = vec![0; data.len() + MIN_HEADER_LENGTH];
        let len = Engine::default().compress(&params, data, &mut chunk);
        chunk.truncate(len.unwrap());
        chunk
    }

    #[test]
    fn conversion_keeps_the_streams_in_both_directions() {
        for codec in [id::BLOSCLZ, id::LZ4, id::LZ4HC, id::ZLIB, id::ZSTD] {
            for (shuffle, clevel, typesize, len) in [
                (0, 5, 8, 500_000),
                (1, 5, 8, 500_000),
                (2, 5, 8, 1 << 19),
                (1, 9, 4, 123_456),
                (1, 1, 1, 65_536),
                (1, 0, 4, 40_000),
                (1, 5, 40, 400_000),
            ] {
                let data = data(len);
                let old = old_chunk(codec, shuffle, clevel, typesize, &data);
                let name = format!("{codec} {shuffle} {clevel} {typesize}");
                let new = to_blosc2(&old).expect(&name);
                assert_eq!(new.len(), old.len() + 16);
                let mut plain = vec![0; len];
                let mut decompressor = Decompressor::new(DParams::default());
                assert_eq!(decompressor.decompress(&new, &mut plain), Ok(len), "{name}");
                assert!(plain == data, "{name}");
                let back = to_blosc1(&new).expect(&name);
                plain.fill(0);
                assert_eq!(Engine::default().decompress(&back, 1, &mut plain), Ok(len));
                assert!(plain == data, "{name}");
                // Equal except for the split flag, which old readers derive themselves.
                assert_eq!(back[3..], old[3..], "{name}");
            }
        }
    }

    #[test]
    fn chunks_that_only_one_format_can_represent_are_not_converted() {
        let plain = data(100_000);
        assert!(to_blosc2(&old_chunk(id::SNAPPY, 1, 5, 8, &plain)).is_none());
        // The last group of eight items is incomplete: 3 items.
        let odd = &plain[..(1 << 12) + 24];
        assert!(to_blosc2(&old_chunk(id::LZ4, 2, 5, 8, odd)).is_none());
        assert!(to_blosc2(&[]).is_none());
        let new = |params: CParams, data: &[u8]| {
            Compressor::new(params).unwrap().compress_to_vec(data).unwrap()
        };
        let lz4 = CParams::default().codec(id::LZ4);
        let chunk = new(lz4.clone(), &plain);
        assert!(to_blosc2(&chunk).is_none());
        // A chunk that begins with a run of zeros, a pipeline of two filters, a filter of Blosc2, a
        // chunk of zeros.
        let mut zeros = vec![0; 100_000];
        zeros[99_999] = 1;
        assert!(to_blosc1(&new(lz4.clone(), &zeros)).is_none());
        let slot = |id| Slot { id, meta: 0 };
        let two = [slot(filter::id::DELTA), slot(filter::id::SHUFFLE)];
        assert!(to_blosc1(&new(lz4.clone().filters(&two), &plain)).is_none());
        let delta = [slot(filter::id::DELTA)];
        assert!(to_blosc1(&new(lz4.clone().filters(&delta), &plain)).is_none());
        assert!(to_blosc1(&new(lz4, &[0; 1000])).is_none());
    }

    #[test]
    fn broken_chunks_are_refused() {
        let old = old_chunk(id::LZ4, 1, 5, 8, &data(300_000));
        let new = to_blosc2(&old).unwrap();
        for (chunk, rewrap) in
            [(&old, to_blosc2 as fn(&[u8]) -> Option<Vec<u8>>), (&new, to_blosc1)]
        {
            for len in 0..chunk.len().min(200) {
                assert!(rewrap(&chunk[..len]).is_none());
            }
            assert!(rewrap(&chunk[..chunk.len() - 1]).is_none());
            let first = usize::from(chunk.len() == new.len()) * 16 + 16;
            // A block start inside the table, and an empty first stream.
            let mut broken = chunk.clone();
            broken[first..first + 4].fill(0);
            assert!(rewrap(&broken).is_none());
            let start = i32::from_le_bytes(*chunk[first..].first_chunk().unwrap()) as usize;
            let mut broken = chunk.clone();
            broken[start..start + 4].fill(0);
            assert!(rewrap(&broken).is_none());
        }
    }
}
