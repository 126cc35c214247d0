//! I/O backends by number, and frames by path.

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

/// First number of a user's backend.
const FIRST_USER: usize = BLOSC2_IO_REGISTERED as usize;
/// Numbers for users' backends.
const USERS: usize = BLOSC2_IO_USER_DEFINED as usize - FIRST_USER;

/// Files by system calls.
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

/// Files mapped into memory.
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

/// A backend that is known. It never moves and never goes, as blosc2_get_io_cb() lends it.
struct Known(UnsafeCell<blosc2_io_cb>);

// SAFETY: the functions of a backend may be called from any thread, and its name outlives the
// library; whoever changes what blosc2_get_io_cb() lends does it while nobody uses the backend. All
// three are rules of the C interface.
unsafe impl Send for Known {}
// SAFETY: as above.
unsafe impl Sync for Known {}

static BUILT_IN: [Known; 2] = [
    Known(UnsafeCell::new(FILESYSTEM)),
    Known(UnsafeCell::new(FILESYSTEM_MMAP)),
];
static OF_USERS: [OnceLock<Known>; USERS] = [const { OnceLock::new() }; USERS];

/// The backend with this number.
fn known(id: u8) -> Option<&'static Known> {
    let id = usize::from(id);
    match id.checked_sub(FIRST_USER) {
        Some(user) => OF_USERS.get(user)?.get(),
        None => BUILT_IN.get(id),
    }
}

/// The callbacks of the backend with this number.
pub(crate) fn registered(id: u8) -> Option<blosc2_io_cb> {
    // SAFETY: nobody changes them now, see `Known`.
    known(id).map(|known| unsafe { *known.0.get() })
}

/// Adds a backend.
///
/// # Safety
/// The name is NULL or NUL-terminated.
unsafe fn register(io: &blosc2_io_cb) -> Result<()> {
    let slot = usize::from(io.id)
        .checked_sub(FIRST_USER)
        .and_then(|user| OF_USERS.get(user))
        .ok_or(Error::PluginIo)?;
    let known = slot.get_or_init(|| Known(UnsafeCell::new(*io)));
    // SAFETY: nobody changes the backend now, see `Known`; the caller promises the names.
    let same = unsafe { pointers::c_str((*known.0.get()).name) == pointers::c_str(io.name) };
    match same {
        true => Ok(()),
        false => Err(Error::PluginIo),
    }
}

/// Makes an I/O backend known, for as long as the process lives. The struct is copied, its name is
/// not.
///
/// Gives 0; registering the same id and name again changes nothing. An id below
/// BLOSC2_IO_REGISTERED, or one taken by another name, is refused with BLOSC2_ERROR_PLUGIN_IO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_register_io_cb(io: *const blosc2_io_cb) -> c_int {
    boundary!(blosc2_register_io_cb, {
        // SAFETY: the caller passes a struct whose name is NULL or NUL-terminated, or NULL.
        unsafe { register(pointers::reference(io)?) }?;
        Ok(0)
    })
}

/// The I/O backend with this id, or NULL. It stays where it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_get_io_cb(id: u8) -> *mut blosc2_io_cb {
    boundary!(blosc2_get_io_cb, unrecorded, {
        // Unrecorded, as the functions that ask for the last error come here first.
        let found = match known(id) {
            Some(known) => known.0.get(),
            None if id == ids::DURABLE => extensions::table(),
            None => null_mut(),
        };
        Ok::<_, Error>(found)
    })
}

/// Removes the files of a directory, then the directory.
///
/// Gives 0; BLOSC2_ERROR_INVALID_PARAM for NULL or an empty path, BLOSC2_ERROR_NOT_FOUND for what is
/// no directory, BLOSC2_ERROR_FAILURE when something in it couldn't be removed, as directories
/// can't.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_remove_dir(path: *const c_char) -> c_int {
    boundary!(blosc2_remove_dir, {
        // SAFETY: the caller passes a NUL-terminated string, or NULL.
        let path = unsafe { pointers::path(path) };
        paths::remove_dir(path.unwrap_or(Path::new("")))?;
        Ok(0)
    })
}

/// Removes a super-chunk from the disk, be it a file, which goes with its lock and
/// what an interrupted change left beside it, or a directory.
///
/// Gives 0, also for NULL and when there is nothing; BLOSC2_ERROR_FILE_REMOVE for a file that can't
/// be removed, and what blosc2_remove_dir() gives.
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

/// Renames a super-chunk on the disk, be it a file or a directory; a file of the new name is
/// replaced. An interrupted change of the super-chunk is taken back first. Gives 0, also for NULL, or BLOSC2_ERROR_FAILURE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_rename_urlpath(
    old_urlpath: *mut c_char,
    new_path: *mut c_char,
) -> c_int {
    boundary!(blosc2_rename_urlpath, {
        // SAFETY: the caller passes NUL-terminated strings, or NULL.
        let (old, new) = unsafe { (pointers::path(old_urlpath), pointers::path(new_path)) };
        if let (Some(old), Some(new)) = (old, new) {
            frame::settle_journal(old).map_err(|_| Error::Failure)?;
            paths::rename_urlpath(old, new)?;
        }
        Ok(0)
    })
}
