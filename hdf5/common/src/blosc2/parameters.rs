//! The values of filter 32026.
//!
//! | value | meaning | set by |
//! |---|---|---|
//! | 0 | revision of the filter, 1 | the filter |
//! | 1 | block size in bytes, 0 for automatic | the user |
//! | 2 | type size in bytes | the filter |
//! | 3 | size of an HDF5 chunk in bytes | the filter |
//! | 4 | level, 0 to 9; default 5 | the user |
//! | 5 | last filter: 0 none, 1 shuffle, 2 bitshuffle, 3 delta; default 1 | the user |
//! | 6 | codec number; default 0, BloscLZ | the user |
//! | 7 | rank, for 2 to 16 dimensions | the filter |
//! | 8 … | shape of an HDF5 chunk in items | the filter |

use crate::filter::{Allowed, Choice};
use ferroblosc::b2nd;
use std::ops::RangeInclusive;

pub mod slot {
    pub const REVISION: usize = 0;
    pub const BLOCKSIZE: usize = 1;
    pub const TYPESIZE: usize = 2;
    pub const CHUNKSIZE: usize = 3;
    pub const CLEVEL: usize = 4;
    pub const FILTER: usize = 5;
    pub const CODEC: usize = 6;
    pub const RANK: usize = 7;
    pub const CHUNKSHAPE: usize = 8;
    /// The number of values that the filter sets for one dimension.
    pub const COUNT_OF_FILTER: usize = 4;
}

pub const CLEVEL: Choice = Choice {
    slot: slot::CLEVEL,
    name: "the level",
    default: 5,
    allowed: Allowed::Values(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "0 to 9"),
};
pub const FILTER: Choice = Choice {
    slot: slot::FILTER,
    name: "the filter",
    default: 1,
    allowed: Allowed::Values(&[0, 1, 2, 3], "0 (none), 1 (shuffle), 2 (bitshuffle) or 3 (delta)"),
};
pub const CODEC: Choice =
    Choice { slot: slot::CODEC, name: "the codec", default: 0, allowed: Allowed::Codecs };
/// The ranks of chunks that are stored as arrays.
pub const RANKS: RangeInclusive<usize> = 2..=b2nd::MAX_DIM;

/// The parsed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters<'a> {
    /// All values.
    pub values: &'a [u32],
    /// The block size in bytes, 0 for automatic.
    pub blocksize: u32,
    /// The type size in bytes; 0 if it is missing.
    pub typesize: u32,
    /// The size of an HDF5 chunk in bytes; 0 if it is missing.
    pub chunksize: u32,
    /// The shape of an HDF5 chunk in items, if chunks are arrays.
    pub chunkshape: Option<&'a [u32]>,
}

impl Parameters<'_> {
    /// Parses the values.
    pub fn read(values: &[u32]) -> Parameters<'_> {
        let value = |slot: usize| values.get(slot).copied();
        let rank = value(slot::RANK).and_then(|rank| usize::try_from(rank).ok());
        let chunkshape = rank.filter(|rank| RANKS.contains(rank)).and_then(|rank| {
            let dims = values.get(slot::CHUNKSHAPE..)?;
            dims.get(..rank)
        });
        Parameters {
            values,
            blocksize: value(slot::BLOCKSIZE).unwrap_or(0),
            typesize: value(slot::TYPESIZE).unwrap_or(0),
            chunksize: value(slot::CHUNKSIZE).unwrap_or(0),
            chunkshape,
        }
    }

    /// Returns the chunk shape if it matches the chunk size in the values. Otherwise the writer
    /// stored a wrong value.
    pub fn consistent_shape(&self) -> Option<&[u32]> {
        let shape = self.chunkshape?;
        (bytes_of(shape, self.typesize) == Some(self.chunksize.into())).then_some(shape)
    }
}

/// Returns the size of a chunk of this shape in bytes, or `None` on overflow.
pub fn bytes_of(shape: &[u32], typesize: u32) -> Option<u64> {
    shape.iter().try_fold(u64::from(typesize), |bytes, &extent| bytes.checked_mul(extent.into()))
}
