//! Streams and parameters of the two built-in I/O backends.

use super::assert_layout;
use super::flag::Flag;
use libc::FILE;
use std::ffi::{c_char, c_int};

/// A stream of the file system backend.
#[repr(C)]
pub struct blosc2_stdio_file {
    /// The open file.
    pub file: *mut FILE,
}

assert_layout!(blosc2_stdio_file, size 8, align 8, { file: 0 });

/// Parameters of the file system backend.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_params {
    /// Whether processes lock the frames that they share.
    pub locking: Flag,
}

assert_layout!(blosc2_stdio_params, size 1, align 1, { locking: 0 });

/// Parameters and stream of the memory-mapped file backend. Start from BLOSC2_STDIO_MMAP_DEFAULTS.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_mmap {
    /// The mode: "r", "r+", "w+" or "c" (changes are not written to the file).
    pub mode: *const c_char,
    /// The initial size of the mapping in bytes.
    pub initial_mapping_size: usize,
    /// Whether the library frees the struct.
    pub needs_free: Flag,
    /// The start of the mapping.
    pub addr: *mut c_char,
    /// The path of the file.
    pub urlpath: *mut c_char,
    /// The size of the file in bytes.
    pub file_size: usize,
    /// The size of the mapping in bytes.
    pub mapping_size: usize,
    /// Whether changes are not written to the file.
    pub is_memory_only: Flag,
    /// The open file.
    pub file: *mut FILE,
    /// The file descriptor.
    pub fd: c_int,
    /// The protection of the mapping.
    pub access_flags: i64,
    /// The flags of the mapping.
    pub map_flags: i64,
    /// Not used; INVALID_HANDLE_VALUE.
    #[cfg(windows)]
    pub mmap_handle: *mut std::ffi::c_void,
}

#[cfg(windows)]
const _: () = assert!(std::mem::offset_of!(blosc2_stdio_mmap, mmap_handle) == 96);

assert_layout!(blosc2_stdio_mmap, size (if cfg!(windows) { 104 } else { 96 }), align 8, {
    mode: 0, initial_mapping_size: 8, needs_free: 16, addr: 24, urlpath: 32, file_size: 40,
    mapping_size: 48, is_memory_only: 56, file: 64, fd: 72, access_flags: 80, map_flags: 88,
});
