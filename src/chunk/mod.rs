//! Layer 2: the chunk, the unit of one compression call.
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
//!
//! | files | contents |
//! |---|---|
//! | `header.rs` | parsing and writing the header |
//! | `params.rs`, `prefilter.rs`, `tuner.rs` | parameters and user callbacks |
//! | `blocksize.rs`, `blosc1.rs` | block sizes and splitting, in Blosc2 and in Blosc 1.x |
//! | `encode.rs`, `parallel_encode.rs` | compression of chunks, with one thread and with several |
//! | `block_encoder.rs`, `dict.rs`, `instrument.rs` | compression of blocks |
//! | `view.rs`, `decode.rs`, `getitem.rs`, `vl.rs` | decompression of chunks and item ranges |
//! | `block_decoder.rs`, `partial.rs` | decompression of blocks and byte ranges of blocks |
//! | `header_cache.rs`, `block_cache.rs` | the last header and the last block read |
//! | `lazy.rs` | chunks whose blocks are still in a file |
//! | `rewrap.rs` | conversion between Blosc 1.x and Blosc2 without recompression |
//! | `special.rs`, `inspect.rs` | header-only chunks; queries on headers |
//! | `oneshot.rs`, `overrides.rs` | the calls without context; environment variables |
//! | `worker.rs`, `worker_cache.rs` | per-thread state, and its reuse between calls |

mod block_cache;
mod block_decoder;
mod block_encoder;
mod blocksize;
pub(crate) mod blosc1;
mod decode;
mod dict;
mod encode;
mod getitem;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod header;
#[cfg(not(feature = "internals"))]
pub(crate) mod header;
mod header_cache;
mod inspect;
mod instrument;
mod lazy;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod oneshot;
#[cfg(not(feature = "internals"))]
pub(crate) mod oneshot;
mod overrides;
mod parallel_encode;
mod params;
mod partial;
mod prefilter;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod rewrap;
#[cfg(not(feature = "internals"))]
pub(crate) mod rewrap;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod special;
#[cfg(not(feature = "internals"))]
pub(crate) mod special;
mod tuner;
mod view;
mod vl;
mod worker;
mod worker_cache;

pub use block_encoder::Source;
pub use decode::Decompressor;
pub use encode::Compressor;
pub use header::{BasicHeader, ChunkHeader, EXTENDED_HEADER_LENGTH, MIN_HEADER_LENGTH, Special};
pub use inspect::{Sizes, complib, missing_plugin, sizes, validate};
pub use lazy::{LazySource, make_lazy};
pub use overrides::Shuffle;
pub use params::{CParams, DParams, HeaderForm, SplitMode};
pub use prefilter::{Postfilter, PostfilterCall, Prefilter, PrefilterCall, Refused};
pub use tuner::{Tuner, TunerCall};
pub use vl::vl_nblocks;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use worker_cache::release;
#[cfg(not(feature = "internals"))]
pub(crate) use worker_cache::release;

/// The maximum number of bytes by which a chunk exceeds its data.
pub const MAX_OVERHEAD: usize = EXTENDED_HEADER_LENGTH;
/// The maximum uncompressed size of a chunk in bytes.
pub const MAX_BUFFERSIZE: usize = i32::MAX as usize - MAX_OVERHEAD;
/// The maximum item size a header can hold; larger items are stored as items of 1 byte.
pub const MAX_TYPESIZE: usize = 255;
/// The maximum size of a block, and of an item, in bytes.
pub const MAX_BLOCKSIZE: i32 = 536_866_816;
/// The maximum item size in bytes: [`MAX_BLOCKSIZE`] as a `usize`.
const MAX_ITEM_SIZE: usize = MAX_BLOCKSIZE as usize;
/// The minimum size in bytes of buffers that are compressed.
const MIN_BUFFERSIZE: usize = 32;
