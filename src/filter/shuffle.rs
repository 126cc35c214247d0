//! SHUFFLE: the bytes of equal significance of all items side by side.
//!
//! The element size is the meta, or the chunk's item size when the meta is 0.

use super::{Filter, FilterCall};
use crate::{Result, kernels};

pub(super) struct Shuffle;

fn element_size(call: &FilterCall<'_>) -> usize {
    match call.meta {
        0 => call.around.typesize,
        meta => usize::from(meta),
    }
}

impl Filter for Shuffle {
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::shuffle::shuffle(element_size(call), src, dest);
        Ok(())
    }

    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()> {
        kernels::shuffle::unshuffle(element_size(call), src, dest);
        Ok(())
    }

    fn may_change_data(&self) -> bool {
        false
    }
}
