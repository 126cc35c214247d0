//! Functions of Ferroblosc's `libblosc2.so.9` that it does not export as symbols.
//!
//! blosc2_get_io_cb() returns a table of them. The reference to that function is weak, since a
//! program may not contain libblosc2; on Windows, the DLLs of the process are searched. Without
//! Ferroblosc's libblosc2 there is no table.

use crate::constants::FERROBLOSC_IO_DURABLE;
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::os::library;
use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;

/// Identifies a table of Ferroblosc.
const MAGIC: u64 = u64::from_le_bytes(*b"FERROBLO");

/// A function of a super-chunk or an array.
pub type Function = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The struct of an I/O backend as in blosc2.h; only its id is read here.
#[repr(C)]
struct Backend {
    id: u8,
    name: *mut c_char,
    is_allocation_necessary: bool,
    functions: [*const c_void; 7],
}

/// The table. Its first field is a backend.
#[repr(C)]
pub struct Extensions {
    io: Backend,
    magic: u64,
    size: usize,
    /// Begins a transaction of a super-chunk.
    pub begin: Function,
    /// Commits a transaction of a super-chunk.
    pub commit: Function,
    /// Rolls back a transaction of a super-chunk.
    pub rollback: Function,
    /// Begins a transaction of an array.
    pub begin_array: Function,
    /// Commits a transaction of an array.
    pub commit_array: Function,
    /// Rolls back a transaction of an array.
    pub rollback_array: Function,
    /// Returns the text of the last error of this thread, or NULL.
    pub last_error: extern "C" fn() -> *const c_char,
    /// Returns the `errno` of the last error of this thread, or 0.
    pub last_errno: extern "C" fn() -> c_int,
    /// Sets the last error: a text, or NULL for success, and an `errno`.
    pub set_last_error: unsafe extern "C" fn(*const c_char, c_int),
    /// Opens the super-chunk in a file or directory at an offset, for reading only.
    pub open_read_only: unsafe extern "C" fn(*const c_char, i64, *mut *mut c_void) -> c_int,
    /// Opens the super-chunk in a frame in memory, a block of `malloc`. The super-chunk owns the
    /// block if the call succeeds.
    pub adopt_frame: unsafe extern "C" fn(*mut u8, i64, *mut *mut c_void) -> c_int,
    /// Creates the array of a super-chunk. The array owns the super-chunk if the call succeeds.
    pub array_of: unsafe extern "C" fn(*mut c_void, *mut *mut c_void) -> c_int,
    /// Frees a super-chunk.
    pub free_schunk: Function,
    /// Returns the frame of a super-chunk and whether the caller frees it.
    pub frame_of: unsafe extern "C" fn(*mut c_void, *mut *mut u8, *mut bool) -> i64,
    /// Returns the frame of an array, its size, and whether the caller frees it.
    pub frame_of_array:
        unsafe extern "C" fn(*const c_void, *mut *mut u8, *mut i64, *mut bool) -> c_int,
}

type GetBackend = unsafe extern "C" fn(u8) -> *const Backend;

ferroblosc_capi_common::linked_function! {
    /// Returns the blosc2_get_io_cb() that was present when this library was loaded.
    fn linked() -> "blosc2_get_io_cb": GetBackend;
}

/// Returns the blosc2_get_io_cb() of the process.
fn get_backend() -> Option<GetBackend> {
    linked().or_else(|| {
        let found = library::find(c"blosc2_get_io_cb")?;
        // SAFETY: a symbol of this name is the function declared in blosc2.h.
        Some(unsafe { std::mem::transmute::<NonNull<c_void>, GetBackend>(found) })
    })
}

/// Returns the table of the libblosc2 of the process.
///
/// # Errors
/// [`Error::InvalidParam`] if the process has no libblosc2 of Ferroblosc.
pub fn extensions() -> Result<&'static Extensions> {
    get_backend().and_then(lent).ok_or_else(|| {
        Error::InvalidParam
            .because("the libblosc2 of this process is not Ferroblosc's, or is an older version")
    })
}

/// Returns the table of the libblosc2 that was present when this library was loaded, without a
/// symbol lookup.
pub fn linked_extensions() -> Option<&'static Extensions> {
    linked().and_then(lent)
}

/// Returns the table that `get`, a blosc2_get_io_cb(), returns; `None` if it is not Ferroblosc's or
/// an older one.
fn lent(get: GetBackend) -> Option<&'static Extensions> {
    // SAFETY: the function has the signature of blosc2.h and returns a backend or NULL.
    let backend = unsafe { get(FERROBLOSC_IO_DURABLE as u8) };
    // SAFETY: C-Blosc2 has no backend with this id. Ferroblosc's backend is the first field of a
    // static table, whose size is checked before fields are read that an older table may lack.
    NonNull::new(backend.cast_mut()).and_then(|backend| unsafe {
        let table = backend.cast::<Extensions>().as_ptr();
        let is_ours = c_int::from((*table).io.id) == FERROBLOSC_IO_DURABLE
            && (*table).magic == MAGIC
            && (*table).size >= size_of::<Extensions>();
        is_ours.then(|| &*table)
    })
}
