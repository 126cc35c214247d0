//! Ferroblosc: the Blosc family of compressed formats as a safe Rust library.
//!
//! Data is cut into *chunks*; a chunk is cut into *blocks*; each block goes through a pipeline of
//! filters (shuffle, bitshuffle, delta …) and then a codec (BloscLZ, LZ4, LZ4HC, Zlib, Zstd). Blocks
//! are the unit of threads and of partial reads.
//!
//! The rooms of the library, from the ground up:
//!
//! | floor | module | what lives there |
//! |---|---|---|
//! | 0 | [`kernels`] | byte transforms on slices, one file per SIMD level |
//! | 1 | [`codec`] | one file a codec, the codec registry, dictionaries |
//! | 1 | [`filter`] | one file a filter, the pipeline, the filter registry |
//! | 1 | [`io`] | bytes that lie elsewhere than in memory |
//! | 1 | [`pool`] | the worker threads all contexts share |
//! | 2 | [`chunk`] | headers, block sizes, the encoder and the decoder |
//! | 3 | [`blosc1`] | the calls, settings and codes of Blosc 1.x |
//! | 3 | [`frame`] | super-chunks as one buffer, one file or one directory |
//! | 4 | [`schunk`] | the super-chunk: chunks, slices, metadata |
//! | 5 | [`b2nd`] | arrays of several dimensions |
//! | 5 | [`blpk`], [`bloscpack`] | the container of Bloscpack and bcolz; Bloscpack |
//! | 6 | [`bcolz`] | the directories of bcolz: carrays and ctables |
//! | 6 | [`convert`] | from one format to another |
//!
//! A floor may use the floors below it, never one above.

pub mod b2nd;
pub mod bcolz;
mod blockshape;
pub mod blosc1;
pub mod bloscpack;
pub mod blpk;
mod buffer;
mod call;
#[doc(hidden)]
pub mod cancellation;
pub mod chunk;
pub mod codec;
pub mod convert;
mod error;
pub mod escape;
pub mod filter;
pub mod frame;
pub mod io;
pub mod kernels;
#[doc(hidden)]
pub mod note;
pub mod plugin;
pub mod pool;
pub mod schunk;
#[cfg(test)]
pub(crate) mod testing;
pub mod trace;

pub use buffer::Buffer;
pub use call::{Parent, Surroundings, Token};
pub use error::{Error, ErrorKind, Result};

/// The version of Ferroblosc, apart from those of C-Blosc and C-Blosc2 that its libraries stand in for.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the example of the page on durability as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/durability.md")]
struct Durability;

/// Runs the example of the page on Bloscpack as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/blpk.md")]
struct Bloscpack;
