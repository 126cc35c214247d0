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
