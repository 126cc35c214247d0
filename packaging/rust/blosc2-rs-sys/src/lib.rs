//! The interface of the crate `blosc2-rs-sys` 0.1: the functions, constants and structs of
//! C-Blosc2 and the crate's own function for mapped files, here implemented by Ferroblosc. They are
//! those of C-Blosc2 3.3.5.
//!
//! The C symbols (`blosc2_compress` and so on) are linked too, for C code in the same program.

#![allow(non_upper_case_globals, reason = "the names are those of the original")]
#![allow(non_camel_case_types, reason = "the names are those of the original")]

#[macro_use]
#[path = "../../bindings/c_str.rs"]
mod strings;
#[path = "../../bindings/blosc2.rs"]
mod blosc2;

pub use blosc2::*;

use core::ffi::{c_char, c_uint};
use core::ptr::null_mut;
use ferroblosc_capi_plugins::defaults;

/// A mode in which a file is mapped.
pub type blosc2_rs_mmap_mode = c_uint;
/// Reads only.
pub const blosc2_rs_mmap_mode_BLOSC2_RS_MMAP_READ: blosc2_rs_mmap_mode = 0;
/// Reads and writes.
pub const blosc2_rs_mmap_mode_BLOSC2_RS_MMAP_READ_WRITE: blosc2_rs_mmap_mode = 1;
/// Reads and changes the memory, but not the file.
pub const blosc2_rs_mmap_mode_BLOSC2_RS_MMAP_COW: blosc2_rs_mmap_mode = 2;

/// Opens the super-chunk whose frame starts at an offset in a file, through a mapping of the file.
///
/// Returns a super-chunk, which the caller frees with `blosc2_schunk_free`, or null on error.
///
/// # Safety
/// `urlpath` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn blosc2_rs_schunk_open_mmap(
    urlpath: *const c_char,
    offset: i64,
    mode: blosc2_rs_mmap_mode,
) -> *mut blosc2_schunk {
    let mode = match mode {
        blosc2_rs_mmap_mode_BLOSC2_RS_MMAP_READ => c"r",
        blosc2_rs_mmap_mode_BLOSC2_RS_MMAP_READ_WRITE => c"r+",
        blosc2_rs_mmap_mode_BLOSC2_RS_MMAP_COW => c"c",
        _ => return null_mut(),
    };
    // SAFETY: no requirements.
    let params = unsafe { libc::malloc(size_of::<blosc2_stdio_mmap>()) };
    if params.is_null() {
        return null_mut();
    }
    let stream = params.cast::<blosc2_stdio_mmap>();
    let io = blosc2_io {
        id: BLOSC2_IO_FILESYSTEM_MMAP as u8,
        name: c"filesystem_mmap".as_ptr(),
        params,
    };
    // SAFETY: the block is large enough for the struct, and aligned by `malloc`. The caller passes
    // a C string or null. After a failure the library does not use the struct.
    unsafe {
        stream.write(blosc2_stdio_mmap { mode: mode.as_ptr(), ..defaults::STDIO_MMAP });
        let schunk = blosc2_schunk_open_offset_udio(urlpath, offset, &io);
        if schunk.is_null() {
            if !(*stream).addr.is_null() {
                blosc2_stdio_mmap_destroy(params);
            }
            libc::free(params);
        } else {
            // From now on the super-chunk owns the struct.
            (*stream).needs_free = true;
        }
        schunk
    }
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;
    use std::ffi::CString;

    /// Returns the number of bytes that `malloc` has in use.
    fn used() -> usize {
        // SAFETY: no requirements.
        unsafe { libc::mallinfo2() }.uordblks
    }

    fn open(path: &CString) -> *mut blosc2_schunk {
        // SAFETY: the path is a C string.
        unsafe {
            blosc2_rs_schunk_open_mmap(path.as_ptr(), 0, blosc2_rs_mmap_mode_BLOSC2_RS_MMAP_READ)
        }
    }

    #[test]
    fn the_parameters_are_freed() {
        let path = |name| {
            let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            CString::new(path.into_os_string().into_encoded_bytes()).unwrap()
        };
        let (missing, other, frame) = (path("missing"), path("other"), path("frame.b2frame"));
        std::fs::write(other.to_str().unwrap(), [7; 5000]).unwrap();
        // SAFETY: the storage and its path are valid during the call; the super-chunk is freed
        // once.
        unsafe {
            let storage = blosc2_storage {
                contiguous: true,
                urlpath: frame.as_ptr().cast_mut(),
                ..defaults::STORAGE
            };
            let schunk = blosc2_schunk_new(&raw const storage as *mut _);
            assert!(!schunk.is_null());
            blosc2_schunk_free(schunk);
        }
        let round = || {
            assert!(open(&missing).is_null());
            assert!(open(&other).is_null());
            let schunk = open(&frame);
            assert!(!schunk.is_null());
            // SAFETY: the super-chunk is freed once.
            unsafe { blosc2_schunk_free(schunk) };
        };
        round();
        let before = used();
        for _ in 0..200 {
            round();
        }
        let lost = used().saturating_sub(before);
        assert!(lost < 200 * size_of::<blosc2_stdio_mmap>() / 2, "{lost} bytes are lost");
        for path in [&other, &frame] {
            std::fs::remove_file(path.to_str().unwrap()).unwrap();
        }
    }
}
