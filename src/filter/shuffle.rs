//! SHUFFLE: groups the bytes of equal significance of all items.
//!
//! The element size is the meta, or the item size of the chunk if the meta is 0.

use super::{Filter, FilterCall, FilterInfo, Fusion, Order, id};
use crate::{Result, kernels};

struct Shuffle;

/// The filter's row.
pub(super) const INFO: FilterInfo =
    FilterInfo { order: Order::Bytes, ..FilterInfo::new(id::SHUFFLE, "shuffle", &Shuffle) };

/// Returns the element size in bytes for a slot with this meta in a chunk of items of `typesize`
/// bytes.
fn element_size(meta: u8, typesize: usize) -> usize {
    match meta {
        0 => typesize,
        meta => usize::from(meta),
    }
}

impl Filter for Shuffle {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::shuffle::shuffle(element_size(call.meta, call.ctx.typesize), src, dest);
        Ok(())
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::shuffle::unshuffle(element_size(call.meta, call.ctx.typesize), src, dest);
        Ok(())
    }

    fn may_change_data(&self) -> bool {
        false
    }

    fn is_identity(&self, meta: u8, typesize: usize) -> bool {
        element_size(meta, typesize) == 1
    }

    fn fusion(&self, call: &FilterCall<'_>) -> Fusion<'_> {
        if element_size(call.meta, call.ctx.typesize) == call.ctx.typesize {
            Fusion::Shuffle
        } else {
            Fusion::None
        }
    }
}
