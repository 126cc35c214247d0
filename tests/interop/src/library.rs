//! Opens the two libraries and wraps common calls.

use std::ffi::{CString, c_void};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::ffi::{Api, Context, Cparams, Dparams};
use ferroblosc_capi_testing::build_folder;

/// A loaded library. Derefs to its table of functions.
pub struct Library {
    /// `"ours"` or `"reference"`, for messages.
    pub name: &'static str,
    api: Api,
}

impl Deref for Library {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Library {
    /// Opens a library; `name` identifies it in messages.
    ///
    /// # Errors
    /// Returns an error if the library cannot be opened or lacks functions.
    pub fn open(name: &'static str, path: &Path) -> Result<Library, String> {
        let handle = open_shared(path)?;
        // SAFETY: the handle is live (and never closed), and both libraries implement the interface
        // of C-Blosc2 3.3, which `ffi` declares.
        let api = unsafe { Api::load(handle) }.map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Library { name, api })
    }

    /// Creates a compression context, or returns `None` if the library returns NULL.
    pub fn compressor(&self, cparams: Cparams) -> Option<OwnedContext<'_>> {
        // SAFETY: every pointer in `cparams` is NULL or outlives the context (the tests' statics).
        self.own(unsafe { (self.blosc2_create_cctx)(cparams) })
    }

    /// Creates a decompression context with this number of threads.
    pub fn decompressor(&self, nthreads: i16) -> OwnedContext<'_> {
        let dparams = Dparams { nthreads, ..Dparams::default() };
        // SAFETY: all pointers in `dparams` are NULL.
        self.own(unsafe { (self.blosc2_create_dctx)(dparams) })
            .expect("a decompression context without callbacks can be created")
    }

    fn own(&self, pointer: *mut Context) -> Option<OwnedContext<'_>> {
        (!pointer.is_null()).then_some(OwnedContext { api: &self.api, pointer })
    }
}

/// A context that is freed when dropped.
pub struct OwnedContext<'a> {
    api: &'a Api,
    pointer: *mut Context,
}

impl Drop for OwnedContext<'_> {
    fn drop(&mut self) {
        // SAFETY: created by the same library and freed once.
        unsafe { (self.api.blosc2_free_ctx)(self.pointer) }
    }
}

/// Returns a slice's length for the C interface.
pub fn c_len(slice: &[u8]) -> i32 {
    i32::try_from(slice.len()).expect("test buffers are below 2 GiB")
}

impl OwnedContext<'_> {
    /// Returns the C pointer.
    pub fn as_ptr(&self) -> *mut Context {
        self.pointer
    }

    /// Calls `blosc2_compress_ctx`.
    pub fn compress(&self, src: &[u8], dest: &mut [u8]) -> i32 {
        // SAFETY: the lengths of both buffers are passed, and the context is live.
        unsafe {
            (self.api.blosc2_compress_ctx)(
                self.pointer,
                src.as_ptr().cast(),
                c_len(src),
                dest.as_mut_ptr().cast(),
                c_len(dest),
            )
        }
    }

    /// Calls `blosc2_decompress_ctx`.
    pub fn decompress(&self, chunk: &[u8], dest: &mut [u8]) -> i32 {
        // SAFETY: the lengths of both buffers are passed, and the context is live.
        unsafe {
            (self.api.blosc2_decompress_ctx)(
                self.pointer,
                chunk.as_ptr().cast(),
                c_len(chunk),
                dest.as_mut_ptr().cast(),
                c_len(dest),
            )
        }
    }

    /// Calls `blosc2_set_maskout`.
    pub fn set_maskout(&self, mask: &mut [bool]) -> i32 {
        let count = i32::try_from(mask.len()).expect("few blocks");
        // SAFETY: the mask's length is passed, and the call copies it.
        unsafe { (self.api.blosc2_set_maskout)(self.pointer, mask.as_mut_ptr(), count) }
    }

    /// Calls `blosc2_getitem_ctx`.
    pub fn getitem(&self, chunk: &[u8], start: i32, items: i32, dest: &mut [u8]) -> i32 {
        // SAFETY: the lengths of both buffers are passed, and the context is live.
        unsafe {
            (self.api.blosc2_getitem_ctx)(
                self.pointer,
                chunk.as_ptr().cast(),
                c_len(chunk),
                start,
                items,
                dest.as_mut_ptr().cast(),
                c_len(dest),
            )
        }
    }

    /// Calls `blosc2_getitem_bytes_ctx`.
    pub fn getitem_bytes(&self, chunk: &[u8], start: i32, bytes: i32, dest: &mut [u8]) -> i32 {
        // SAFETY: the lengths of both buffers are passed, and the context is live.
        unsafe {
            (self.api.blosc2_getitem_bytes_ctx)(
                self.pointer,
                chunk.as_ptr().cast(),
                c_len(chunk),
                start,
                bytes,
                dest.as_mut_ptr().cast::<c_void>(),
                c_len(dest),
            )
        }
    }
}

