//! I/O backends and the storage of a super-chunk.

use super::assert_layout;
use super::params::{blosc2_cparams, blosc2_dparams};
use std::ffi::{c_char, c_int, c_void};

/// Opens a file; gives a stream, or NULL.
pub type blosc2_open_cb = Option<
    unsafe extern "C" fn(
        urlpath: *const c_char,
        mode: *const c_char,
        params: *mut c_void,
    ) -> *mut c_void,
>;

/// Closes a stream; 0 when it worked.
pub type blosc2_close_cb = Option<unsafe extern "C" fn(stream: *mut c_void) -> c_int>;

/// The size of a stream in bytes, or a negative value.
pub type blosc2_size_cb = Option<unsafe extern "C" fn(stream: *mut c_void) -> i64>;

/// Writes nitems items of size bytes at a position; gives the items written.
pub type blosc2_write_cb = Option<
    unsafe extern "C" fn(
        ptr: *const c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64,
>;

/// Reads nitems items of size bytes from a position; gives the items read.
///
/// With is_allocation_necessary, *ptr is the buffer to fill; without, the backend stores there a
/// pointer of its own.
pub type blosc2_read_cb = Option<
    unsafe extern "C" fn(
        ptr: *mut *mut c_void,
        size: i64,
        nitems: i64,
        position: i64,
        stream: *mut c_void,
    ) -> i64,
>;

/// Sets the size of a stream; 0 when it worked.
pub type blosc2_truncate_cb = Option<unsafe extern "C" fn(stream: *mut c_void, size: i64) -> c_int>;

/// Frees what belongs to the parameters of a backend; negative when it failed.
pub type blosc2_destroy_cb = Option<unsafe extern "C" fn(params: *mut c_void) -> c_int>;

/// An I/O backend.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_io_cb {
    /// Its id, from BLOSC2_IO_REGISTERED on.
    pub id: u8,
    /// Its name; must outlive the library.
    pub name: *mut c_char,
    /// Whether read fills a buffer of the library, or hands out a pointer of its own.
    pub is_allocation_necessary: bool,
    /// Opens a file.
    pub open: blosc2_open_cb,
    /// Closes it.
    pub close: blosc2_close_cb,
    /// Tells its size.
    pub size: blosc2_size_cb,
    /// Writes to it.
    pub write: blosc2_write_cb,
    /// Reads from it.
    pub read: blosc2_read_cb,
    /// Sets its size.
    pub truncate: blosc2_truncate_cb,
    /// Frees the parameters.
    pub destroy: blosc2_destroy_cb,
}

assert_layout!(blosc2_io_cb, size 80, align 8, {
    id: 0, name: 8, is_allocation_necessary: 16, open: 24, close: 32, size: 40, write: 48, read: 56,
    truncate: 64, destroy: 72,
});

/// Which I/O backend to use, and how.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_io {
    /// The id of the backend.
    pub id: u8,
    /// Its name.
    pub name: *const c_char,
    /// Parameters of the backend.
    pub params: *mut c_void,
}

assert_layout!(blosc2_io, size 24, align 8, { id: 0, name: 8, params: 16 });

/// Where and how a super-chunk is stored. Start from BLOSC2_STORAGE_DEFAULTS.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct blosc2_storage {
    /// Whether the chunks are in one frame, or apart.
    pub contiguous: bool,
    /// The file or directory; NULL is memory.
    pub urlpath: *mut c_char,
    /// How to compress; NULL is the defaults.
    pub cparams: *mut blosc2_cparams,
    /// How to decompress; NULL is the defaults.
    pub dparams: *mut blosc2_dparams,
    /// The I/O backend; NULL is the file system.
    pub io: *mut blosc2_io,
}

assert_layout!(blosc2_storage, size 40, align 8, {
    contiguous: 0, urlpath: 8, cparams: 16, dparams: 24, io: 32,
});
