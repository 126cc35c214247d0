//! Layer 1: filters, length-preserving transforms of a block.
//!
//! A chunk has six *slots*, each with a filter id and a parameter byte (its *meta*). Compression
//! applies them from 0 to 5 to a whole block, before it is split into streams; decompression undoes
//! them from 5 to 0. The filters implement [`Filter`], [`Pipeline`] runs them, and the registry
//! holds the filters that users add.
//!
//! ```
//! use ferroblosc::chunk::{CParams, Compressor};
//! use ferroblosc::filter::{self, SLOTS, Slot};
//!
//! let data: Vec<u8> = (0..50_000u32).flat_map(|i| (i * i).to_le_bytes()).collect();
//! let shuffled = CParams::default().typesize(4);
//! let mut plain = shuffled.clone();
//! plain.filters[SLOTS - 1] = Slot::default();
//! let mut both = shuffled.clone();
//! both.filters[SLOTS - 2].id = filter::id::DELTA;
//!
//! let shuffled = Compressor::new(shuffled)?.compress_to_vec(&data)?;
//! let plain = Compressor::new(plain)?.compress_to_vec(&data)?;
//! let both = Compressor::new(both)?.compress_to_vec(&data)?;
//! assert!(shuffled.len() < plain.len() && both.len() < plain.len());
//! # Ok::<(), ferroblosc::Error>(())
//! ```

pub(crate) mod bitshuffle;
mod bytedelta;
mod cells;
mod delta;
mod fused;
pub mod id;
mod info;
mod pipeline;
mod registry;
mod shuffle;
mod trunc;

pub use fused::{Fusion, PartialFilter};
pub use info::{FilterInfo, Order, all, info};
pub(crate) use pipeline::{MARGIN, grown};
pub use pipeline::{Pipeline, Scratch};
pub(crate) use registry::missing_plugin;
pub use registry::{Loader, is_available, known, name_of, register, reset, set_loader};

use crate::{CallContext, Result};

/// The built-in filters, in the order of their ids.
static TABLE: [FilterInfo; 9] = [
    shuffle::INFO,
    bitshuffle::INFO,
    delta::INFO,
    trunc::INFO_FLOATS,
    cells::INFO_NDCELL,
    cells::INFO_NDMEAN,
    bytedelta::INFO_LEGACY,
    bytedelta::INFO,
    trunc::INFO_INTEGERS,
];

/// The number of slots in a pipeline.
pub const SLOTS: usize = 6;

/// One slot of a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The filter id; [`id::NONE`] for an empty slot.
    pub id: u8,
    /// The filter's parameter.
    pub meta: u8,
}

/// The reference block of DELTA.
#[derive(Clone, Copy)]
pub enum Reference<'a> {
    /// The block itself: the first block, or a variable-length block.
    Own,
    /// The decoded first block of the chunk, at least as long as this block.
    Block(&'a [u8]),
}

/// One call of a filter.
#[derive(Clone, Copy)]
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
    fn fusion(&self, _call: &FilterCall<'_>) -> Fusion<'_> {
        Fusion::None
    }
}
