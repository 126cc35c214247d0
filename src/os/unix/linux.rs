//! Linux and Android.

use super::path::c_path;
use std::ffi::{CStr, c_char};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The kernel keeps the queue of waiting threads. There is no lock in our memory that a fork could
/// leave held, and waiting allocates nothing.
pub(crate) mod futex {
    use std::ptr;
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    /// Sleeps while `word` holds `expected`. May return at any time, so the caller checks again.
    pub(crate) fn wait(word: &AtomicU32, expected: u32) {
        // SAFETY: FUTEX_WAIT reads the four aligned bytes that `word` borrows for the whole call;
        // the null pointer means no time limit.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                expected,
                ptr::null::<libc::timespec>(),
            );
        }
    }

    /// Sleeps like [`wait`], at most for the duration `limit`.
    pub(crate) fn wait_for(word: &AtomicU32, expected: u32, limit: Duration) {
        let limit =
            libc::timespec { tv_sec: limit.as_secs() as _, tv_nsec: limit.subsec_nanos() as _ };
        // SAFETY: as in `wait`; `limit` outlives the call.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                expected,
                &raw const limit,
            );
        }
    }

    /// Wakes one thread that sleeps on `word`, if there is one.
    pub(crate) fn wake_one(word: &AtomicU32) {
        wake(word, 1);
    }

    /// Wakes all threads that sleep on `word`.
    pub(crate) fn wake_all(word: &AtomicU32) {
        wake(word, i32::MAX);
    }

    fn wake(word: &AtomicU32, count: i32) {
        // SAFETY: FUTEX_WAKE uses the address as a key and does not access the memory.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                count,
            );
        }
    }
}

/// Creates a file without a name, with the other options of `options`.
///
/// # Errors
/// [`ErrorKind::Unsupported`] on file systems that cannot do that; any error of the operating
/// system.
pub(in crate::os) fn open_unnamed(options: &mut OpenOptions, directory: &Path) -> Result<File> {
    let opened = options.custom_flags(libc::O_TMPFILE).open(directory);
    opened.map_err(|error| match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::EISDIR | libc::EINVAL) => ErrorKind::Unsupported.into(),
        _ => error,
    })
}

/// Renames a file if nothing has the new name. Returns `false` if the system cannot do that at
/// once.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`]; any error of the operating system.
pub fn rename_new(from: &Path, to: &Path) -> Result<bool> {
    let (from, to) = (c_path(from)?, c_path(to)?);
    // SAFETY: both paths end with NUL. musl has no function for this system call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            from.as_ptr(),
            libc::AT_FDCWD,
            to.as_ptr(),
            libc::RENAME_NOREPLACE,
        )
    };
    if result == 0 {
        return Ok(true);
    }
    let error = Error::last_os_error();
    match error.raw_os_error() {
        // Old kernels and some file systems.
        Some(libc::ENOSYS | libc::EINVAL) => Ok(false),
        _ => Err(error),
    }
}

/// Returns the result of `File::sync_data` or `File::sync_all`.
pub(in crate::os) fn synced(_file: &File, result: Result<()>) -> Result<()> {
    result
}

/// Names the calling thread; a name that is too long is not set.
pub(in crate::os) fn name_thread(name: &CStr) {
    // SAFETY: the name ends with NUL.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
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
    use std::mem::MaybeUninit;
    use std::os::fd::RawFd;
    use std::ptr::NonNull;

    /// The flag of memory that uses no pages until it is written.
    pub(in crate::os) const NO_RESERVE: i32 = libc::MAP_NORESERVE;

    /// Maps `wanted` bytes of a file instead of `len`, possibly at another address.
    ///
    /// # Errors
    /// Returns any error of the operating system; the old mapping then remains.
    ///
    /// # Safety
    /// `len` bytes of the file are mapped at `start`, and nothing relies on their address.
    pub(in crate::os) unsafe fn resize_shared(
        _fd: RawFd,
        _protection: i32,
        start: NonNull<u8>,
        len: usize,
        wanted: usize,
    ) -> Result<NonNull<u8>> {
        // SAFETY: the caller's contract.
        let new = unsafe { libc::mremap(start.as_ptr().cast(), len, wanted, libc::MREMAP_MAYMOVE) };
        let new = NonNull::new(new.cast()).filter(|_| new != libc::MAP_FAILED);
        new.ok_or_else(Error::last_os_error)
    }

    /// Moves `len` bytes of pages over others; returns whether it succeeded.
    ///
    /// # Safety
    /// The caller owns both ranges, and nothing relies on either.
    pub(in crate::os) unsafe fn move_pages(from: NonNull<u8>, to: NonNull<u8>, len: usize) -> bool {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: the caller guarantees the conditions on both ranges.
        let moved = unsafe { libc::mremap(from.as_ptr().cast(), len, len, flags, to.as_ptr()) };
        moved != libc::MAP_FAILED
    }

    /// Waits until the content of a file whose mapping was synced is on the disk: it is.
    pub(in crate::os) fn flush(_fd: RawFd) -> Result<()> {
        Ok(())
    }

    /// Loads whole pages of a file on tmpfs, where reading a hole reserves memory for it. Kernels
    /// before 5.14 do nothing.
    ///
    /// # Errors
    /// `ENOSPC`.
    pub(in crate::os) fn load_holes(fd: RawFd, start: *mut u8, len: usize) -> Result<()> {
        /// Loads pages, and fails where reading them would raise a signal.
        const MADV_POPULATE_READ: i32 = 22;
        /// The number of tmpfs.
        const TMPFS: u64 = 0x0102_1994;
        let mut found = MaybeUninit::<libc::statfs64>::uninit();
        // SAFETY: the call fills the struct when it returns 0.
        let is_tmpfs = unsafe {
            libc::fstatfs64(fd, found.as_mut_ptr()) == 0
                && found.assume_init().f_type as u64 == TMPFS
        };
        // SAFETY: loading pages does not change memory.
        let loaded =
            !is_tmpfs || unsafe { libc::madvise(start.cast(), len, MADV_POPULATE_READ) } == 0;
        if loaded || Error::last_os_error().raw_os_error() != Some(libc::EFAULT) {
            return Ok(());
        }
        Err(Error::from_raw_os_error(libc::ENOSPC))
    }

    /// Reserves disk space for `len` bytes from `start` on, which are inside a file, if the file
    /// system can.
    ///
    /// # Errors
    /// Those of the system.
    pub(in crate::os) fn reserve_within(fd: RawFd, start: i64, len: i64) -> Result<()> {
        allocate(fd, libc::FALLOC_FL_KEEP_SIZE, start, len).map(|_| ())
    }

    /// Extends a file by `len` bytes at its end, `start`, and reserves disk space for them. Returns
    /// `false` on file systems that cannot reserve space.
    ///
    /// # Errors
    /// Returns any error of the operating system; the file may have grown nevertheless.
    pub(in crate::os) fn reserve(fd: RawFd, start: i64, len: i64) -> Result<bool> {
        allocate(fd, 0, start, len)
    }

    fn allocate(fd: RawFd, flags: i32, start: i64, len: i64) -> Result<bool> {
        loop {
            // SAFETY: the call accesses no memory.
            if unsafe { libc::fallocate64(fd, flags, start, len) } == 0 {
                return Ok(true);
            }
            let error = Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Ok(false),
                _ => return Err(error),
            }
        }
    }
}
