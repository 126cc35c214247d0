//! Block sizes, and the splitting of blocks into streams.
//!
//! The rules are those of C-Blosc2, so that chunks have the sizes users expect. They depend only on
//! the parameters and the buffer, never on earlier calls.

use super::blosc1;
use crate::chunk::format::limits::{MAX_BLOCKSIZE, MAX_TYPESIZE};
use crate::chunk::params::{CParams, HeaderForm, SplitMode};
use crate::{codec, filter};

/// The minimum size in bytes of buffers that are compressed.
pub(super) const MIN_BUFFERSIZE: usize = 32;

const KIB: usize = 1024;
/// The minimum size in bytes of buffers with several blocks; smaller ones become one block.
const MIN_MULTIBLOCK_SIZE: usize = 32 * KIB;
/// Bounds of automatic block sizes with splitting.
const MIN_SPLIT_BLOCK: usize = 32 * KIB;
const MAX_SPLIT_BLOCK: usize = 4096 * KIB;
/// The maximum item size for automatic splitting, in bytes.
const MAX_STREAMS: usize = 16;
/// The minimum length of a stream for automatic splitting, in bytes.
const MIN_STREAM: usize = 32;

/// Automatic block sizes in KiB by level, for fast and for dense codecs.
const FAST_BLOCK_KIB: [usize; 10] = [8, 16, 32, 64, 128, 128, 256, 256, 256, 256];
const DENSE_BLOCK_KIB: [usize; 10] = [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024];
/// Stream lengths in KiB by level, if blocks are split.
const STREAM_KIB: [usize; 10] = [0, 32, 32, 32, 64, 64, 64, 128, 256, 512];

/// Whether full blocks of `blocksize` bytes are split into `typesize` streams.
pub(super) fn would_split(params: &CParams, typesize: usize, blocksize: usize) -> bool {
    if params.header == HeaderForm::Blosc1 {
        return blosc1::would_split(params, typesize, blocksize);
    }
    match params.splitmode {
        SplitMode::ALWAYS => true,
        SplitMode::NEVER => false,
        _ => {
            codec::info(params.compcode)
                .and_then(|codec| codec.max_split_level)
                .is_some_and(|level| params.clevel <= i32::from(level))
                && params.filters.iter().any(|slot| slot.id == filter::id::SHUFFLE)
                && typesize <= MAX_STREAMS
                && blocksize / typesize >= MIN_STREAM
        }
    }
}

/// Returns the block size for `nbytes` bytes of data. `typesize` is the unclamped item size, at
/// most [`MAX_BLOCKSIZE`]. A `requested` size of 0 selects the automatic choice. The result is
/// never 0, and at most `nbytes` unless the buffer is empty.
pub(super) fn blocksize(
    params: &CParams,
    nbytes: usize,
    typesize: usize,
    requested: usize,
) -> usize {
    if params.header == HeaderForm::Blosc1 {
        let typesize = if typesize > MAX_TYPESIZE { 1 } else { typesize };
        return blosc1::blocksize(params, nbytes, typesize, requested);
    }
    if nbytes < typesize {
        return 1;
    }
    let wanted = if requested != 0 {
        let limit = MAX_BLOCKSIZE as usize;
        requested.min(limit - limit % typesize)
    } else {
        automatic(params, nbytes, typesize)
    };
    let blocksize = wanted.min(nbytes);
    if blocksize > typesize { blocksize - blocksize % typesize } else { blocksize }
}

fn automatic(params: &CParams, nbytes: usize, typesize: usize) -> usize {
    let level = params.clevel.clamp(0, 9) as usize;
    if level > 0 && would_split(params, typesize, nbytes) {
        return (STREAM_KIB[level] * KIB)
            .saturating_mul(typesize)
            .clamp(MIN_SPLIT_BLOCK, MAX_SPLIT_BLOCK);
    }
    if nbytes < MIN_MULTIBLOCK_SIZE {
        return nbytes;
    }
    let is_dense = codec::info(params.compcode).is_some_and(|codec| codec.has_large_blocks);
    KIB * if is_dense { DENSE_BLOCK_KIB[level] } else { FAST_BLOCK_KIB[level] }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use super::*;
    use crate::codec::id;

    fn automatic_of(compcode: u8, level: u8, typesize: usize, nbytes: usize) -> usize {
        let params = CParams::default().codec(compcode).level(level);
        blocksize(&params, nbytes, typesize, 0)
    }

    #[test]
    fn block_sizes_equal_those_of_the_reference() {
        assert_eq!(automatic_of(id::BLOSCLZ, 5, 8, 10_000_000), 512 * KIB);
        assert_eq!(automatic_of(id::ZSTD, 9, 1, 2_147_483_615), 1024 * KIB);
        assert_eq!(automatic_of(id::BLOSCLZ, 5, 300, 2560), 2400);
        assert_eq!(automatic_of(id::BLOSCLZ, 5, 8, 0), 1);
        assert_eq!(automatic_of(id::LZ4, 9, 8, 100 << 20), 4096 * KIB);
    }

    #[test]
    fn forced_block_sizes_are_rounded_to_whole_items_and_capped() {
        let params = CParams::default();
        assert_eq!(blocksize(&params, 100_000, 16, 1000), 992);
        assert_eq!(blocksize(&params, 1001, 16, 100_000), 992);
        assert_eq!(blocksize(&params, 1000, 16, 5), 5);
        assert_eq!(blocksize(&params, 200, 1000, 50), 1);
        assert_eq!(blocksize(&params, 1 << 30, 7, 1 << 30), (MAX_BLOCKSIZE as usize) / 7 * 7);
    }
}
