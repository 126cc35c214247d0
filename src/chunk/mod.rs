//! The chunk, the unit of one compression call.
//!
//! A chunk is self-contained: a header followed by blocks. [`Compressor`] writes chunks.
//! [`Decompressor`] reads a whole chunk ([`Decompressor::decompress`]) or a range of its items
//! ([`Decompressor::getitem`]). Both cache codec states and buffers, so reuse one for many calls.
//!
//! ```
//! use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
//! use ferroblosc::codec;
//!
//! let temperatures: Vec<u8> =
//!     (0..10_000).flat_map(|hour| (15.0 + (hour % 24) as f32).to_le_bytes()).collect();
//! let params = CParams::default().codec(codec::id::LZ4).typesize(4);
//! let chunk = Compressor::new(params)?.compress_to_vec(&temperatures)?;
//!
//! let mut decompressor = Decompressor::new(DParams::default());
//! let mut three = [0; 12];
//! decompressor.getitem(&chunk, 5000, 3, &mut three)?;
//! assert_eq!(three, temperatures[20_000..20_012]);
//! # Ok::<(), ferroblosc::Error>(())
//! ```

// | directory or file | contents |
// |---|---|
// | `format/` | the layout: header, limits, blocks, streams, special and lazy chunks |
// | `encode/` | compression: [`Compressor`], block sizes, blocks in order, one block |
// | `decode/` | decompression: [`Decompressor`], one block, ranges of items, caches |
// | `worker/` | the state of a thread, and its reuse between calls |
// | `params.rs`, `callbacks.rs` | parameters, and the callbacks in them |
// | `overrides.rs` | environment variables that override parameters |
// | `oneshot.rs` | the calls without context |

mod callbacks;
mod decode;
mod encode;
mod format;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod oneshot;
#[cfg(not(feature = "internals"))]
pub(crate) mod oneshot;
mod overrides;
mod params;
mod worker;

pub use callbacks::{
    Postfilter, PostfilterCall, Prefilter, PrefilterCall, Refused, Tuner, TunerCall,
};
pub use decode::decompressor::Decompressor;
pub(crate) use decode::decompressor::mask_of_all;
pub use encode::block::Source;
pub(crate) use encode::blosc1;
pub use encode::compressor::Compressor;
pub use format::header::{BasicHeader, ChunkHeader, Special};
pub use format::inspect::{Sizes, missing_plugin, sizes, validate, vl_nblocks};
pub(crate) use format::limits;
pub use format::limits::{
    EXTENDED_HEADER_LENGTH, MAX_BLOCKSIZE, MAX_BUFFERSIZE, MAX_OVERHEAD, MAX_TYPESIZE,
    MIN_HEADER_LENGTH,
};
pub(crate) use format::special::fill_special;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use internals::*;
#[cfg(not(feature = "internals"))]
pub(crate) use internals::*;
pub use overrides::Shuffle;
pub use params::{CParams, DParams, HeaderForm, SplitMode};

/// What the C libraries, `ferroblosc-formats` and tests use in addition.
mod internals {
    pub use super::encode::special;
    pub use super::format::inspect::complib;
    pub use super::format::lazy::{LazySource, make_lazy};
    pub use super::format::{header, rewrap};
    pub use super::worker::cache::release;
}
