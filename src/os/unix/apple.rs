//! macOS.

use super::path::c_path;
use std::ffi::{CStr, c_char};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::path::Path;

/// macOS 14.4 and later have functions for this. Earlier systems have private ones only, so threads
/// sleep for short times there.
pub(crate) mod futex {
    use std::ffi::{CStr, c_int, c_void};
    use std::mem::transmute;
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
    use std::time::Duration;

    /// The clock of [`wait_for`]: `OS_CLOCK_MACH_ABSOLUTE_TIME`.
    const CLOCK: u32 = 32;

    /// The time for which threads sleep on earlier systems.
    const NAP: Duration = Duration::from_micros(200);

    type Wait = unsafe extern "C" fn(*mut c_void, u64, usize, u32) -> c_int;
    type WaitFor = unsafe extern "C" fn(*mut c_void, u64, usize, u32, u32, u64) -> c_int;
    type Wake = unsafe extern "C" fn(*mut c_void, usize, u32) -> c_int;

    /// A function that the system may lack.
    struct Function {
        name: &'static CStr,
        /// Null until the first use, then the address or [`Function::MISSING`].
        address: AtomicPtr<c_void>,
    }

    impl Function {
        const MISSING: *mut c_void = 1 as *mut c_void;

        const fn new(name: &'static CStr) -> Function {
            Function { name, address: AtomicPtr::new(null_mut()) }
        }

        /// Returns the address of the function.
        fn address(&self) -> Option<*mut c_void> {
            // Relaxed: all threads find the same address.
            let mut address = self.address.load(Ordering::Relaxed);
            if address.is_null() {
                // SAFETY: the name ends with NUL.
                address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr()) };
                if address.is_null() {
                    address = Function::MISSING;
                }
                self.address.store(address, Ordering::Relaxed);
            }
            (address != Function::MISSING).then_some(address)
        }
    }

    /// Sleeps while `word` holds `expected`. May return at any time, so the caller checks again.
    pub(crate) fn wait(word: &AtomicU32, expected: u32) {
        static WAIT: Function = Function::new(c"os_sync_wait_on_address");
        let Some(address) = WAIT.address() else {
            return std::thread::sleep(NAP);
        };
        // SAFETY: the function of this name has this type. It reads the four aligned bytes that
        // `word` borrows for the whole call.
        unsafe {
            transmute::<*mut c_void, Wait>(address)(word.as_ptr().cast(), expected.into(), 4, 0);
        }
    }

    /// Sleeps like [`wait`], at most for the duration `limit`.
    pub(crate) fn wait_for(word: &AtomicU32, expected: u32, limit: Duration) {
        static WAIT_FOR: Function = Function::new(c"os_sync_wait_on_address_with_timeout");
        let Some(address) = WAIT_FOR.address() else {
            return std::thread::sleep(limit.min(NAP));
        };
        // The function refuses 0.
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX).max(1);
        let word = word.as_ptr().cast();
        // SAFETY: as in `wait`.
        unsafe {
            transmute::<*mut c_void, WaitFor>(address)(word, expected.into(), 4, 0, CLOCK, limit);
        }
    }

    /// Wakes one thread that sleeps on `word`, if there is one.
    pub(crate) fn wake_one(word: &AtomicU32) {
        static WAKE_ONE: Function = Function::new(c"os_sync_wake_by_address_any");
        wake(&WAKE_ONE, word);
    }

    /// Wakes all threads that sleep on `word`.
    pub(crate) fn wake_all(word: &AtomicU32) {
        static WAKE_ALL: Function = Function::new(c"os_sync_wake_by_address_all");
        wake(&WAKE_ALL, word);
    }

    fn wake(function: &Function, word: &AtomicU32) {
        if let Some(address) = function.address() {
            // SAFETY: the functions of these names have this type. They use the address as a key.
            unsafe { transmute::<*mut c_void, Wake>(address)(word.as_ptr().cast(), 4, 0) };
        }
    }
}

