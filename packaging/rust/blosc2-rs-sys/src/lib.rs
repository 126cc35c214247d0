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

use core::ffi::{c_char, c_uint, c_void};
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
    let stream = blosc2_stdio_mmap {
        mode: mode.as_ptr(),
        // The library frees the struct when it destroys the mapping.
        needs_free: true,
        ..defaults::STDIO_MMAP
    };
    // SAFETY: the block is large enough for the struct, and aligned by `malloc`.
    unsafe { params.cast::<blosc2_stdio_mmap>().write(stream) };
    let io = blosc2_io {
        id: BLOSC2_IO_FILESYSTEM_MMAP as u8,
        name: c"filesystem_mmap".as_ptr(),
        params: params.cast::<c_void>(),
    };
    // SAFETY: the caller passes a C string or null; the parameters live as long as the library uses
    // them.
    unsafe { blosc2_schunk_open_offset_udio(urlpath, offset, &io) }
}
