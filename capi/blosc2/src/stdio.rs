//! The file-system backend as callbacks: files of the C library, read and written at positions.

use crate::types::stdio::blosc2_stdio_file;
use ferroblosc::Error;
use ferroblosc_capi_common::{boundary, pointers};
use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io::ErrorKind;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;
use std::slice;

/// What a call is asked to read or write.
pub(crate) struct Transfer {
    /// Where in the file.
    pub position: u64,
    /// Bytes of all items.
    pub len: usize,
    /// Bytes of an item.
    item: usize,
}

impl Transfer {
    /// The items at a position; none when the numbers make no sense.
    pub fn new(size: i64, nitems: i64, position: i64) -> Option<Transfer> {
        let item = usize::try_from(size).ok()?;
        let len = item.checked_mul(usize::try_from(nitems).ok()?)?;
        isize::try_from(len).ok()?;
        Some(Transfer {
            position: u64::try_from(position).ok()?,
            len,
            item,
        })
    }

    /// How many whole items `bytes` of them are.
    pub fn items(&self, bytes: usize) -> i64 {
        bytes.checked_div(self.item).unwrap_or(0) as i64
    }

    /// Lets `step` read or write from a position, given how many bytes are done, until all are or
    /// it can't go on. Gives the bytes done.
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

/// The C file of a stream; none when there is none.
///
/// # Safety
/// `stream` is NULL or what blosc2_stdio_open() gives.
unsafe fn c_file(stream: *mut c_void) -> Option<*mut libc::FILE> {
    // SAFETY: the caller passes a stream or NULL.
    let stream = unsafe { stream.cast::<blosc2_stdio_file>().as_ref() }?;
    (!stream.file.is_null()).then_some(stream.file)
}

/// The descriptor of a stream, which stays open; none when there is none.
///
/// # Safety
/// As for [`c_file`]; the stream isn't closed while the result is in use.
unsafe fn descriptor(stream: *mut c_void) -> Option<ManuallyDrop<File>> {
    // SAFETY: the caller passes a stream or NULL, whose file is open.
    unsafe {
        let fd = libc::fileno(c_file(stream)?);
        (fd >= 0).then(|| ManuallyDrop::new(File::from_raw_fd(fd)))
    }
}

/// Opens a file. mode is as for fopen(); params is not used. Gives a blosc2_stdio_file, or NULL.
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
        // SAFETY: both are NUL-terminated; the memory of `malloc` is aligned for the struct, and
        // large enough; a file whose stream can't be made is nobody else's.
        unsafe {
            let file = libc::fopen(urlpath, mode);
            if file.is_null() {
                let error = Error::FileOpen.during("open").last_os();
                return Err(match pointers::path(urlpath) {
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

/// Closes a stream of blosc2_stdio_open() and frees it. Gives 0 when it worked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_close(stream: *mut c_void) -> c_int {
    boundary!(blosc2_stdio_close, always, {
        // SAFETY: the caller passes a stream or NULL, and doesn't use it again.
        unsafe {
            let file = c_file(stream).ok_or(Error::Failure)?;
            let closed = libc::fclose(file);
            libc::free(stream);
            Ok(closed)
        }
    })
}

/// The size of a file in bytes, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_size(stream: *mut c_void) -> i64 {
    boundary!(blosc2_stdio_size, {
        // SAFETY: the caller passes a stream or NULL, whose file is open.
        unsafe {
            let file = c_file(stream).ok_or(Error::Failure)?;
            let position = libc::ftello(file);
            if position < 0 || libc::fseeko(file, 0, libc::SEEK_END) != 0 {
                return Err(Error::Failure);
            }
            let size = libc::ftello(file);
            match libc::fseeko(file, position, libc::SEEK_SET) {
                0 => Ok(size),
                _ => Err(Error::Failure),
            }
        }
    })
}

/// Writes nitems items of size bytes at a position. Gives the whole items written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_write(
    ptr: *const c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    boundary!(blosc2_stdio_write, {
        // SAFETY: the caller passes a stream or NULL, and doesn't close it meanwhile.
        let file = unsafe { descriptor(stream) };
        let (Some(file), Some(transfer)) = (file, Transfer::new(size, nitems, position)) else {
            return Ok(0);
        };
        if ptr.is_null() || transfer.len == 0 {
            return Ok(0);
        }
        // SAFETY: not NULL, and the caller promises so many bytes.
        let bytes = unsafe { slice::from_raw_parts(ptr.cast::<u8>(), transfer.len) };
        let written = transfer.run(|position, done| file.write_at(&bytes[done..], position));
        Ok::<i64, Error>(transfer.items(written))
    })
}

/// Reads nitems items of size bytes at a position into *ptr. Gives the whole items read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_read(
    ptr: *mut *mut c_void,
    size: i64,
    nitems: i64,
    position: i64,
    stream: *mut c_void,
) -> i64 {
    boundary!(blosc2_stdio_read, {
        // SAFETY: the caller passes a stream or NULL, and doesn't close it meanwhile; ptr is NULL
        // or points to a pointer.
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
            // SAFETY: the caller promises room for `len` bytes, of which `done` are filled. No
            // byte is read before it is written.
            let rest = unsafe {
                slice::from_raw_parts_mut(dest.cast::<u8>().add(done), transfer.len - done)
            };
            file.read_at(rest, position)
        });
        Ok::<i64, Error>(transfer.items(read))
    })
}

/// Makes a file size bytes long. Gives 0, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_truncate(stream: *mut c_void, size: i64) -> c_int {
    boundary!(blosc2_stdio_truncate, {
        // SAFETY: the caller passes a stream or NULL, and doesn't close it meanwhile.
        let file = unsafe { descriptor(stream) }.ok_or(Error::Failure)?;
        let size = u64::try_from(size).map_err(|_| Error::Failure)?;
        file.set_len(size)
            .map_err(|error| Error::Failure.during("set the length of a file").os(error))?;
        Ok(0)
    })
}

/// Frees the parameters, which have nothing to be freed. Gives 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_stdio_destroy(_params: *mut c_void) -> c_int {
    0
}
