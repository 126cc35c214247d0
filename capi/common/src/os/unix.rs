//! Systems with the functions of POSIX.

#[cfg(target_vendor = "apple")]
mod apple;
#[cfg(not(target_vendor = "apple"))]
mod elf;
#[cfg(target_os = "freebsd")]
mod freebsd;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(not(target_vendor = "apple"))]
mod weak;

#[cfg(target_vendor = "apple")]
use apple as system;
#[cfg(target_os = "freebsd")]
use freebsd as system;
#[cfg(any(target_os = "linux", target_os = "android"))]
use linux as system;

/// Timestamps of a monotonic clock.
pub mod clock {
    /// A point in time.
    pub type Timestamp = libc::timespec;

    /// Stores the time; returns whether that succeeded.
    pub fn store_now(time: &mut Timestamp) -> bool {
        // SAFETY: the struct is a valid output.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, time) == 0 }
    }

    /// Returns the difference of two timestamps in nanoseconds; exact below 2^53 ns, about 104
    /// days.
    pub fn nanoseconds_between(start: Timestamp, end: Timestamp) -> f64 {
        let seconds = end.tv_sec as f64 - start.tv_sec as f64;
        1e9 * seconds + (end.tv_nsec as f64 - start.tv_nsec as f64)
    }
}

/// The error number of the thread.
pub mod errno {
    use std::io::Error;

    /// Sets the error number to 0.
    pub fn clear() {
        // SAFETY: the address of this thread's `errno` is always valid.
        unsafe { *super::system::errno_location() = 0 };
    }

    /// Returns the error of a function of the C library or the system that failed since [`clear`].
    pub fn since_clear() -> Option<Error> {
        Some(Error::last_os_error()).filter(|error| error.raw_os_error() != Some(0))
    }
}

/// Functions that are called before and after a fork.
pub mod fork {
    /// Registers a function that is called before a fork, and one that is called after it in parent
    /// and child. Without memory, they are not registered.
    ///
    /// # Safety
    /// The functions stay loaded until the process ends.
    pub unsafe fn watch(before: unsafe extern "C" fn(), after: unsafe extern "C" fn()) {
        // SAFETY: the caller's contract.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    }
}

/// Shared libraries that are loaded at run time.
pub mod library {
    use std::ffi::{CStr, CString, c_void};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr::NonNull;

    /// Loads a library, which is never unloaded. A name without a directory is searched by the
    /// dynamic linker.
    ///
    /// # Errors
    /// The text of the system.
    ///
    /// # Safety
    /// The initialisers of the library run.
    pub unsafe fn load(path: &Path) -> Result<NonNull<c_void>, String> {
        let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
            return Err("the path contains NUL".into());
        };
        // SAFETY: a NUL-terminated path. The error text is NUL-terminated, and valid until the next
        // call of a `dl` function by the thread.
        unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            NonNull::new(library).ok_or_else(|| {
                let text = libc::dlerror();
                if text.is_null() {
                    "unknown error".into()
                } else {
                    CStr::from_ptr(text).to_string_lossy().into_owned()
                }
            })
        }
    }

    /// Returns the address of a symbol of a loaded library.
    pub fn symbol(library: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the library is never unloaded.
        NonNull::new(unsafe { libc::dlsym(library.as_ptr(), name.as_ptr()) })
    }

    /// Returns the address of a symbol of the process. Symbols of libraries that were loaded with
    /// `RTLD_LOCAL` are not found.
    pub fn find(name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the name ends with NUL.
        NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
    }
}

/// The shared libraries of the process.
pub mod objects {
    use std::ffi::{CStr, c_int, c_void};
    use std::ptr::{NonNull, null};

    pub use super::system::loaded;

    /// Returns a handle of the object of this name, if it is loaded.
    pub fn open_loaded(name: &CStr) -> Option<NonNull<c_void>> {
        open_with(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD)
    }

    /// Loads a library and returns a handle of it.
    ///
    /// # Safety
    /// The initialisers of the library run.
    pub unsafe fn open(name: &CStr) -> Option<NonNull<c_void>> {
        open_with(name, libc::RTLD_LAZY | libc::RTLD_LOCAL)
    }

    fn open_with(name: &CStr, flags: c_int) -> Option<NonNull<c_void>> {
        let name = if name.is_empty() { null() } else { name.as_ptr() };
        // SAFETY: the name is a C string, or NULL for the program.
        NonNull::new(unsafe { libc::dlopen(name, flags) })
    }

    /// Releases a handle.
    ///
    /// # Safety
    /// The handle is not used again.
    pub unsafe fn close(handle: NonNull<c_void>) {
        // SAFETY: the caller's contract.
        unsafe { libc::dlclose(handle.as_ptr()) };
    }
}

/// Paths as C strings.
pub mod path {
    use std::ffi::{CStr, CString, OsStr};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    /// Returns the path of a C string.
    pub fn of(text: &CStr) -> Option<&Path> {
        Some(Path::new(OsStr::from_bytes(text.to_bytes())))
    }

