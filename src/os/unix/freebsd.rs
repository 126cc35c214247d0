//! FreeBSD.

use std::ffi::{CStr, c_char};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::path::Path;

/// The kernel keeps the queue of waiting threads, as on Linux.
pub(crate) mod futex {
    use std::ffi::{c_int, c_ulong, c_void};
    use std::ptr::{null_mut, without_provenance_mut};
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    /// Sleeps while `word` holds `expected`. May return at any time, so the caller checks again.
    pub(crate) fn wait(word: &AtomicU32, expected: u32) {
        call(word, libc::UMTX_OP_WAIT_UINT_PRIVATE, expected.into(), null_mut(), null_mut());
    }

    /// Sleeps like [`wait`], at most for the duration `limit`.
    pub(crate) fn wait_for(word: &AtomicU32, expected: u32, limit: Duration) {
        let mut limit =
            libc::timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos() as _ };
        // The first pointer is the size of the struct at the second one.
        let size = without_provenance_mut(size_of::<libc::timespec>());
        let limit = (&raw mut limit).cast();
        call(word, libc::UMTX_OP_WAIT_UINT_PRIVATE, expected.into(), size, limit);
    }

    /// Wakes one thread that sleeps on `word`, if there is one.
    pub(crate) fn wake_one(word: &AtomicU32) {
        call(word, libc::UMTX_OP_WAKE_PRIVATE, 1, null_mut(), null_mut());
    }

    /// Wakes all threads that sleep on `word`.
    pub(crate) fn wake_all(word: &AtomicU32) {
        call(word, libc::UMTX_OP_WAKE_PRIVATE, i32::MAX as c_ulong, null_mut(), null_mut());
    }

    fn call(
        word: &AtomicU32,
        operation: c_int,
        value: c_ulong,
        size: *mut c_void,
        limit: *mut c_void,
    ) {
        // SAFETY: the system reads the four aligned bytes that `word` borrows for the whole call,
        // and the struct at `limit`, which outlives it, or uses the address as a key.
        unsafe { libc::_umtx_op(word.as_ptr().cast(), operation, value, size, limit) };
    }
}

/// Fails with [`ErrorKind::Unsupported`]: all files have names when they are created.
pub(in crate::os) fn open_unnamed(_options: &mut OpenOptions, _directory: &Path) -> Result<File> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns `false`: there is no such call.
pub fn rename_new(_from: &Path, _to: &Path) -> Result<bool> {
    Ok(false)
}

/// Returns the result of `File::sync_data` or `File::sync_all`.
pub(in crate::os) fn synced(_file: &File, result: Result<()>) -> Result<()> {
    result
}

/// Names the calling thread.
pub(in crate::os) fn name_thread(name: &CStr) {
    // SAFETY: the name ends with NUL.
    unsafe { libc::pthread_set_name_np(libc::pthread_self(), name.as_ptr()) };
}

/// Returns the environment of the process: `NAME=value` strings, terminated by null.
pub(in crate::os) fn environment() -> *const *const c_char {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: POSIX defines the variable. It must not be modified concurrently.
    unsafe { environ }
}

/// Sizes of mappings, and disk space.
#[cfg(feature = "mmap")]
pub(in crate::os) mod mapping {
    use std::io::{Error, Result};
    use std::os::fd::RawFd;

    pub(in crate::os) use super::super::bsd::{move_pages, resize_shared};

    /// The flag of memory that uses no pages until it is written: all memory is of this kind.
    pub(in crate::os) const NO_RESERVE: i32 = 0;

    /// Waits until the content of a file whose mapping was synced is on the disk: it is.
    pub(in crate::os) fn flush(_fd: RawFd) -> Result<()> {
        Ok(())
    }

    /// Does nothing: holes are read without disk space.
    ///
    /// # Errors
    /// None; the function of other systems has errors.
    pub(in crate::os) fn load_holes(_fd: RawFd, _start: *mut u8, _len: usize) -> Result<()> {
        Ok(())
    }

    /// Reserves disk space for `len` bytes from `start` on, which are inside a file, if the file
    /// system can.
    ///
    /// # Errors
    /// Those of the system.
    pub(in crate::os) fn reserve_within(fd: RawFd, start: i64, len: i64) -> Result<()> {
        reserve(fd, start, len).map(|_| ())
    }

    /// Extends a file by `len` bytes at its end, `start`, and reserves disk space for them. Returns
    /// `false` on file systems that cannot reserve space.
    ///
    /// # Errors
    /// Returns any error of the operating system; the file may have grown nevertheless.
    pub(in crate::os) fn reserve(fd: RawFd, start: i64, len: i64) -> Result<bool> {
        loop {
            // SAFETY: the call accesses no memory.
            match unsafe { libc::posix_fallocate(fd, start, len) } {
                0 => return Ok(true),
                libc::EINTR => {}
                // ZFS returns EINVAL.
                libc::EINVAL | libc::EOPNOTSUPP => return Ok(false),
                number => return Err(Error::from_raw_os_error(number)),
            }
        }
    }
}
