//! The super-chunk, a sequence of chunks with parameters and metadata.
//!
//! Its chunks are separate in memory, or in a frame: one buffer, one file or one directory.
//!
//! ```
//! use ferroblosc::chunk::{CParams, DParams};
//! use ferroblosc::schunk::{SChunk, Storage};
//!
//! let path = std::env::temp_dir().join(format!("readings-{}.b2frame", std::process::id()));
//! let mut readings = SChunk::create(Storage::file(&path), CParams::default(), DParams::default())?;
//! for day in 0..10 {
//!     let values: Vec<i64> = (day * 1000..(day + 1) * 1000).collect();
//!     readings.append_items(&values)?;
//! }
//! readings.close()?;
//!
//! let readings = SChunk::open(Storage::file(&path), DParams::default())?;
//! assert_eq!((readings.nchunks(), readings.nbytes()), (10, 80_000));
//! assert_eq!(readings.get::<i64>(4998..5001)?, [4998, 4999, 5000]);
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), ferroblosc::Error>(())
//! ```

// | file | content |
// |---|---|
// | `state.rs` | the trait that all operations are generic over |
// | `schunk.rs`, `schunk_state.rs` | the super-chunk of Rust programs: its API and its state |
// | `items.rs`, `iterate.rs`, `stream.rs` | items of a type; iterators; readers and writers |
// | `chunks.rs`, `new_chunk.rs` | changes of whole chunks; chunks passed by callers |
// | `read.rs` | reading of whole chunks |
// | `chunksize_policy.rs`, `stored.rs` | fixed and variable chunk sizes; the stored form |
// | `scratch.rs` | cached buffers for whole chunks |
// | `slices.rs`, `meta.rs`, `copy.rs` | ranges of items; metalayers; copies |
// | `values.rs` | metalayers as values in MessagePack |
// | `transaction.rs`, `sync.rs` | transactions; other writers, serialisation |
// | `verify.rs` | detection of corruption |
// | `describe.rs` | synchronisation between a super-chunk and its frame |
// | `geometry.rs` | item numbers and multidimensional indices |

#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod chunks;
#[cfg(not(feature = "internals"))]
pub(crate) mod chunks;
mod chunksize_policy;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod copy;
#[cfg(not(feature = "internals"))]
pub(crate) mod copy;
mod describe;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod geometry;
#[cfg(not(feature = "internals"))]
pub(crate) mod geometry;
#[cfg(all(test, feature = "default"))]
mod hostile_tests;
mod items;
mod iterate;
#[cfg(test)]
mod limit_tests;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod meta;
#[cfg(not(feature = "internals"))]
pub(crate) mod meta;
mod new_chunk;
mod read;
#[expect(clippy::module_inception, reason = "the super-chunk itself")]
mod schunk;
mod schunk_state;
pub(crate) mod scratch;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod slices;
#[cfg(not(feature = "internals"))]
pub(crate) mod slices;
mod state;
mod storage;
mod stored;
mod stream;
mod sync;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod transaction;
#[cfg(not(feature = "internals"))]
pub(crate) mod transaction;
#[cfg(feature = "serde")]
pub(crate) mod values;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod verify;
#[cfg(not(feature = "internals"))]
pub(crate) mod verify;

pub use chunksize_policy::{UNSET, VARIABLE};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use describe::describe;
#[cfg(not(feature = "internals"))]
pub(crate) use describe::describe;
pub use iterate::{Blocks, Chunks};
pub use schunk::{SChunk, Transaction};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use scratch::release;
#[cfg(not(feature = "internals"))]
pub(crate) use scratch::release;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use state::{Layer, Layers, State};
#[cfg(not(feature = "internals"))]
pub(crate) use state::{Layer, Layers, State};
pub use storage::Storage;
pub use stream::{FinishError, Reader, Writer};
#[cfg(feature = "internals")]
#[doc(hidden)]
pub use sync::{refresh, refresh_all, serialize};
#[cfg(not(feature = "internals"))]
pub(crate) use sync::{refresh, refresh_all, serialize};
pub use verify::{Fingerprint, Report};
