//! The interface of the crate `blosc2-src` 0.1: the functions, constants and structs of C-Blosc2,
//! here implemented by Ferroblosc. They are those of C-Blosc2 3.3.5: I/O backends have the callback
//! `size`, and the functions `blosc2_stdio_seek` and `blosc2_stdio_tell` do not exist.
//!
//! The C symbols (`blosc2_compress` and so on) are linked too, for C code in the same program.

#![forbid(unsafe_code)]

#[macro_use]
#[path = "../../bindings/bytes.rs"]
mod strings;
#[path = "../../bindings/blosc2.rs"]
mod blosc2;

pub use blosc2::*;
pub use libc::{FILE, timespec};

use ferroblosc_capi_plugins::defaults;

/// The default compression parameters.
pub const BLOSC2_CPARAMS_DEFAULTS: blosc2_cparams = defaults::CPARAMS;
/// The default decompression parameters.
pub const BLOSC2_DPARAMS_DEFAULTS: blosc2_dparams = defaults::DPARAMS;
/// The default I/O backend: the file system.
pub const BLOSC2_IO_DEFAULTS: blosc2_io = defaults::IO;
/// The default storage: separate chunks in memory.
pub const BLOSC2_STORAGE_DEFAULTS: blosc2_storage = defaults::STORAGE;
