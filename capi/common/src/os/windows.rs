//! Windows, with the Universal C Runtime.

#[doc(hidden)]
#[macro_export]
macro_rules! without_thread_atexit {
    () => {};
}

// Defines a function that returns a C function of the process, if a DLL that was loaded before the
// first call exports it. That DLL stays loaded until the process ends.
#[doc(hidden)]
#[macro_export]
macro_rules! linked_function {
    ($(#[$doc:meta])* fn $name:ident() -> $symbol:literal: $type:ty;) => {
        $(#[$doc])*
        fn $name() -> Option<$type> {
            static FOUND: std::sync::OnceLock<Option<$type>> = std::sync::OnceLock::new();
            *FOUND.get_or_init(|| {
                let name = std::ffi::CString::new($symbol).ok()?;
                let found = $crate::os::library::find(&name)?;
                // SAFETY: a symbol of this name has this type, which is a pointer.
                Some(unsafe { std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, $type>(found) })
            })
        }
    };
}

/// Timestamps of a monotonic clock.
pub mod clock {
    use windows_sys::Win32::System::Performance::{
        QueryPerformanceCounter, QueryPerformanceFrequency,
    };

    /// A point in time, a `LARGE_INTEGER` of C.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    pub struct Timestamp {
        /// The counter of the system.
        pub ticks: i64,
    }

    /// Stores the time; returns whether that succeeded.
    pub fn store_now(time: &mut Timestamp) -> bool {
        // SAFETY: the call writes the counter.
        unsafe { QueryPerformanceCounter(&mut time.ticks) != 0 }
    }

    /// Returns the difference of two timestamps in nanoseconds.
    pub fn nanoseconds_between(start: Timestamp, end: Timestamp) -> f64 {
        let mut frequency = 0;
        // SAFETY: the call writes the number of ticks in a second, and cannot fail.
        unsafe { QueryPerformanceFrequency(&mut frequency) };
        1e9 * end.ticks.wrapping_sub(start.ticks) as f64 / frequency.max(1) as f64
    }
}

/// The error number of the thread: that of Windows, which functions of the C library set, too.
pub mod errno {
    use std::io::Error;
    use windows_sys::Win32::Foundation::SetLastError;

    /// Sets the error number to 0.
    pub fn clear() {
        // SAFETY: the call has no preconditions.
        unsafe { SetLastError(0) };
    }

    /// Returns the error of a function of the C library or the system that failed since [`clear`].
    pub fn since_clear() -> Option<Error> {
        Some(Error::last_os_error()).filter(|error| error.raw_os_error() != Some(0))
    }
}

/// Functions that are called before and after a fork.
pub mod fork {
    /// Does nothing: Windows has no forks.
    ///
    /// # Safety
    /// None; the function of other systems has requirements.
    pub unsafe fn watch(_before: unsafe extern "C" fn(), _after: unsafe extern "C" fn()) {}
}

/// Shared libraries that are loaded at run time.
pub mod library {
    use std::ffi::{CStr, c_void};
    use std::io::Error;
    use std::os::windows::ffi::OsStrExt;
    use std::path::Path;
    use std::ptr::{NonNull, null_mut};
    use windows_sys::Win32::System::LibraryLoader::{
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
        GetProcAddress, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR,
        LoadLibraryExW,
    };

    /// Loads a DLL, which is never unloaded. A name without a directory is searched in the
    /// directory of the program, that of the system, and those of `AddDllDirectory`; not in the
    /// current directory, because chunks determine names. Other paths can be relative.
    ///
    /// # Errors
    /// The text of the system.
    ///
    /// # Safety
    /// The initialisers of the DLL run.
    pub unsafe fn load(path: &Path) -> Result<NonNull<c_void>, String> {
        // The system searches relative paths in other directories than the current one, and does
        // not expect slashes.
        let has_directory = path.parent().is_some_and(|parent| !parent.as_os_str().is_empty());
        let absolute = has_directory.then(|| std::path::absolute(path)).and_then(Result::ok);
        let path = absolute.as_deref().unwrap_or(path);
        let mut name: Vec<u16> = path.as_os_str().encode_wide().collect();
        if name.contains(&0) {
            return Err("the path contains NUL".into());
        }
        name.push(0);
        let mut flags = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
        if path.is_absolute() {
            flags |= LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
        }
        // SAFETY: the path ends with NUL.
        let library = unsafe { LoadLibraryExW(name.as_ptr(), null_mut(), flags) };
        NonNull::new(library)
            .ok_or_else(|| format!("{}: {}", path.display(), Error::last_os_error()))
    }

    /// Returns the address of a symbol of a loaded library.
    pub fn symbol(library: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the library is never unloaded, and the name ends with NUL.
        let found = unsafe { GetProcAddress(library.as_ptr(), name.as_ptr().cast()) }?;
        NonNull::new((found as *const ()).cast_mut().cast())
    }

    /// Returns the address of a function of the first DLL of the process that exports it. That DLL
    /// stays loaded until the process ends.
    pub fn find(name: &CStr) -> Option<NonNull<c_void>> {
        let modules = super::objects::modules();
        let found = modules.into_iter().filter_map(NonNull::new).find_map(|module| {
            // The system rejects the handle of a DLL that was unloaded since the list was made.
            symbol(module, name)
        })?;
        let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN;
        let mut module = null_mut();
        // SAFETY: with these flags the name is an address, which is not read.
        let kept = unsafe { GetModuleHandleExW(flags, found.as_ptr().cast(), &mut module) } != 0;
        kept.then_some(found)
    }
}

/// The DLLs of the process.
pub mod objects {
    use crate::os::object::Object;
    use std::ffi::{CStr, CString, c_void};
    use std::path::Path;
    use std::ptr::{NonNull, null, null_mut};
    use windows_sys::Win32::Foundation::{FreeLibrary, HMODULE};
    use windows_sys::Win32::System::LibraryLoader::{
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
        GetModuleFileNameW, GetModuleHandleExW,
    };
    use windows_sys::Win32::System::ProcessStatus::K32EnumProcessModules;
    use windows_sys::Win32::System::Threading::GetCurrentProcess;

    /// The upper bound of the number of DLLs that are listed.
    const MAX_MODULES: usize = 4096;

    /// Returns the handles of all DLLs, after that of the program.
    pub fn modules() -> Vec<HMODULE> {
        let mut modules: Vec<HMODULE> = vec![null_mut(); MAX_MODULES];
        let size = (MAX_MODULES * size_of::<HMODULE>()) as u32;
        let mut needed = 0;
        // SAFETY: the call writes at most `size` bytes.
        let listed = unsafe {
            K32EnumProcessModules(GetCurrentProcess(), modules.as_mut_ptr(), size, &mut needed)
        };
        modules.truncate(if listed == 0 { 0 } else { needed as usize / size_of::<HMODULE>() });
        modules
    }

    /// Returns the handle of the program or DLL that contains an address. It is not retained.
    fn module_of(address: *const c_void) -> HMODULE {
        let flags =
            GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
        let mut module = null_mut();
        // SAFETY: with these flags the name is an address, which is not read. Null would stand for
        // the program.
        let found = !address.is_null()
            && unsafe { GetModuleHandleExW(flags, address.cast(), &mut module) } != 0;
        if found { module } else { null_mut() }
    }

    /// Returns all DLLs, and the program. The one that contains `address` is marked.
    pub fn loaded(address: *const c_void) -> Vec<Object> {
        let caller = module_of(address);
        // The program is the first one.
        let named = modules().into_iter().enumerate().filter_map(|(number, module)| {
            let name = if number == 0 { CString::default() } else { name_of(module)? };
            Some(Object { name, has_address: !caller.is_null() && module == caller })
        });
        named.collect()
    }

    fn name_of(module: HMODULE) -> Option<CString> {
        let mut name = [0; 4096];
        // SAFETY: the call writes at most this number of units.
        let len = unsafe { GetModuleFileNameW(module, name.as_mut_ptr(), name.len() as u32) };
        let name = name.get(..len as usize).filter(|name| !name.is_empty())?;
        CString::new(String::from_utf16(name).ok()?).ok()
    }

    /// Returns a handle of the object of this name, if it is loaded.
    pub fn open_loaded(name: &CStr) -> Option<NonNull<c_void>> {
        let wide: Vec<u16> = name.to_str().ok()?.encode_utf16().chain([0]).collect();
        let name = if name.is_empty() { null() } else { wide.as_ptr() };
        let mut module = null_mut();
        // SAFETY: the name ends with NUL, or is null for the program.
        let found = unsafe { GetModuleHandleExW(0, name, &mut module) } != 0;
        NonNull::new(module).filter(|_| found)
    }

    /// Loads a library and returns a handle of it.
    ///
    /// # Safety
    /// The initialisers of the library run.
    pub unsafe fn open(name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the caller's contract.
        unsafe { super::library::load(Path::new(name.to_str().ok()?)) }.ok()
    }

    /// Releases a handle.
    ///
    /// # Safety
    /// The handle is not used again.
    pub unsafe fn close(handle: NonNull<c_void>) {
        // SAFETY: the caller's contract.
        unsafe { FreeLibrary(handle.as_ptr()) };
    }
}

/// Paths as C strings, in UTF-8.
pub mod path {
    use std::ffi::{CStr, CString};
    use std::path::Path;

    /// Returns the path of a C string; `None` if it is not UTF-8.
    pub fn of(text: &CStr) -> Option<&Path> {
        text.to_str().ok().map(Path::new)
    }

    /// Returns a path as a C string; `None` for a path with NUL, and for one that is not Unicode.
    pub fn text(path: &Path) -> Option<CString> {
        CString::new(path.to_str()?).ok()
    }
}

/// The output of a command.
pub mod shell {
    use std::ffi::CString;
    use std::ptr::NonNull;

    /// Runs a statement of Python with the command interpreter; stores its output and returns the
    /// number of bytes.
    pub fn output_of_python(python: &str, statement: &str, output: &mut [u8]) -> Option<usize> {
        // Without the option Python prints in the code page of the system.
        let command = format!("{python} -X utf8 -c \"{statement}\" <NUL 2>NUL");
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
    use windows_sys::Win32::System::Threading::{
        FLS_OUT_OF_INDEXES, FlsAlloc, FlsGetValue, FlsSetValue,
    };

    /// The number of a slot.
    pub type Key = u32;

    /// Allocates a slot. `free` receives the pointer of an exiting thread, unless it is null. The
    /// DLL of this code stays loaded until the process ends.
    ///
    /// # Safety
    /// `free` is a function of this DLL.
    pub unsafe fn allocate(free: unsafe extern "C" fn(*mut c_void)) -> Option<Key> {
        if !ferroblosc::os::keep_loaded() {
            return None;
        }
        // SAFETY: both conventions are the same on 64-bit Windows, and the function does not rely
        // on whether it may change the memory at its argument.
        let key = unsafe {
            FlsAlloc(Some(std::mem::transmute::<
                unsafe extern "C" fn(*mut c_void),
                unsafe extern "system" fn(*const c_void),
            >(free)))
        };
        (key != FLS_OUT_OF_INDEXES).then_some(key)
    }

    /// Returns the pointer of this thread, which is null at first.
    pub fn get(key: Key) -> *mut c_void {
        // SAFETY: the slot exists.
        unsafe { FlsGetValue(key) }
    }

    /// Sets the pointer of this thread; returns whether that succeeded.
    ///
    /// # Safety
    /// The function that frees the pointer may be called with it when the thread exits.
    pub unsafe fn set(key: Key, pointer: *mut c_void) -> bool {
        // SAFETY: the slot exists, and the caller's contract.
        unsafe { FlsSetValue(key, pointer) != 0 }
    }
}

/// Files of the C library.
pub mod stdio {
    use libc::{FILE, wchar_t};
    use std::ffi::{CStr, c_int};
    use std::fs::File;
    use std::mem::ManuallyDrop;
    use std::os::windows::io::{AsRawHandle, FromRawHandle, IntoRawHandle, RawHandle};
    use std::ptr::null_mut;
    use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;

    unsafe extern "C" {
        fn _wfopen(path: *const wchar_t, mode: *const wchar_t) -> *mut FILE;
        fn _fseeki64(file: *mut FILE, offset: i64, origin: c_int) -> c_int;
        fn _ftelli64(file: *mut FILE) -> i64;
    }

    /// Opens a file, whose path is UTF-8; returns null on failure.
    pub fn open(path: &CStr, mode: &CStr) -> *mut FILE {
        let wide = |text: &CStr| {
            let text = text.to_str().ok()?;
            Some(text.encode_utf16().chain([0]).collect::<Vec<u16>>())
        };
        match (wide(path), wide(mode)) {
            // SAFETY: both strings end with NUL.
            (Some(path), Some(mode)) => unsafe { _wfopen(path.as_ptr(), mode.as_ptr()) },
            _ => null_mut(),
        }
    }

    /// Converts an open file, which `mode` must match; returns null on failure.
    pub fn of(file: File, mode: &CStr) -> *mut FILE {
        // SAFETY: the mode is NUL-terminated. The handle is owned by `file` until the number owns
        // it, and the number is closed unless the result owns it.
        unsafe {
            let handle = file.as_raw_handle() as libc::intptr_t;
            let number = libc::open_osfhandle(handle, libc::O_NOINHERIT);
            if number < 0 {
                return null_mut();
            }
            let _ = file.into_raw_handle();
            let opened = libc::fdopen(number, mode.as_ptr());
            if opened.is_null() {
                libc::close(number);
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
            let position = _ftelli64(file);
            if position < 0 || _fseeki64(file, 0, libc::SEEK_END) != 0 {
                return None;
            }
            let size = _ftelli64(file);
            (_fseeki64(file, position, libc::SEEK_SET) == 0).then_some(size)
        }
    }

    /// Returns a file that is not closed on drop.
    ///
    /// # Safety
    /// The file is open, and stays open while the result is in use.
    pub unsafe fn borrowed(file: *mut FILE) -> Option<ManuallyDrop<File>> {
        // SAFETY: the caller's contract.
        unsafe {
            let handle = descriptor(number(file));
            (handle != INVALID_HANDLE_VALUE)
                .then(|| ManuallyDrop::new(File::from_raw_handle(handle)))
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

    /// Returns the handle of a number, for mappings.
    pub fn descriptor(number: c_int) -> RawHandle {
        if number < 0 {
            return INVALID_HANDLE_VALUE;
        }
        // SAFETY: the call does not access memory.
        (unsafe { libc::get_osfhandle(number) }) as RawHandle
    }

    /// Lets a number mean the file of another one.
    pub fn redirect(number: c_int, to: c_int) -> bool {
        // SAFETY: the call does not access memory.
        unsafe { libc::dup2(to, number) >= 0 }
    }
}
