//! BITSHUFFLE: groups the bits of equal significance of all items.
//!
//! Blosc 1.x (chunk version 2) transposed a block only if its number of items was a multiple of 8,
//! and copied it otherwise; every other version transposes the largest multiple of 8.

use super::{Filter, FilterCall, FilterInfo, Order, id};
use crate::{Result, kernels};

struct Bitshuffle;

/// The filter's row.
pub(super) const INFO: FilterInfo =
    FilterInfo { order: Order::Bits, ..FilterInfo::new(id::BITSHUFFLE, "bitshuffle", &Bitshuffle) };

/// The chunk version of Blosc 1.x.
const VERSION_BLOSC1: u8 = 2;

/// Whether a block of `items` items is copied unchanged in a chunk of this version.
pub(crate) fn is_plain_copy(version: u8, items: usize) -> bool {
    version == VERSION_BLOSC1 && !items.is_multiple_of(8)
}

impl Filter for Bitshuffle {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        if is_plain_copy(call.version, src.len() / call.ctx.typesize) {
            kernels::copy::copy(src, dest);
        } else {
            kernels::bitshuffle::bitshuffle(call.ctx.typesize, src, dest);
        }
        Ok(())
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        if is_plain_copy(call.version, src.len() / call.ctx.typesize) {
            kernels::copy::copy(src, dest);
        } else {
            kernels::bitshuffle::bitunshuffle(call.ctx.typesize, src, dest);
        }
        Ok(())
    }

    fn may_change_data(&self) -> bool {
        false
    }
}
