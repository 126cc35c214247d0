//! What the fuzz targets check, as a library, so that a plain test can run it over the seeds, too.
//!
//! The input of a target is a chunk, a frame, a metalayer, a container, the text of a directory or what a single
//! decoder gets, without a prefix of
//! fuzzing parameters: a finding can be handed to any reader, and targets share what is in `seeds/` and
//! `seeds-frame/`. What else a call needs (which items, how many threads, which end of a buffer lies at a
//! guard page) is drawn from a hash of the input, so that a finding repeats.

pub mod alloc;
pub mod array;
pub mod bcolz;
pub mod blpk;
#[path = "../../tests/changing/calls.rs"]
pub mod calls;
pub mod check;
pub mod draw;
pub mod frame;
pub mod guard;
pub mod lz4;
pub mod plugins;
pub mod seeds;

#[global_allocator]
static ALLOCATOR: alloc::Watched = alloc::Watched;