    /// Returns a path as a C string; `None` for a path with NUL.
    pub fn text(path: &Path) -> Option<CString> {
        CString::new(path.as_os_str().as_bytes()).ok()
    }
}

/// The output of a command.
pub mod shell {
    use std::ffi::CString;
    use std::ptr::NonNull;

    /// Runs a statement of Python with a shell; stores its output and returns the number of bytes.
    ///
    /// Uses `popen`: `std::process` refers to functions that some C libraries lack, which a static
    /// library would require.
    pub fn output_of_python(python: &str, statement: &str, output: &mut [u8]) -> Option<usize> {
        let command = format!("{python} -c '{statement}' </dev/null 2>/dev/null");
        let command = CString::new(command).ok()?;
        // SAFETY: the texts are NUL-terminated, `output` has `output.len()` bytes, and the pipe is
        // closed once.
        unsafe {
            let pipe = NonNull::new(libc::popen(command.as_ptr(), c"r".as_ptr()))?.as_ptr();
            let len = libc::fread(output.as_mut_ptr().cast(), 1, output.len(), pipe);
            libc::pclose(pipe);
            Some(len)
        }
    }
}

/// A pointer for each thread.
pub mod slot {
    use std::ffi::c_void;

    /// The number of a slot.
    pub type Key = libc::pthread_key_t;

    /// Allocates a slot. `free` receives the pointer of an exiting thread, unless it is null.
    ///
    /// # Safety
    /// The function stays loaded until the process ends.
    pub unsafe fn allocate(free: unsafe extern "C" fn(*mut c_void)) -> Option<Key> {
        let mut key = 0;
        // SAFETY: the call initialises the key if it returns 0.
        (unsafe { libc::pthread_key_create(&mut key, Some(free)) } == 0).then_some(key)
    }

    /// Returns the pointer of this thread, which is null at first.
    pub fn get(key: Key) -> *mut c_void {
        // SAFETY: the key exists.
        unsafe { libc::pthread_getspecific(key) }
    }

    /// Sets the pointer of this thread; returns whether that succeeded.
    ///
    /// # Safety
    /// The function that frees the pointer may be called with it when the thread exits.
    pub unsafe fn set(key: Key, pointer: *mut c_void) -> bool {
        // SAFETY: the key exists, and the caller's contract.
        unsafe { libc::pthread_setspecific(key, pointer) == 0 }
    }
}

/// Files of the C library.
pub mod stdio {
    use super::system::{fopen, fseeko, ftello};
    use libc::FILE;
    use std::ffi::{CStr, c_int};
    use std::fs::File;
    use std::mem::ManuallyDrop;
    use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};

    /// Opens a file; returns null on failure.
    pub fn open(path: &CStr, mode: &CStr) -> *mut FILE {
        // SAFETY: both strings are NUL-terminated.
        unsafe { fopen(path.as_ptr(), mode.as_ptr()) }
    }

    /// Converts an open file, which `mode` must match; returns null on failure.
    pub fn of(file: File, mode: &CStr) -> *mut FILE {
        // SAFETY: the mode is NUL-terminated, and the number is owned by `file`, which gives it up
        // only if the result owns it.
        unsafe {
            let opened = libc::fdopen(file.as_raw_fd(), mode.as_ptr());
            if !opened.is_null() {
                let _ = file.into_raw_fd();
            }
            opened
        }
    }

    /// Returns the size of a file in bytes; the position is kept.
    ///
    /// # Safety
    /// The file is open.
    pub unsafe fn size(file: *mut FILE) -> Option<i64> {
        // SAFETY: the caller's contract.
        unsafe {
            let position = ftello(file);
            if position < 0 || fseeko(file, 0, libc::SEEK_END) != 0 {
                return None;
            }
            let size = ftello(file);
            (fseeko(file, position, libc::SEEK_SET) == 0).then_some(size)
        }
    }

    /// Returns a file that is not closed on drop.
    ///
    /// # Safety
    /// The file is open, and stays open while the result is in use.
    pub unsafe fn borrowed(file: *mut FILE) -> Option<ManuallyDrop<File>> {
        // SAFETY: the caller's contract.
        unsafe {
            let number = number(file);
            (number >= 0).then(|| ManuallyDrop::new(File::from_raw_fd(number)))
        }
    }

    /// Returns the number of a file.
    ///
    /// # Safety
    /// The file is open.
    pub unsafe fn number(file: *mut FILE) -> c_int {
        // SAFETY: the caller's contract.
        unsafe { libc::fileno(file) }
    }

    /// Returns the file of a number, for mappings.
    pub fn descriptor(number: c_int) -> RawFd {
        number
    }

    /// Lets a number mean the file of another one. Programs that the process executes do not
    /// inherit it.
    pub fn redirect(number: c_int, to: c_int) -> bool {
        // SAFETY: the calls do not access memory.
        unsafe {
            let redirected = libc::dup2(to, number) >= 0;
            // `dup2` cleared the flag.
            redirected && libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) >= 0
        }
    }
}
