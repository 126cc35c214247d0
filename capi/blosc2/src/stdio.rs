//! The callbacks of the file-system backend: files of the C library, read and written at offsets.

use crate::types::stdio::blosc2_stdio_file;
use ferroblosc::Error;
use ferroblosc::os::files;
use ferroblosc_capi_common::os::stdio;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::io::ErrorKind;
use std::mem::ManuallyDrop;
use std::slice;

/// A read or write request.
pub(crate) struct Transfer {
    /// The offset in the file, in bytes.
    pub position: u64,
    /// The size of all items in bytes.
    pub len: usize,
    /// The size of an item in bytes.
    item: usize,
}

impl Transfer {
    /// Returns the request for `nitems` items of `size` bytes at `position`; `None` for negative or
    /// too large numbers.
    pub fn new(size: i64, nitems: i64, position: i64) -> Option<Transfer> {
        let item = usize::try_from(size).ok()?;
        let len = item.checked_mul(usize::try_from(nitems).ok()?)?;
        isize::try_from(len).ok()?;
        Some(Transfer { position: u64::try_from(position).ok()?, len, item })
    }

    /// Returns the number of whole items in `bytes` bytes.
    pub fn items(&self, bytes: usize) -> i64 {
        bytes.checked_div(self.item).unwrap_or(0) as i64
    }

    /// Calls `step(position, done)` to transfer more bytes until all are transferred or no progress
    /// is possible. Returns the number of bytes transferred.
    fn run(&self, step: impl Fn(u64, usize) -> std::io::Result<usize>) -> usize {
        let mut done = 0;
        while done < self.len {
            let Some(position) = self.position.checked_add(done as u64) else {
                break;
            };
            match step(position, done) {
                Ok(0) => break,
                Ok(more) => done += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        done
    }
}

/// Returns the C file of a stream, if there is one.
///
/// # Safety
/// `stream` is NULL or a stream of blosc2_stdio_open().
unsafe fn c_file(stream: *mut c_void) -> Option<*mut libc::FILE> {
    // SAFETY: the caller guarantees NULL or an open stream.
    let stream = unsafe { stream.cast::<blosc2_stdio_file>().as_ref() }?;
    (!stream.file.is_null()).then_some(stream.file)
}

/// Returns the descriptor of a stream as a file that is not closed on drop.
///
/// # Safety
/// The same conditions as for [`c_file`]; the stream is not closed while the result is in use.
unsafe fn descriptor(stream: *mut c_void) -> Option<ManuallyDrop<File>> {
    // SAFETY: the caller guarantees NULL or a stream whose file is open.
    unsafe { stdio::borrowed(c_file(stream)?) }
}

/// Opens a file with the C library.
///
/// - `urlpath`: the path of the file.
/// - `mode`: the mode of fopen().
/// - `_params`: not used.
///
/// Returns a blosc2_stdio_file, which blosc2_stdio_close() frees, or NULL on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_open(
    urlpath: *const c_char,
    mode: *const c_char,
    _params: *mut c_void,
) -> *mut c_void {
    boundary!(blosc2_stdio_open, {
        if urlpath.is_null() || mode.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: both strings are NUL-terminated. Memory from `malloc` is aligned for the struct
        // and has its size. If the stream cannot be allocated, only this call has a pointer to the
        // file.
        unsafe {
            let file = stdio::open(CStr::from_ptr(urlpath), CStr::from_ptr(mode));
            if file.is_null() {
                let error = Error::FileOpen.during("open").last_os();
                return Err(match pointers::path(urlpath)? {
                    Some(path) => error.at(path),
                    None => error,
                });
            }
            let stream: *mut blosc2_stdio_file =
                libc::malloc(size_of::<blosc2_stdio_file>()).cast();
            if stream.is_null() {
                libc::fclose(file);
                return Err(Error::MemoryAlloc);
            }
            stream.write(blosc2_stdio_file { file });
            Ok(stream.cast())
        }
    })
}

/// Closes and frees a stream.
///
/// - `stream`: the stream of blosc2_stdio_open().
///
/// Returns 0, or a non-zero value on error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_close(stream: *mut c_void) -> c_int {
    boundary!(blosc2_stdio_close, always, {
        // SAFETY: the caller passes a stream or NULL, and does not use it again.
        unsafe {
            let file = c_file(stream).ok_or(Error::Failure)?;
            let closed = libc::fclose(file);
            libc::free(stream);
            Ok(closed)
        }
    })
}

