//! Floor 2: the chunk, the unit that one call of compression makes.
//!
//! A chunk stands alone: a header, then the blocks the data were cut into. [`Compressor`] makes chunks,
//! [`Decompressor`] reads them, whole ([`Decompressor::decompress`]) or in part
//! ([`Decompressor::getitem`]). Both keep what can be used again, so one of them should serve many calls.
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
//! | file | what |
//! |---|---|
//! | `header.rs` | the header bytes, parsed once and built once |
//! | `params.rs`, `prefilter.rs`, `tuner.rs` | what callers ask for, and their callbacks |
//! | `blocksize.rs`, `blosc1.rs` | how data are cut, and how Blosc 1.x cuts them |
//! | `encode.rs`, `parallel_encode.rs`, `block_encoder.rs`, `dict.rs`, `instrument.rs` | compression: the chunk, its blocks in threads, the block, extras |
//! | `view.rs`, `block_decoder.rs`, `decode.rs`, `getitem.rs`, `partial.rs`, `block_cache.rs`, `vl.rs` | decompression: tables, a block, all, a part |
//! | `lazy.rs` | chunks whose blocks are still in a file |
//! | `rewrap.rs` | chunks of Blosc 1.x as chunks of Blosc2 and back, their streams as they are |
//! | `special.rs`, `inspect.rs` | chunks that are only a header; what a header tells |
//! | `oneshot.rs`, `environment.rs` | the settings behind the calls without context |
//! | `worker.rs`, `worker_cache.rs` | the state of a thread at work, and who holds it between calls |

mod block_cache;
mod block_decoder;
mod block_encoder;
mod blocksize;
pub(crate) mod blosc1;
mod decode;
mod dict;
mod encode;
pub(crate) mod environment;
mod getitem;
pub(crate) mod header;
mod header_cache;
mod inspect;
mod instrument;
mod lazy;
pub mod oneshot;
mod parallel_encode;
mod params;
mod partial;
mod prefilter;
pub mod rewrap;
pub mod special;
mod tuner;
mod view;
mod vl;
mod worker;
mod worker_cache;

pub use block_encoder::Source;
pub use decode::Decompressor;
pub use encode::Compressor;
pub use environment::Shuffle;
pub use header::{BasicHeader, ChunkHeader, EXTENDED_HEADER_LENGTH, MIN_HEADER_LENGTH, Special};
pub use inspect::{Sizes, complib, sizes, validate};
pub use lazy::{LazySource, make_lazy};
pub use params::{CParams, DParams, HeaderForm, SplitMode};
pub use prefilter::{Postfilter, PostfilterCall, Prefilter, PrefilterCall, Refused};
pub use tuner::{Tuner, TunerCall};
pub use vl::vl_nblocks;
pub use worker_cache::release;

/// How many bytes a chunk can be longer than its data.
pub const MAX_OVERHEAD: usize = EXTENDED_HEADER_LENGTH;
/// The most bytes one chunk can hold.
pub const MAX_BUFFERSIZE: usize = i32::MAX as usize - MAX_OVERHEAD;
/// The largest item size a header can hold; larger ones are stored as 1.
pub const MAX_TYPESIZE: usize = 255;
/// The longest block, and the longest item, in bytes.
pub const MAX_BLOCKSIZE: i32 = 536_866_816;
/// As [`MAX_BLOCKSIZE`], where sizes are counted in memory.
const MAX_TYPESIZE_BYTES: usize = MAX_BLOCKSIZE as usize;
/// Fewer bytes than these are stored as they are.
const MIN_BUFFERSIZE: usize = 32;
