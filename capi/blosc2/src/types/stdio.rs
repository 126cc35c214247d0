//! Streams and parameters of the two built-in I/O backends.

use super::assert_layout;
use libc::FILE;
use std::ffi::{c_char, c_int};

/// A stream of the file-system backend.
#[repr(C)]
pub struct blosc2_stdio_file {
    /// The open file.
    pub file: *mut FILE,
}

assert_layout!(blosc2_stdio_file, size 8, align 8, { file: 0 });

/// Parameters of the file-system backend.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_params {
    /// Whether processes that share a frame lock it.
    pub locking: bool,
}

assert_layout!(blosc2_stdio_params, size 1, align 1, { locking: 0 });

/// Parameters and stream of the mapped-file backend. Start from BLOSC2_STDIO_MMAP_DEFAULTS.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_stdio_mmap {
    /// "r", "r+", "w+" or "c" (changes stay in memory).
    pub mode: *const c_char,
    /// Bytes to map at first.
    pub initial_mapping_size: usize,
    /// Whether the library frees the struct.
    pub needs_free: bool,
    /// Start of the mapping.
    pub addr: *mut c_char,
    /// The file.
    pub urlpath: *mut c_char,
    /// Its size.
    pub file_size: usize,
    /// Bytes mapped.
    pub mapping_size: usize,
    /// Whether changes stay in memory.
    pub is_memory_only: bool,
    /// The open file.
    pub file: *mut FILE,
    /// Its descriptor.
    pub fd: c_int,
    /// Protection of the mapping.
    pub access_flags: i64,
    /// Flags of the mapping.
    pub map_flags: i64,
}

assert_layout!(blosc2_stdio_mmap, size 96, align 8, {
    mode: 0, initial_mapping_size: 8, needs_free: 16, addr: 24, urlpath: 32, file_size: 40,
    mapping_size: 48, is_memory_only: 56, file: 64, fd: 72, access_flags: 80, map_flags: 88,
});
