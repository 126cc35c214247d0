//! Ids of the I/O backends.

use std::ffi::c_int;

/// Files by system calls.
pub const BLOSC2_IO_FILESYSTEM: c_int = 0;
/// Files mapped into memory.
pub const BLOSC2_IO_FILESYSTEM_MMAP: c_int = 1;
/// One more than the last built-in backend.
pub const BLOSC_IO_LAST_BLOSC_DEFINED: c_int = 2;
/// End of the ids of built-in backends.
pub const BLOSC2_IO_BLOSC_DEFINED: c_int = 32;
/// One more than the last backend of the global registry.
pub const BLOSC_IO_LAST_REGISTERED: c_int = 32;
/// First id for users, end of the global registry.
pub const BLOSC2_IO_REGISTERED: c_int = 160;
/// End of the ids for users.
pub const BLOSC2_IO_USER_DEFINED: c_int = 256;