/// Fails with [`ErrorKind::Unsupported`]: all files have names when they are created.
pub(in crate::os) fn open_unnamed(_options: &mut OpenOptions, _directory: &Path) -> Result<File> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns the result of `File::sync_data` or `File::sync_all`, which includes the cache of the disk,
/// or that of `fsync` on file systems that cannot flush this cache.
pub(in crate::os) fn synced(file: &File, flushed: Result<()>) -> Result<()> {
    super::full_sync::or_plain(flushed, || {
        // SAFETY: the call accesses no memory.
        match unsafe { libc::fsync(file.as_raw_fd()) } {
            0 => Ok(()),
            _ => Err(Error::last_os_error()),
        }
    })
}

/// Renames a file if nothing has the new name. Returns `false` if the system cannot do that at
/// once.
///
/// # Errors
/// [`ErrorKind::AlreadyExists`]; any error of the operating system.
pub fn rename_new(from: &Path, to: &Path) -> Result<bool> {
    let (from, to) = (c_path(from)?, c_path(to)?);
    // SAFETY: both paths end with NUL.
    if unsafe { libc::renamex_np(from.as_ptr(), to.as_ptr(), libc::RENAME_EXCL) } == 0 {
        return Ok(true);
    }
    let error = Error::last_os_error();
    match error.raw_os_error() {
        // Some file systems.
        Some(libc::ENOTSUP | libc::EINVAL) => Ok(false),
        _ => Err(error),
    }
}

/// Names the calling thread; a name that is too long is not set.
pub(in crate::os) fn name_thread(name: &CStr) {
    // SAFETY: the name ends with NUL.
    unsafe { libc::pthread_setname_np(name.as_ptr()) };
}

/// Returns the environment of the process: `NAME=value` strings, terminated by null.
pub(in crate::os) fn environment() -> *const *const c_char {
    // SAFETY: the pointer is always valid. The variable must not be modified concurrently. (Shared
    // libraries cannot refer to the variable itself.)
    unsafe { (*libc::_NSGetEnviron()).cast_const().cast() }
}

/// Sizes of mappings, and disk space.
#[cfg(feature = "mmap")]
pub(in crate::os) mod mapping {
    use std::fs::File;
    use std::io::{Error, Result};
    use std::mem::ManuallyDrop;
    use std::os::fd::{FromRawFd, RawFd};

    pub(in crate::os) use super::super::bsd::{move_pages, resize_shared};

    /// The flag of memory that uses no pages until it is written.
    pub(in crate::os) const NO_RESERVE: i32 = libc::MAP_NORESERVE;

    /// Waits until the content of a file whose mapping was synced is on the disk: that does not
    /// include the cache of the disk.
    pub(in crate::os) fn flush(fd: RawFd) -> Result<()> {
        // SAFETY: the descriptor is open, and the file is not closed here.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
        super::synced(&file, file.sync_all())
    }

    /// Does nothing: holes are read without disk space.
    ///
    /// # Errors
    /// None; the function of other systems has errors.
    pub(in crate::os) fn load_holes(_fd: RawFd, _start: *mut u8, _len: usize) -> Result<()> {
        Ok(())
    }

    /// Does nothing: the system reserves no space inside a file.
    ///
    /// # Errors
    /// None; the function of other systems has errors.
    pub(in crate::os) fn reserve_within(_fd: RawFd, _start: i64, _len: i64) -> Result<()> {
        Ok(())
    }

    /// Reserves disk space for `len` bytes after the end of a file, which keeps its size. Returns
    /// `false`: the caller extends the file.
    ///
    /// # Errors
    /// Returns any error of the operating system, if the disk is full.
    pub(in crate::os) fn reserve(fd: RawFd, _start: i64, len: i64) -> Result<bool> {
        let mut request = libc::fstore_t {
            fst_flags: libc::F_ALLOCATEALL,
            fst_posmode: libc::F_PEOFPOSMODE,
            fst_offset: 0,
            fst_length: len,
            fst_bytesalloc: 0,
        };
        // SAFETY: the call reads and writes the struct.
        if unsafe { libc::fcntl(fd, libc::F_PREALLOCATE, &raw mut request) } == 0 {
            return Ok(false);
        }
        let error = Error::last_os_error();
        // Some file systems cannot reserve space.
        if error.raw_os_error() == Some(libc::ENOSPC) { Err(error) } else { Ok(false) }
    }
}
