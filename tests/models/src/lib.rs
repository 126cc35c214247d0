//! Models of the lock-free code of the core: its source files, compiled with the atomic types of
//! model checkers, which run small programs in many interleavings.
//!
//! | checker | interleavings | memory orderings |
//! |---|---|---|
//! | [loom](https://docs.rs/loom) | all, up to a number of preemptions | those written in the code |
//! | [shuttle](https://docs.rs/shuttle) | random ones | sequential consistency |
//!
//! Loom treats `SeqCst` as acquire and release, so it cannot check the protocols that need a single
//! order: shuttle checks these.
//!
//! | module | sources | replaced |
//! |---|---|---|
//! | `loom_models` | `slot.rs`, `panics.rs`, `bits.rs`, `boxes.rs` of `src/pool` | `sync.rs`, `os::futex` |
//! | `pool` | all other files of `src/pool` | `sync.rs`, `os::futex`, `os::thread` |
//! | `chunk` | `encode/writer.rs`, `worker/cache.rs`, `worker/buffers.rs` | encoder and state of a worker |
//!
//! A fork is modelled, too: all threads but one stop before their next access to shared memory.

// The models use a part of the functions in the sources.
#![allow(dead_code, unused_imports)]
// Each checker has a copy of the sources with its own types.
#![allow(clippy::duplicate_mod)]

pub mod cancellation;
pub mod chunk;
pub mod codec;
mod error;
pub mod io;
pub mod kernels;
pub mod loom_models;
#[path = "../../../src/os/mod.rs"]
pub(crate) mod os;
pub mod pool;

pub use error::{Error, Result};
// The sources of the operating system need the name.
use io::PageBuffer as Buffer;
