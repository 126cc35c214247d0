//! Filters, length-preserving transforms of a block.
//!
//! A chunk has six *slots*, each with a filter id and a parameter byte (its *meta*). Compression
//! applies them from 0 to 5 to a whole block, before it is split into streams; decompression undoes
//! them from 5 to 0. The filters implement [`Filter`], and [`register`] adds filters.
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
#[cfg(feature = "plugins")]
mod bytedelta;
#[cfg(feature = "plugins")]
mod cells;
mod delta;
mod fused;
pub mod id;
mod info;
mod interface;
mod lookup;
mod pipeline;
mod registry;
mod shuffle;
mod trunc;

pub use info::{FilterInfo, Order};
pub use interface::{Filter, FilterCall, Reference, SLOTS, Slot};
use interface::{Fusion, PartialFilter};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use internals::*;
#[cfg(not(feature = "internals"))]
pub(crate) use internals::*;
pub use lookup::{all, info};
pub(crate) use pipeline::{MARGIN, grown};
pub(crate) use registry::missing_plugin;
pub use registry::{is_available, known, name_of, register};

/// What the C libraries and tests use in addition.
mod internals {
    pub use super::pipeline::{Pipeline, Scratch};
    pub use super::registry::{Loader, register_entry, reset_user_registrations, set_loader};
}

/// The built-in filters, in the order of their ids.
static TABLE: &[FilterInfo] = &[
    shuffle::INFO,
    bitshuffle::INFO,
    delta::INFO,
    trunc::INFO_FLOATS,
    #[cfg(feature = "plugins")]
    cells::INFO_NDCELL,
    #[cfg(feature = "plugins")]
    cells::INFO_NDMEAN,
    #[cfg(feature = "plugins")]
    bytedelta::INFO_LEGACY,
    #[cfg(feature = "plugins")]
    bytedelta::INFO,
    #[cfg(feature = "plugins")]
    trunc::INFO_INTEGERS,
];