/// Opens a shared library with local symbols; it is never closed.
///
/// # Errors
/// Returns an error if the library cannot be opened.
pub fn open_shared(path: &Path) -> Result<*mut c_void, String> {
    let c_path = CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|_| format!("{}: NUL in the path", path.display()))?;
    // SAFETY: the path is NUL-terminated; running the library's constructors is intended.
    let handle = unsafe { libc::dlopen(c_path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() { Err(format!("{}: dlopen failed", path.display())) } else { Ok(handle) }
}

/// Returns the path of the library under test.
pub fn our_path() -> PathBuf {
    match std::env::var_os("FERROBLOSC_LIBRARY") {
        Some(path) => path.into(),
        None => build_folder().join("libblosc2.so"),
    }
}

/// Returns the library of the wheel that `scripts/reference.sh library` installs in the target
/// directory.
fn wheel_path() -> Option<PathBuf> {
    let lib = build_folder().parent()?.join("venv/lib");
    std::fs::read_dir(lib)
        .ok()?
        .flatten()
        .map(|python| python.path().join("site-packages/blosc2/lib/libblosc2.so"))
        .find(|path| path.exists())
}

/// Returns the path of the reference library.
///
/// # Errors
/// Returns instructions if there is no reference library.
pub fn reference_path() -> Result<PathBuf, String> {
    let path = std::env::var_os("FERROBLOSC_REFERENCE").map(PathBuf::from);
    path.or_else(wheel_path).ok_or_else(|| {
        "no reference library: `make reference` installs it below target/venv, or set FERROBLOSC_REFERENCE"
            .to_owned()
    })
}

/// Prevents loading a library during a fork: its child would wait forever for the thread that loads
/// it.
pub(crate) fn no_loading() -> MutexGuard<'static, ()> {
    static LOADING: Mutex<()> = Mutex::new(());
    LOADING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the content of `cell`, after it was initialised by `load`.
pub(crate) fn loaded<T>(cell: &'static OnceLock<T>, load: impl FnOnce() -> T) -> &'static T {
    cell.get().unwrap_or_else(|| {
        let _held = no_loading();
        cell.get_or_init(load)
    })
}

/// Returns the library under test.
///
/// # Panics
/// Panics if the library is not built: the test must fail, not pass silently.
pub fn ours() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    loaded(&LIBRARY, || {
        let path = our_path();
        Library::open("ours", &path).unwrap_or_else(|e| {
            panic!(
                "the library under test cannot be used ({e}); `cargo build --workspace` builds it"
            )
        })
    })
}

/// Returns the initialised reference library.
///
/// # Panics
/// Panics if the library is not installed: the test must fail, not pass silently.
pub fn reference() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    loaded(&LIBRARY, || {
        let path = reference_path().unwrap_or_else(|error| panic!("{error}"));
        let library = Library::open("reference", &path).unwrap_or_else(|e| {
            panic!("the reference library cannot be used ({e}); try `make reference`")
        });
        // SAFETY: the call has no preconditions. The reference accepts filters from 32 on only
        // after this call (row C15).
        unsafe { (library.blosc2_init)() };
        library
    })
}
