//! The interface of the crate `blosc2-sys` 0.4: the functions, constants and structs of C-Blosc2,
//! here implemented by Ferroblosc. They are those of C-Blosc2 3.3.5.
//!
//! The C symbols (`blosc2_compress` and so on) are linked too, for C code in the same program.

#![forbid(unsafe_code)]

#[macro_use]
#[path = "../../bindings/bytes.rs"]
mod strings;
#[path = "../../bindings/blosc2.rs"]
mod blosc2;

pub use blosc2::*;
pub use libc;

use ferroblosc_capi_plugins::defaults;

/// The default I/O backend: the file system.
pub const BLOSC2_IO_DEFAULTS: blosc2_io = defaults::IO;
/// The default storage: separate chunks in memory.
pub const BLOSC2_STORAGE_DEFAULTS: blosc2_storage = defaults::STORAGE;
/// The default parameters of mapped files.
pub const BLOSC2_STDIO_MMAP_DEFAULTS: blosc2_stdio_mmap = defaults::STDIO_MMAP;
