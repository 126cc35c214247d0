//! The exports, which return the number of bytes written or a negative error code.

use std::alloc::{Layout, alloc, dealloc};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use crate::Settings;

/// The alignment of the memory that JavaScript fills.
const ALIGN: usize = 16;

fn code(result: ferroblosc::Result<usize>) -> i32 {
    match result {
        Ok(len) => len as i32,
        Err(error) => error.code(),
    }
}

/// Returns a block of `len` bytes, which is not 0.
#[unsafe(no_mangle)]
extern "C" fn fb_alloc(len: usize) -> *mut u8 {
    let layout = Layout::from_size_align(len, ALIGN).expect("a size of the test");
    // SAFETY: the size is not 0.
    unsafe { alloc(layout) }
}

/// Frees a block.
///
/// # Safety
/// The block is one of `fb_alloc` with this size.
#[unsafe(no_mangle)]
unsafe extern "C" fn fb_free(start: *mut u8, len: usize) {
    let layout = Layout::from_size_align(len, ALIGN).expect("a size of the test");
    // SAFETY: the caller's contract.
    unsafe { dealloc(start, layout) }
}

/// Exports a function with a source and a destination.
macro_rules! export {
    ($name:ident: $function:path $(, $parameter:ident: $type:ty)*; $($settings:expr)?) => {
        /// # Safety
        /// The blocks are valid for their lengths and do not overlap.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            src: *const u8,
            src_len: usize,
            dest: *mut u8,
            dest_len: usize,
            $($parameter: $type,)*
        ) -> i32 {
            // SAFETY: the caller's contract.
            let (src, dest) = unsafe {
                (from_raw_parts(src, src_len), from_raw_parts_mut(dest, dest_len))
            };
            code($function($($settings,)? src, dest))
        }
    };
}

export!(fb_decompress: crate::decompress;);
export!(fb_read_frame: crate::read_frame;);
export!(fb_read_array: crate::read_array;);
export!(fb_compress: crate::compress, codec: u8, level: i32, filter: u8, typesize: i32;
    Settings { codec, level, filter, typesize });
export!(fb_write_frame: crate::write_frame, codec: u8, level: i32, filter: u8, typesize: i32;
    Settings { codec, level, filter, typesize });

/// # Safety
/// The block is valid for its length.
#[unsafe(no_mangle)]
unsafe extern "C" fn fb_use_files(dest: *mut u8, dest_len: usize) -> i32 {
    // SAFETY: the caller's contract.
    code(crate::use_files(unsafe { from_raw_parts_mut(dest, dest_len) }))
}
