//! Differential tests of `libblosc.so.1`; the reference is Debian 12's build of C-Blosc 1.21.
//!
//! | module | contents |
//! |---|---|
//! | this file | the C interface; opening the two libraries |
//! | [`cell`] | one combination of parameters and its checks |

pub mod cell;

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::library::{loaded, open_shared};
use ferroblosc_capi_testing::build_folder;

macro_rules! api {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// A loaded library: its functions by name.
        #[allow(missing_docs, reason = "the functions are those of blosc.h")]
        pub struct Library {
            /// `"ours"` or `"reference"`, for messages.
            pub name: &'static str,
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn load(name: &'static str, handle: *mut c_void) -> Library {
                Library {
                    name,
                    $($name: {
                        let symbol = CString::new(stringify!($name)).expect("no NUL");
                        // SAFETY: a live handle and a NUL-terminated name.
                        let address = unsafe { libc::dlsym(handle, symbol.as_ptr()) };
                        assert!(!address.is_null(), "{name} has no {}", stringify!($name));
                        // SAFETY: both libraries promise the interface of C-Blosc 1.21.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) $(-> $result)?,
                            >(address)
                        }
                    },)*
                }
            }
        }
    };
}

api! {
    blosc_set_splitmode: fn(c_int);
    blosc_compress_ctx: fn(
        c_int, c_int, usize, usize, *const c_void, *mut c_void, usize, *const c_char, usize, c_int
    ) -> c_int;
    blosc_decompress_ctx: fn(*const c_void, *mut c_void, usize, c_int) -> c_int;
    blosc_getitem: fn(*const c_void, c_int, c_int, *mut c_void) -> c_int;
    blosc_cbuffer_validate: fn(*const c_void, usize, *mut usize) -> c_int;
}

impl Library {
    /// Opens a library; `name` identifies it in messages.
    ///
    /// # Errors
    /// Returns an error if the library cannot be opened.
    pub fn open(name: &'static str, path: &Path) -> Result<Library, String> {
        Ok(Library::load(name, open_shared(path)?))
    }

    /// Decompresses a chunk, whose length is that in its header, into `dest`; returns the result
    /// code.
    pub fn decompress(&self, chunk: &[u8], dest: &mut [u8], nthreads: c_int) -> c_int {
        // SAFETY: the chunk was validated or made by a library, and the destination's length is
        // passed.
        unsafe {
            (self.blosc_decompress_ctx)(
                chunk.as_ptr().cast(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                nthreads,
            )
        }
    }
}

/// Returns the library under test.
///
/// # Panics
/// Panics if the library is not built: the test must fail, not pass silently.
pub fn ours() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    loaded(&LIBRARY, || {
        let path = std::env::var_os("FERROBLOSC_LIBRARY1")
            .map_or_else(|| build_folder().join("libblosc.so"), PathBuf::from);
        Library::open("ours", &path)
            .unwrap_or_else(|error| panic!("{error}; `cargo build --workspace` builds it"))
    })
}

/// Returns the directory of Debian's library and its dependencies, which
/// `scripts/reference.sh blosc1` fetches.
fn reference_folder() -> PathBuf {
    std::env::var_os("FERROBLOSC_REFERENCE1")
        .map_or_else(|| build_folder().join("../blosc1").components().collect(), PathBuf::from)
}

/// Returns the path of the reference library.
pub fn reference_path() -> PathBuf {
    reference_folder().join("libblosc.so.1")
}

/// Returns the reference library.
///
/// # Panics
/// Panics if the library is not installed: the test must fail, not pass silently.
pub fn reference() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    loaded(&LIBRARY, || {
        let folder = reference_folder();
        // Load the dependencies first: the linker does not search for a library that is already
        // loaded.
        for needed in ["libsnappy.so.1", "liblz4.so.1", "libzstd.so.1", "libz.so.1"] {
            // A dependency that fails to load makes the library itself fail below.
            let _ = open_shared(&folder.join(needed));
        }
        Library::open("reference", &reference_path())
            .unwrap_or_else(|error| panic!("{error}; `make reference` fetches it"))
    })
}