/// Returns the size of a file.
///
/// - `stream`: the stream of blosc2_stdio_open().
///
/// Returns the size in bytes, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_size(stream: *mut c_void) -> i64 {
    boundary!(blosc2_stdio_size, {
        // SAFETY: the caller guarantees NULL or a stream whose file is open.
        unsafe { c_file(stream).and_then(|file| stdio::size(file)) }.ok_or(Error::Failure)
    })
}

/// Writes items at an offset of a file.
///
/// - `ptr`: the items.
/// - `size`: the size of an item in bytes.
/// - `nitems`: the number of items.
/// - `position`: the offset in the file in bytes.
/// - `stream`: the stream of blosc2_stdio_open().
///
/// Returns the number of whole items written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_write(
    ptr: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    boundary!(blosc2_stdio_write, {
        // SAFETY: the caller passes a stream or NULL, and does not close it during the call.
        let file = unsafe { descriptor(stream) };
        let (Some(file), Some(transfer)) = (file, Transfer::new(size, nitems, position)) else {
            return Ok(0);
        };
        if ptr.is_null() || transfer.len == 0 {
            return Ok(0);
        }
        // SAFETY: not NULL, and the caller guarantees `len` bytes.
        let bytes = unsafe { slice::from_raw_parts(ptr.cast::<u8>(), transfer.len) };
        let written =
            transfer.run(|position, done| files::write_at(&file, position, &bytes[done..]));
        Ok::<i64, Error>(transfer.items(written))
    })
}

/// Reads items at an offset of a file.
///
/// - `ptr`: points to the address of the destination, a buffer of the caller for all items.
/// - `size`: the size of an item in bytes.
/// - `nitems`: the number of items.
/// - `position`: the offset in the file in bytes.
/// - `stream`: the stream of blosc2_stdio_open().
///
/// Returns the number of whole items read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    boundary!(blosc2_stdio_read, {
        // SAFETY: the caller passes a stream or NULL, and does not close it during the call; `ptr`
        // is NULL or points to a pointer.
        let (file, dest) = unsafe { (descriptor(stream), ptr.as_ref()) };
        let (Some(file), Some(&dest)) = (file, dest) else {
            return Ok(0);
        };
        let Some(transfer) = Transfer::new(size, nitems, position) else {
            return Ok(0);
        };
        if dest.is_null() || transfer.len == 0 {
            return Ok(0);
        }
        let read = transfer.run(|position, done| {
            // SAFETY: the caller guarantees that `len` bytes are writable; `done` of them are
            // filled. No byte is read before it is written.
            let rest = unsafe {
                slice::from_raw_parts_mut(dest.cast::<u8>().add(done), transfer.len - done)
            };
            files::read_at(&file, position, rest)
        });
        Ok::<i64, Error>(transfer.items(read))
    })
}

/// Sets the size of a file.
///
/// - `stream`: the stream of blosc2_stdio_open().
/// - `size`: the new size in bytes.
///
/// Returns 0, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_truncate(stream: *mut c_void, size: i64) -> c_int {
    boundary!(blosc2_stdio_truncate, {
        // SAFETY: the caller passes a stream or NULL, and does not close it during the call.
        let file = unsafe { descriptor(stream) }.ok_or(Error::Failure)?;
        let size = u64::try_from(size).map_err(|_| Error::Failure)?;
        file.set_len(size)
            .map_err(|error| Error::Failure.during("set the length of a file").os(error))?;
        Ok(0)
    })
}

/// Does nothing: the parameters of this backend own no resources.
///
/// - `_params`: not used.
///
/// Returns 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_destroy(_params: *mut c_void) -> c_int {
    0
}
