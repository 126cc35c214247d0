//! Strings that a C caller will `free`.

use ferroblosc::{Buffer, Result};
use std::ffi::{CStr, c_char};

/// A `malloc`ed copy of `text` with its NUL, for the caller to `free`.
///
/// # Errors
/// [`ferroblosc::Error::MemoryAlloc`]: there is no memory.
pub fn c_string(text: &CStr) -> Result<*mut c_char> {
    Ok(Buffer::copy_of(text.to_bytes_with_nul())?.into_raw().cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_d9_strings_come_from_malloc_with_their_nul() {
        let raw = c_string(c"lz4").unwrap();
        // SAFETY: `raw` is the NUL-terminated copy, ours to free, once.
        unsafe {
            assert_eq!(CStr::from_ptr(raw), c"lz4");
            libc::free(raw.cast());
        }
    }
}
