//! Registration of I/O backends, and operations on super-chunks by path.

use crate::bridge::backends;
use crate::extensions;
use crate::types::io::blosc2_io_cb;
use ferroblosc::io::{ids, paths};
use ferroblosc::{Error, ErrorKind, frame};
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int};
use std::path::Path;
use std::ptr::null_mut;

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
        unsafe { backends::register(pointers::reference(io)?) }?;
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
        let found = backends::address(id);
        let durable = || (id == ids::DURABLE).then(extensions::table);
        Ok::<_, Error>(found.or_else(durable).unwrap_or(null_mut()))
    })
}

/// Removes a directory and the files in it.
///
/// A directory that contains a directory or a dangling link is not the directory of a super-chunk:
/// the call fails and removes nothing.
///
/// - `path`: the path of the directory.
///
/// Returns 0; BLOSC2_ERROR_INVALID_PARAM for NULL or an empty path, BLOSC2_ERROR_NOT_FOUND if the
/// path is not a directory, or BLOSC2_ERROR_FAILURE if an entry cannot be removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_remove_dir(path: *const c_char) -> c_int {
    boundary!(blosc2_remove_dir, {
        // SAFETY: the caller passes a NUL-terminated string, or NULL.
        let path = unsafe { pointers::path(path) }?;
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
        if let Some(path) = unsafe { pointers::path(path) }? {
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
        let paths = unsafe { (pointers::path(old_urlpath), pointers::path(new_path)) };
        let failed = |error: Error| error.recast(ErrorKind::Failure);
        if let (Some(old), Some(new)) = (paths.0.map_err(failed)?, paths.1.map_err(failed)?) {
            frame::recover_journal(old).map_err(|_| Error::Failure)?;
            paths::rename_urlpath(old, new)?;
        }
        Ok(0)
    })
}
