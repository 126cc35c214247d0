//! The division of a chunk into blocks, and of blocks into streams.

use super::header::{ChunkHeader, VERSION_BLOSC1, div_rem};
use super::limits::{WORD, blosc1};

/// Returns the little-endian word at offset `at`, or `None` past the end.
pub(crate) fn word_at(src: &[u8], at: usize) -> Option<i32> {
    let bytes = src.get(at..)?.first_chunk::<WORD>()?;
    Some(i32::from_le_bytes(*bytes))
}

/// The division of a chunk into blocks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Blocking {
    /// The size of a full block in bytes; 0 for variable-length blocks.
    pub size: usize,
    pub count: usize,
    /// The number of streams of a full block.
    pub streams: usize,
}

impl Blocking {
    /// Returns the blocking of a chunk with this header.
    pub fn of(header: &ChunkHeader) -> Blocking {
        if header.vl_blocks {
            return Blocking { size: 0, count: header.basic.blocksize as usize, streams: 1 };
        }
        let size = header.blocksize();
        let (full, rest) = div_rem(header.nbytes, size);
        Blocking {
            size,
            count: full + usize::from(rest > 0),
            streams: Blocking::streams_of(header, size),
        }
    }

    fn streams_of(header: &ChunkHeader, blocksize: usize) -> usize {
        let typesize = header.typesize();
        let is_guarded = header.basic.version <= VERSION_BLOSC1;
        let may_split =
            typesize <= blosc1::MAX_STREAMS && blocksize / typesize >= blosc1::MIN_STREAM;
        if header.is_split() && (may_split || !is_guarded) { typesize } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::format::limits::EXTENDED_HEADER_LENGTH;
    use crate::chunk::format::view::ChunkView;

    /// Returns an extended header with these sizes, without filters.
    fn header(nbytes: i32, blocksize: i32, typesize: u8, flags: u8) -> crate::Result<ChunkHeader> {
        let mut bytes = [0; EXTENDED_HEADER_LENGTH];
        bytes[..4].copy_from_slice(&[5, 1, 0x05 | flags, typesize]);
        bytes[4..8].copy_from_slice(&nbytes.to_le_bytes());
        bytes[8..12].copy_from_slice(&blocksize.to_le_bytes());
        bytes[12..16].copy_from_slice(&1000_i32.to_le_bytes());
        ChunkHeader::parse(&bytes)
    }

    #[test]
    fn the_blocks_of_every_small_chunk_are_its_bytes() {
        const NOT_SPLIT: u8 = 0x10;
        let mut checked = 0;
        for nbytes in 0..=40 {
            for blocksize in 1..=45 {
                for typesize in 1..=9 {
                    for flags in [0, NOT_SPLIT] {
                        let Ok(header) = header(nbytes, blocksize, typesize, flags) else {
                            continue;
                        };
                        let blocking = Blocking::of(&header);
                        let case = (nbytes, blocksize, typesize, flags);
                        // Blocks of more than one item end with an item, except the last one.
                        let (size, item) = (blocking.size, usize::from(typesize));
                        assert!(size > 0 && size <= blocksize as usize, "{case:?}");
                        let is_whole = size % item == 0 || size < item || size == nbytes as usize;
                        assert!(is_whole, "{case:?}");
                        assert!(blocking.streams == 1 || blocking.streams == item, "{case:?}");
                        assert_eq!(flags == 0, header.is_split());
                        let view = ChunkView::from_header(&[], &header, blocking);
                        let mut end = 0;
                        for block in 0..blocking.count {
                            assert_eq!(view.block_offset(block), end, "{case:?}");
                            let len = view.block_len(block);
                            assert!(len > 0 && len <= size, "{case:?}");
                            assert_eq!(
                                view.streams(len),
                                if len < size { 1 } else { blocking.streams }
                            );
                            assert!(
                                (end..end + len).all(|at| view.block_of(at) == block),
                                "{case:?}"
                            );
                            end += len;
                        }
                        assert_eq!(end, nbytes as usize, "{case:?}");
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 10_000, "{checked}");
    }

    #[test]
    fn quotients_and_remainders_are_right_for_all_small_and_all_boundary_numbers() {
        let boundaries =
            [i32::MAX as usize, i32::MAX as usize - 1, 1 << 30, (1 << 30) - 1, 536_866_816];
        let numbers: Vec<usize> = (0..300).chain(boundaries).collect();
        for &number in &numbers {
            for &by in numbers.iter().filter(|by| **by > 0) {
                assert_eq!(div_rem(number, by), (number / by, number % by), "{number} {by}");
            }
        }
    }
}
