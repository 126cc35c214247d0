//! I/O backends and the storage of a super-chunk.

use super::assert_layout;
use super::flag::Flag;
use super::params::{blosc2_cparams, blosc2_dparams};
use std::ffi::{c_char, c_int, c_void};

/// Opens a file.
///
/// - `urlpath`: the path, valid during the call.
/// - `mode`: "rb" to read, "rb+" to read and write, "wb" for a new empty file, or "ab" to append.
/// - `params`: the parameters of the backend, from blosc2_io.
///
/// Returns a stream, which the library closes, or NULL on error.
pub type blosc2_open_cb = Option<
    unsafe extern "C" fn(
        urlpath: *const c_char,
        mode: *const c_char,
        params: *mut c_void,
    ) -> *mut c_void,
>;

/// Closes a stream.
///
/// - `stream`: the stream, which is not used again.
///
/// Returns 0 on success.
pub type blosc2_close_cb = Option<unsafe extern "C" fn(stream: *mut c_void) -> c_int>;

/// Determines the size of a stream.
///
/// - `stream`: the stream.
///
/// Returns the size in bytes, or a negative value on error.
pub type blosc2_size_cb = Option<unsafe extern "C" fn(stream: *mut c_void) -> i64>;

/// Writes to a stream.
///
/// - `ptr`: the items.
/// - `size`: the size of an item in bytes.
/// - `nitems`: the number of items.
/// - `position`: the offset of the first item in the stream, in bytes.
/// - `stream`: the stream.
///
/// Returns the number of items written; other numbers than `nitems` are errors.
pub type blosc2_write_cb = Option<
    unsafe extern "C" fn(
        ptr: *const c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64,
>;

/// Reads from a stream.
///
/// - `ptr`: with `is_allocation_necessary`, `*ptr` is the buffer to fill. Otherwise the backend
///   stores in `*ptr` a pointer to its own memory, which must be valid until the next write.
/// - `size`: the size of an item in bytes.
/// - `nitems`: the number of items.
/// - `position`: the offset of the first item in the stream, in bytes.
/// - `stream`: the stream.
///
/// Returns the number of items read, less than `nitems` at the end of the stream, or a negative
/// value on error.
pub type blosc2_read_cb = Option<
    unsafe extern "C" fn(
        ptr: *mut *mut c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64,
>;

/// Sets the size of a stream.
///
/// - `stream`: the stream.
/// - `size`: the new size in bytes.
///
/// Returns 0 on success.
pub type blosc2_truncate_cb = Option<unsafe extern "C" fn(stream: *mut c_void, size: i64) -> c_int>;

/// Frees the resources of the parameters of a backend.
///
/// - `params`: the parameters, from blosc2_io; they are not used again.
///
/// Returns a negative value on error.
pub type blosc2_destroy_cb = Option<unsafe extern "C" fn(params: *mut c_void) -> c_int>;

/// An I/O backend.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_io_cb {
    /// The id, at least BLOSC2_IO_REGISTERED.
    pub id: u8,
    /// The name; it is not copied, and must stay valid while the library is loaded.
    pub name: *mut c_char,
    /// Whether `read` fills a buffer of the library instead of returning a pointer to its own
    /// memory.
    pub is_allocation_necessary: Flag,
    /// Opens a file.
    pub open: blosc2_open_cb,
    /// Closes a stream.
    pub close: blosc2_close_cb,
    /// Returns the size of a stream.
    pub size: blosc2_size_cb,
    /// Writes to a stream.
    pub write: blosc2_write_cb,
    /// Reads from a stream.
    pub read: blosc2_read_cb,
    /// Sets the size of a stream.
    pub truncate: blosc2_truncate_cb,
    /// Frees the resources of the parameters.
    pub destroy: blosc2_destroy_cb,
}

assert_layout!(blosc2_io_cb, size 80, align 8, {
    id: 0, name: 8, is_allocation_necessary: 16, open: 24, close: 32, size: 40, write: 48, read: 56,
    truncate: 64, destroy: 72,
});

/// The I/O backend of a storage.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_io {
    /// The id of the backend.
    pub id: u8,
    /// The name of the backend.
    pub name: *const c_char,
    /// The parameters of the backend, or NULL.
    pub params: *mut c_void,
}

assert_layout!(blosc2_io, size 24, align 8, { id: 0, name: 8, params: 16 });

/// The storage of a super-chunk. Start from BLOSC2_STORAGE_DEFAULTS.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_storage {
    /// Whether the chunks are stored in one frame instead of separately.
    pub contiguous: Flag,
    /// The path of the file or directory; NULL for memory.
    pub urlpath: *mut c_char,
    /// The compression parameters; NULL for the defaults.
    pub cparams: *mut blosc2_cparams,
    /// The decompression parameters; NULL for the defaults.
    pub dparams: *mut blosc2_dparams,
    /// The I/O backend; NULL for the file system.
    pub io: *mut blosc2_io,
}

assert_layout!(blosc2_storage, size 40, align 8, {
    contiguous: 0, urlpath: 8, cparams: 16, dparams: 24, io: 32,
});
