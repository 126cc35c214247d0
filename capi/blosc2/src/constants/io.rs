//! Ids of I/O backends.

use std::ffi::c_int;

/// Files accessed by system calls.
pub const BLOSC2_IO_FILESYSTEM: c_int = 0;
/// Memory-mapped files.
pub const BLOSC2_IO_FILESYSTEM_MMAP: c_int = 1;
/// The id after the last built-in backend.
pub const BLOSC_IO_LAST_BLOSC_DEFINED: c_int = 2;
/// The end of the ids of built-in backends (exclusive).
pub const BLOSC2_IO_BLOSC_DEFINED: c_int = 32;
/// The id after the last backend of the global registry.
pub const BLOSC_IO_LAST_REGISTERED: c_int = 32;
/// The first id for users, the end of the global registry (exclusive).
pub const BLOSC2_IO_REGISTERED: c_int = 160;
/// The end of the ids for users (exclusive).
pub const BLOSC2_IO_USER_DEFINED: c_int = 256;
