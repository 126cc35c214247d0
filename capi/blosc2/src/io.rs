//! I/O backends by id, and operations on super-chunks by path.

use crate::constants::io::{
    BLOSC2_IO_FILESYSTEM, BLOSC2_IO_FILESYSTEM_MMAP, BLOSC2_IO_REGISTERED, BLOSC2_IO_USER_DEFINED,
};
use crate::defaults::FILESYSTEM_NAME;
use crate::types::io::blosc2_io_cb;
use crate::{extensions, mmap, stdio};
use ferroblosc::frame;
use ferroblosc::io::{ids, paths};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::{boundary, pointers};
use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;

pub use crate::bridge::io::{backend, is_locked};

/// The first id of user-registered backends.
const FIRST_USER: usize = BLOSC2_IO_REGISTERED as usize;
/// The number of ids for user-registered backends.
const USERS: usize = BLOSC2_IO_USER_DEFINED as usize - FIRST_USER;

/// The file-system backend: files accessed with system calls.
pub(crate) const FILESYSTEM: blosc2_io_cb = blosc2_io_cb {
    id: BLOSC2_IO_FILESYSTEM as u8,
    name: FILESYSTEM_NAME.as_ptr().cast_mut(),
    is_allocation_necessary: true,
    open: Some(stdio::blosc2_stdio_open),
    close: Some(stdio::blosc2_stdio_close),
    size: Some(stdio::blosc2_stdio_size),
    write: Some(stdio::blosc2_stdio_write),
    read: Some(stdio::blosc2_stdio_read),
    truncate: Some(stdio::blosc2_stdio_truncate),
    destroy: Some(stdio::blosc2_stdio_destroy),
};

/// The mapped-file backend.
pub(crate) const FILESYSTEM_MMAP: blosc2_io_cb = blosc2_io_cb {
    id: BLOSC2_IO_FILESYSTEM_MMAP as u8,
    name: c"filesystem_mmap".as_ptr().cast_mut(),
    is_allocation_necessary: false,
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

/// Returns the backend with this id.
fn entry(id: u8) -> Option<&'static RegisteredBackend> {
    let id = usize::from(id);
    match id.checked_sub(FIRST_USER) {
        Some(user) => USER_BACKENDS.get(user)?.get(),
        None => BUILT_IN.get(id),
    }
}

/// Returns the callbacks of the backend with this id.
pub(crate) fn registered(id: u8) -> Option<blosc2_io_cb> {
    // SAFETY: the struct does not change during this read, see `RegisteredBackend`.
    entry(id).map(|backend| unsafe { *backend.0.get() })
}

/// Registers a backend.
///
/// # Safety
/// The name is NULL or NUL-terminated.
unsafe fn register(io: &blosc2_io_cb) -> Result<()> {
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

/// Registers an I/O backend for the lifetime of the process.
///
/// Registering the same id and name again has no effect.
///
/// - `io`: the backend. The struct is copied; its name belongs to the caller and must outlive the
///   process. Its id is at least BLOSC2_IO_REGISTERED.
///
/// Returns 0, or BLOSC2_ERROR_PLUGIN_IO if the id is too small or registered with another name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_io_cb(io: *const blosc2_io_cb) -> c_int {
    boundary!(blosc2_register_io_cb, {
        // SAFETY: the caller passes a struct whose name is NULL or NUL-terminated, or NULL.
        unsafe { register(pointers::reference(io)?) }?;
        Ok(0)
    })
}

/// Returns the I/O backend with an id.
///
/// - `id`: the id of the backend.
///
/// Returns the backend, which the library owns for the lifetime of the process, or NULL if the id
/// is not registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_io_cb(id: u8) -> *mut blosc2_io_cb {
    boundary!(blosc2_get_io_cb, unrecorded, {
        // The last error is unchanged, since programs call this function to find the functions that
        // return the last error.
        let found = match entry(id) {
            Some(registered) => registered.0.get(),
            None if id == ids::DURABLE => extensions::table(),
            None => null_mut(),
        };
        Ok::<_, Error>(found)
    })
}

/// Removes a directory and the files in it. Subdirectories are not removed.
///
/// - `path`: the path of the directory.
///
/// Returns 0; BLOSC2_ERROR_INVALID_PARAM for NULL or an empty path, BLOSC2_ERROR_NOT_FOUND if the
/// path is not a directory, or BLOSC2_ERROR_FAILURE if an entry cannot be removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_remove_dir(path: *const c_char) -> c_int {
    boundary!(blosc2_remove_dir, {
        // SAFETY: the caller passes a NUL-terminated string, or NULL.
        let path = unsafe { pointers::path(path) };
        paths::remove_dir(path.unwrap_or(Path::new("")))?;
        Ok(0)
    })
}

/// Removes a super-chunk from disk: a file with its lock and journal, or a directory.
///
/// - `path`: the path of the super-chunk. NULL or a missing path is not an error.
///
/// Returns 0, BLOSC2_ERROR_FILE_REMOVE if the file cannot be removed, or an error of
/// blosc2_remove_dir().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_remove_urlpath(path: *const c_char) -> c_int {
    boundary!(blosc2_remove_urlpath, {
        // SAFETY: the caller passes a NUL-terminated string, or NULL.
        if let Some(path) = unsafe { pointers::path(path) } {
            paths::remove_urlpath(path)?;
        }
        Ok(0)
    })
}

/// Renames a super-chunk on disk, a file or a directory.
///
/// An interrupted change of the super-chunk is rolled back first. An existing file with the new
/// name is replaced.
///
/// - `old_urlpath`: the current path. With NULL, the call has no effect.
/// - `new_path`: the new path. With NULL, the call has no effect.
///
/// Returns 0, or BLOSC2_ERROR_FAILURE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_rename_urlpath(
    old_urlpath: *mut c_char,
    new_path: *mut c_char,
) -> c_int {
    boundary!(blosc2_rename_urlpath, {
        // SAFETY: the caller passes NUL-terminated strings, or NULL.
        let (old, new) = unsafe { (pointers::path(old_urlpath), pointers::path(new_path)) };
        if let (Some(old), Some(new)) = (old, new) {
            frame::recover_journal(old).map_err(|_| Error::Failure)?;
            paths::rename_urlpath(old, new)?;
        }
        Ok(0)
    })
}
