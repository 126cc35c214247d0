//! The interface of filters, and the slots of a pipeline.

use crate::{CallContext, Result};
use std::ops::Range;

/// The number of slots in a pipeline.
pub const SLOTS: usize = 6;

/// One slot of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The filter id; [`NONE`](super::id::NONE) for an empty slot.
    pub id: u8,
    /// The filter's parameter.
    pub meta: u8,
}

/// The reference block of DELTA.
#[derive(Clone, Copy, Default)]
pub enum Reference<'a> {
    /// The block itself: the first block, or a variable-length block.
    #[default]
    Own,
    /// The decoded first block of the chunk, at least as long as this block.
    Block(&'a [u8]),
}

/// One call of a filter.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct FilterCall<'a> {
    /// Id of the slot; one implementation may serve several ids.
    pub id: u8,
    /// Parameter of the slot.
    pub meta: u8,
    /// Version byte of the chunk; version 2 has its own bitshuffle rule.
    pub version: u8,
    /// The reference block.
    pub reference: Reference<'a>,
    /// The context of the call.
    pub ctx: CallContext<'a>,
}

/// A filter. `src` and `dest` have the same length and do not overlap.
///
/// Several threads may call it at the same time.
pub trait Filter: Send + Sync {
    /// Filters a block for compression. Any error makes the compression fail with
    /// [`Error::FilterPipeline`](crate::Error::FilterPipeline).
    fn forward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()>;

    /// Undoes the filter for decompression, which fails with the error returned here.
    fn backward(&self, call: &FilterCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<()>;

    /// Whether decompression has a step for this filter.
    fn has_backward(&self) -> bool {
        true
    }

    /// Whether `backward` after `forward` may return other bytes than the input.
    fn may_change_data(&self) -> bool {
        true
    }

    /// Whether the filter changes nothing with this parameter and item size in bytes.
    fn is_identity(&self, _meta: u8, _typesize: usize) -> bool {
        false
    }

    /// Returns the role of the filter in fused filters, for this call.
    #[doc(hidden)]
    fn fusion(&self, _call: &FilterCall<'_>) -> Fusion<'_> {
        Fusion::None
    }
}

/// The role of a filter in fused filters.
pub enum Fusion<'a> {
    /// The filter is applied alone.
    None,
    /// A filter of the items, before the shuffle.
    Items(&'a dyn PartialFilter),
    /// The shuffle of whole items.
    Shuffle,
    /// Byte-wise differences of each plane, after the shuffle.
    Differences,
}

/// A filter that can process any range of whole items of a block separately.
pub trait PartialFilter {
    /// Filters `src[from..from + dest.len()]` of the block `src` into `dest`.
    ///
    /// # Errors
    /// Returns the errors of [`forward`](Filter::forward).
    fn forward_range(
        &self,
        call: &FilterCall<'_>,
        src: &[u8],
        from: usize,
        dest: &mut [u8],
    ) -> Result<()>;

    /// Undoes the filter in place for a range of a block. The preceding bytes are already decoded.
    ///
    /// # Errors
    /// Returns the errors of [`backward`](Filter::backward).
    fn backward_range(
        &self,
        call: &FilterCall<'_>,
        block: &mut [u8],
        range: Range<usize>,
    ) -> Result<()>;
}
