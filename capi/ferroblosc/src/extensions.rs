//! Functions of `libblosc2.so.9` of Ferroblosc that it doesn't export under names of their own.
//!
//! They are in a table that blosc2_get_io_cb() lends. That function is referred to weakly: a program without
//! libblosc2 has no table, and neither has one with another implementation of C-Blosc2.

use crate::constants::FERROBLOSC_IO_DURABLE;
use ferroblosc::{Error, Result};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;

/// The number that marks a table.
const MAGIC: u64 = u64::from_le_bytes(*b"FERROBLO");

/// A function of a super-chunk or of an array.
pub type Function = unsafe extern "C" fn(*mut c_void) -> c_int;

/// An I/O backend as blosc2.h declares it, of which only the number matters here.
#[repr(C)]
struct Backend {
    id: u8,
    name: *mut c_char,
    is_allocation_necessary: bool,
    functions: [*const c_void; 7],
}

/// The table, which begins with a backend.
#[repr(C)]
pub struct Extensions {
    io: Backend,
    magic: u64,
    size: usize,
    /// Functions of transactions of super-chunks.
    pub begin: Function,
    /// As above.
    pub commit: Function,
    /// As above.
    pub rollback: Function,
    /// Functions of transactions of arrays.
    pub begin_array: Function,
    /// As above.
    pub commit_array: Function,
    /// As above.
    pub rollback_array: Function,
    /// Returns the text of the last error of this thread, or NULL.
    pub last_error: extern "C" fn() -> *const c_char,
    /// Returns its error number of the system, or 0.
    pub last_errno: extern "C" fn() -> c_int,
    /// Makes an error of this library the last one: a text, or NULL for a success, and an error number.
    pub set_last_error: unsafe extern "C" fn(*const c_char, c_int),
}

// A reference from here would be a strong one, so the address is kept where the assembler put it.
std::arch::global_asm!(
    ".weak blosc2_get_io_cb",
    ".pushsection .data.rel,\"aw\",@progbits",
    ".balign 8",
    ".hidden ferroblosc_get_io_cb_if_linked",
    ".globl ferroblosc_get_io_cb_if_linked",
    "ferroblosc_get_io_cb_if_linked:",
    ".8byte blosc2_get_io_cb",
    ".popsection",
);

type GetBackend = unsafe extern "C" fn(u8) -> *const Backend;

unsafe extern "C" {
    #[link_name = "ferroblosc_get_io_cb_if_linked"]
    static GET_BACKEND: Option<GetBackend>;
}

/// Returns blosc2_get_io_cb() of the libblosc2 that was there when this library was loaded.
fn linked() -> Option<GetBackend> {
    // SAFETY: the linker filled the word in, with zero when there is no such function.
    unsafe { (&raw const GET_BACKEND).read_volatile() }
}

/// Returns blosc2_get_io_cb() of the libblosc2 of this process.
fn get_backend() -> Option<GetBackend> {
    linked().or_else(|| {
        // It may have been loaded after this library.
        // SAFETY: the name is NUL-terminated; a function of this name is the one of blosc2.h.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"blosc2_get_io_cb".as_ptr());
            std::mem::transmute::<*mut c_void, Option<GetBackend>>(found)
        }
    })
}

/// Returns the table of the libblosc2 of this process.
///
/// # Errors
/// [`Error::InvalidParam`] when it isn't Ferroblosc's.
pub fn extensions() -> Result<&'static Extensions> {
    get_backend().and_then(lent).ok_or_else(|| {
        Error::InvalidParam
            .because("the libblosc2 of this process is not Ferroblosc's, or an older one")
    })
}

/// Returns the table of the libblosc2 of this process if finding it costs nothing: if it was there
/// when this library was loaded.
pub fn linked_extensions() -> Option<&'static Extensions> {
    linked().and_then(lent)
}

/// Returns the table that a blosc2_get_io_cb() lends.
fn lent(get: GetBackend) -> Option<&'static Extensions> {
    // SAFETY: a function of blosc2.h, which lends a backend or returns NULL.
    let backend = unsafe { get(FERROBLOSC_IO_DURABLE as u8) };
    // SAFETY: C-Blosc2 has no backend of this number. That of Ferroblosc begins a table, which is static; its
    // size is compared before members that an older one may not have are used.
    NonNull::new(backend.cast_mut()).and_then(|backend| unsafe {
        let table = backend.cast::<Extensions>().as_ptr();
        let is_ours = c_int::from((*table).io.id) == FERROBLOSC_IO_DURABLE
            && (*table).magic == MAGIC
            && (*table).size >= size_of::<Extensions>();
        is_ours.then(|| &*table)
    })
}
