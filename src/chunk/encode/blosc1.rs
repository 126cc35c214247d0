//! The block sizes and the splitting rules of Blosc 1.x, for chunks that its readers can decode.
//!
//! Readers before 1.11 have no flag for splitting: they assume that every full block of items of up
//! to 16 bytes with streams of at least 128 bytes is split. The writer must do the same, whatever
//! mode is requested. (Source: the C-Blosc 1.21 chunk format.)

use crate::chunk::format::limits::blosc1::{MAX_BLOCKSIZE, MAX_STREAMS, MIN_STREAM};
use crate::chunk::params::{CParams, SplitMode};
use crate::codec::{self, Blosc1Splitting};

/// The minimum size in bytes of buffers that are compressed, and of forced blocks.
pub(super) const MIN_BUFFERSIZE: usize = 128;

const KIB: usize = 1024;
/// The minimum size in bytes of buffers with several blocks; smaller ones become one block.
const MIN_MULTIBLOCK_SIZE: usize = 32 * KIB;
/// The maximum stream length, and the bounds of the size of a split block.
const MAX_SPLIT_STREAM: usize = 256 * KIB;
const MIN_SPLIT_BLOCK: usize = 64 * KIB;
const MAX_SPLIT_BLOCK: usize = 1024 * KIB;
/// Automatic block sizes in KiB by level, for fast and for dense codecs.
const FAST_BLOCK_KIB: [usize; 10] = [8, 16, 32, 64, 128, 128, 256, 256, 256, 256];
const DENSE_BLOCK_KIB: [usize; 10] = [16, 32, 64, 128, 256, 256, 512, 512, 512, 1024];

/// Whether full blocks of `blocksize` bytes are split into `typesize` streams.
pub(super) fn would_split(params: &CParams, typesize: usize, blocksize: usize) -> bool {
    let splitting = codec::info(params.compcode).map(|codec| codec.blosc1_splitting);
    let codec_splits = match params.splitmode {
        SplitMode::NEVER => false,
        SplitMode::AUTO => splitting == Some(Blosc1Splitting::Automatic),
        SplitMode::FORWARD_COMPAT => splitting != Some(Blosc1Splitting::OnRequest),
        _ => true,
    };
    codec_splits && typesize <= MAX_STREAMS && blocksize / typesize >= MIN_STREAM
}

/// Returns the block size for `nbytes` bytes of data with these parameters.
pub(crate) fn blocksize_for(params: &CParams, nbytes: usize) -> usize {
    let typesize = params.typesize.max(1) as usize;
    blocksize(params, nbytes, typesize, params.blocksize.max(0) as usize)
}

/// Returns the block size for `nbytes` bytes of items of `typesize` bytes; a `requested` size of 0
/// selects the automatic choice.
pub(super) fn blocksize(
    params: &CParams,
    nbytes: usize,
    typesize: usize,
    requested: usize,
) -> usize {
    if nbytes < typesize {
        return 1;
    }
    let level = params.clevel.clamp(0, 9) as usize;
    let mut blocksize = if requested != 0 {
        requested.clamp(MIN_BUFFERSIZE, MAX_BLOCKSIZE as usize)
    } else if nbytes < MIN_MULTIBLOCK_SIZE {
        nbytes
    } else if codec::info(params.compcode).is_some_and(|codec| codec.has_large_blocks) {
        DENSE_BLOCK_KIB[level] * KIB
    } else {
        FAST_BLOCK_KIB[level] * KIB
    };
    // C-Blosc splits in the mode ALWAYS, whatever the size is. Larger blocks make this readable.
    let is_raised = match params.splitmode {
        SplitMode::NEVER | SplitMode::AUTO | SplitMode::FORWARD_COMPAT => {
            would_split(params, typesize, blocksize)
        }
        _ => typesize <= MAX_STREAMS,
    };
    if level > 0 && is_raised {
        blocksize =
            (blocksize.min(MAX_SPLIT_STREAM) * typesize).clamp(MIN_SPLIT_BLOCK, MAX_SPLIT_BLOCK);
    }
    blocksize = blocksize.min(nbytes);
    if blocksize > typesize { blocksize - blocksize % typesize } else { blocksize }
}

#[cfg(all(test, feature = "default"))]
mod tests {
    use super::*;
    use crate::codec::id;

    fn of(codec: u8, typesize: usize, level: u8) -> (usize, bool) {
        let params = CParams::default().codec(codec).level(level);
        let size = blocksize(&params, 8 << 20, typesize, 0);
        (size, would_split(&params, typesize, size))
    }

    #[test]
    fn block_sizes_equal_those_of_blosc_1() {
        assert_eq!(of(id::BLOSCLZ, 1, 0), (8192, true));
        assert_eq!(of(id::LZ4, 1, 1), (65536, true));
        assert_eq!(of(id::LZ4, 4, 3), (262_144, true));
        assert_eq!(of(id::SNAPPY, 8, 5), (1_048_576, true));
        assert_eq!(of(id::LZ4, 17, 9), (262_140, false));
        assert_eq!(of(id::ZLIB, 2, 2), (131_072, true));
        assert_eq!(of(id::LZ4HC, 17, 9), (1_048_560, false));
        assert_eq!(of(id::ZSTD, 8, 9), (1_048_576, false));
    }

    #[test]
    fn row_l12_a_forced_size_is_raised_for_codecs_that_split() {
        let params = CParams::default().codec(id::LZ4);
        assert_eq!(blocksize(&params, 8 << 20, 4, 4096), 65536);
        assert_eq!(blocksize(&params, 8 << 20, 24, 40), 120);
    }

    #[test]
    fn row_l12_always_splitting_raises_every_forced_size() {
        for codec in [id::BLOSCLZ, id::LZ4, id::ZSTD] {
            let params = CParams::default().codec(codec).splitmode(SplitMode::ALWAYS);
            for forced in [1, 100, 511, 512] {
                assert_eq!(blocksize(&params, 8 << 20, 4, forced), 65536, "{codec} {forced}");
            }
            assert_eq!(blocksize(&params.clone().level(0), 8 << 20, 4, 100), 128);
            // Such a block is not split (row L11).
            assert_eq!(blocksize(&params, 400, 4, 128), 400);
            assert_eq!(blocksize(&params, 8 << 20, 24, 40), 120);
        }
    }

    #[test]
    fn row_l11_no_mode_splits_where_readers_do_not() {
        let params = CParams::default().codec(id::LZ4).splitmode(SplitMode::ALWAYS);
        assert!(!would_split(&params, 4, 400));
        assert!(!would_split(&params, 24, 48_000));
        assert!(would_split(&params, 4, 512));
    }
}
