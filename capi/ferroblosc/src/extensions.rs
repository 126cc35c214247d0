//! Functions of `libblosc2.so.9` of Ferroblosc that it doesn't export under names of their own.
//!
//! They are in a table that blosc2_get_io_cb() lends. That function is referred to weakly: a program without
//! libblosc2 has no table, and neither has one with another implementation of C-Blosc2.

use crate::constants::FERROBLOSC_IO_DURABLE;
use ferroblosc::{Error, Result, trace_error};
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

/// Returns blosc2_get_io_cb() of the libblosc2 of this process.
fn get_backend() -> Option<GetBackend> {
    // SAFETY: the linker filled the word in, with zero when there is no such function.
    let linked = unsafe { (&raw const GET_BACKEND).read_volatile() };
    linked.or_else(|| {
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
    let table = get_backend().and_then(|get| {
        // SAFETY: a function of blosc2.h, which lends a backend or returns NULL.
        let backend = unsafe { get(FERROBLOSC_IO_DURABLE as u8) };
        NonNull::new(backend.cast_mut())
    });
    // SAFETY: C-Blosc2 has no backend of this number. That of Ferroblosc begins a table, which is static; its
    // size is compared before members that an older one may not have are used.
    let table = table.and_then(|backend| unsafe {
        let table = backend.cast::<Extensions>().as_ptr();
        let is_ours = c_int::from((*table).io.id) == FERROBLOSC_IO_DURABLE
            && (*table).magic == MAGIC
            && (*table).size >= size_of::<Extensions>();
        is_ours.then(|| &*table)
    });
    table.ok_or_else(|| {
        trace_error!("the libblosc2 of this process is not Ferroblosc's, or an older one");
        Error::InvalidParam
    })
}
