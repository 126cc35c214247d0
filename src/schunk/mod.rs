//! Floor 4: the super-chunk, a sequence of chunks with parameters and metadata.
//!
//! Its chunks are apart in memory, or in a frame: one buffer, one file, or one directory.
//!
//! ```
//! use ferroblosc::chunk::{CParams, DParams};
//! use ferroblosc::schunk::{SChunk, Storage};
//!
//! let path = std::env::temp_dir().join(format!("readings-{}.b2frame", std::process::id()));
//! let mut readings = SChunk::create(Storage::file(&path), CParams::default(), DParams::default())?;
//! for day in 0..10i64 {
//!     let values: Vec<u8> = (0..1000i64).flat_map(|i| (day * 1000 + i).to_le_bytes()).collect();
//!     readings.append(&values)?;
//! }
//! drop(readings);
//!
//! let readings = SChunk::open(Storage::file(&path), DParams::default())?;
//! assert_eq!((readings.nchunks(), readings.nbytes()), (10, 80_000));
//! let mut three = [0; 24];
//! readings.get_slice(4998, 5001, &mut three)?;
//! assert_eq!(three[..8], 4998i64.to_le_bytes());
//! # std::fs::remove_file(&path).unwrap();
//! # Ok::<(), ferroblosc::Error>(())
//! ```
//!
//! | file | what |
//! |---|---|
//! | `state.rs` | what a super-chunk is made of; the operations are written over it |
//! | `plain.rs`, `rust.rs` | the super-chunk of Rust programs |
//! | `chunks.rs`, `offer.rs`, `regime.rs`, `stored.rs` | whole chunks; those to be added; chunk sizes; what frames keep of a chunk |
//! | `scratch.rs` | buffers for whole chunks, kept between calls |
//! | `slices.rs`, `meta.rs`, `copy.rs` | ranges of items; metalayers; from one to another |
//! | `transaction.rs` | several changes that become one |
//! | `verify.rs` | finding what is broken |
//! | `describe.rs` | between a super-chunk and its frame |
//! | `geometry.rs` | numbers of items in arrays |

pub mod chunks;
pub mod copy;
mod describe;
pub mod geometry;
#[cfg(test)]
mod hostile_tests;
pub mod meta;
mod offer;
mod plain;
mod regime;
mod rust;
pub(crate) mod scratch;
pub mod slices;
mod state;
mod stored;
mod sync;
pub mod transaction;
pub mod verify;

pub use describe::describe;
pub use regime::{UNSET, VARIABLE};
pub use rust::{SChunk, Storage, Transaction};
pub use scratch::release;
pub use state::{Layer, Layers, State};
pub use sync::{refresh, refresh_all, serialise};
