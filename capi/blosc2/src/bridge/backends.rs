//! The I/O backends by id: the built-in ones, and those that users register.

use crate::constants::io::{
    BLOSC2_IO_FILESYSTEM, BLOSC2_IO_FILESYSTEM_MMAP, BLOSC2_IO_REGISTERED, BLOSC2_IO_USER_DEFINED,
};
use crate::defaults::FILESYSTEM_NAME;
use crate::types::flag::flag;
use crate::types::io::blosc2_io_cb;
use crate::{mmap, stdio};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::pointers;
use std::cell::UnsafeCell;
use std::sync::OnceLock;

/// The first id of user-registered backends.
const FIRST_USER: usize = BLOSC2_IO_REGISTERED as usize;
/// The number of ids for user-registered backends.
const USERS: usize = BLOSC2_IO_USER_DEFINED as usize - FIRST_USER;

/// The file-system backend: files accessed with system calls.
pub const FILESYSTEM: blosc2_io_cb = blosc2_io_cb {
    id: BLOSC2_IO_FILESYSTEM as u8,
    name: FILESYSTEM_NAME.as_ptr().cast_mut(),
    is_allocation_necessary: flag(true),
    open: Some(stdio::blosc2_stdio_open),
    close: Some(stdio::blosc2_stdio_close),
    size: Some(stdio::blosc2_stdio_size),
    write: Some(stdio::blosc2_stdio_write),
    read: Some(stdio::blosc2_stdio_read),
    truncate: Some(stdio::blosc2_stdio_truncate),
    destroy: Some(stdio::blosc2_stdio_destroy),
};

/// The mapped-file backend.
pub const FILESYSTEM_MMAP: blosc2_io_cb = blosc2_io_cb {
    id: BLOSC2_IO_FILESYSTEM_MMAP as u8,
    name: c"filesystem_mmap".as_ptr().cast_mut(),
    is_allocation_necessary: flag(false),
    open: Some(mmap::blosc2_stdio_mmap_open),
    close: Some(mmap::blosc2_stdio_mmap_close),
    size: Some(mmap::blosc2_stdio_mmap_size),
    write: Some(mmap::blosc2_stdio_mmap_write),
    read: Some(mmap::blosc2_stdio_mmap_read),
    truncate: Some(mmap::blosc2_stdio_mmap_truncate),
    destroy: Some(mmap::blosc2_stdio_mmap_destroy),
};

/// A registered backend. It is never moved or removed, since blosc2_get_io_cb() returns its
/// address.
struct RegisteredBackend(UnsafeCell<blosc2_io_cb>);

// SAFETY: three rules of the C interface: the functions of a backend may be called from any thread;
// its name outlives the library; and a program changes the struct that blosc2_get_io_cb() returns
// only while no thread uses the backend.
unsafe impl Send for RegisteredBackend {}
// SAFETY: as above.
unsafe impl Sync for RegisteredBackend {}

static BUILT_IN: [RegisteredBackend; 2] = [
    RegisteredBackend(UnsafeCell::new(FILESYSTEM)),
    RegisteredBackend(UnsafeCell::new(FILESYSTEM_MMAP)),
];
static USER_BACKENDS: [OnceLock<RegisteredBackend>; USERS] = [const { OnceLock::new() }; USERS];

/// Returns the address of the backend with this id, which is valid for the lifetime of the process.
pub fn address(id: u8) -> Option<*mut blosc2_io_cb> {
    let id = usize::from(id);
    let entry = match id.checked_sub(FIRST_USER) {
        Some(user) => USER_BACKENDS.get(user)?.get(),
        None => BUILT_IN.get(id),
    };
    entry.map(|backend| backend.0.get())
}

/// Returns the callbacks of the backend with this id.
pub fn registered(id: u8) -> Option<blosc2_io_cb> {
    // SAFETY: the struct does not change during this read, see `RegisteredBackend`.
    address(id).map(|backend| unsafe { *backend })
}

/// Registers a backend.
///
/// # Safety
/// The name is NULL or NUL-terminated.
pub unsafe fn register(io: &blosc2_io_cb) -> Result<()> {
    let slot = usize::from(io.id)
        .checked_sub(FIRST_USER)
        .and_then(|user| USER_BACKENDS.get(user))
        .ok_or(Error::PluginIo)?;
    let registered = slot.get_or_init(|| RegisteredBackend(UnsafeCell::new(*io)));
    // SAFETY: the registered struct does not change during this read, see `RegisteredBackend`; the
    // caller guarantees both names.
    let same = unsafe { pointers::c_str((*registered.0.get()).name) == pointers::c_str(io.name) };
    if same { Ok(()) } else { Err(Error::PluginIo) }
}
