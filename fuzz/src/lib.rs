//! The checks of the fuzz targets, as a library, so that plain tests can run them on the seeds.
//!
//! The input of a target is a bare chunk, frame, metalayer, container, directory text or codec
//! stream, without a prefix of fuzzing parameters. A finding can therefore be passed to any reader,
//! and targets share `seeds/` and `seeds-frame/`. All other arguments (items, threads, the side of
//! a buffer at a guard page) are drawn from a hash of the input, so that findings are reproducible.

// Code that is compiled with coverage calls functions of libFuzzer, in plain tests too.
use libfuzzer_sys as _;

pub mod alloc;
pub mod array;
pub mod bcolz;
pub mod blosc1;
pub mod blpk;
#[path = "../../tests/changing/calls.rs"]
pub mod calls;
pub mod check;
pub mod condition;
pub mod convert;
pub mod draw;
pub mod files;
pub mod frame;
pub mod guard;
pub mod hdf5;
pub mod journal;
pub mod lz4;
pub mod plugins;
pub mod program;
pub mod seeds;
pub mod sparse;
pub mod store;
pub mod table;
pub mod zarr;
pub mod zlib;
pub mod zstd;

#[global_allocator]
static ALLOCATOR: alloc::RecordingAllocator = alloc::RecordingAllocator;
