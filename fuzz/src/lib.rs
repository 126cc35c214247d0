//! What the fuzz targets check, as a library, so that a plain test can run it over the seeds, too.
//!
//! The input of every target but `lz4` and `blpk` is a chunk as it is, without a prefix of fuzzing parameters: a finding
//! can be handed to any reader of chunks, and all targets share the chunks in `seeds/`. What else a
//! call needs (which items, how many threads, which end of a buffer lies at a guard page) is drawn
//! from a hash of the chunk, so that a finding repeats.

pub mod alloc;
pub mod blpk;
pub mod check;
pub mod draw;
pub mod guard;
pub mod lz4;

#[global_allocator]
static ALLOCATOR: alloc::Watched = alloc::Watched;
