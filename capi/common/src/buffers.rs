//! Strings that the C caller releases with `free`.

use ferroblosc::{Buffer, Result};
use std::ffi::{CStr, c_char};

/// Returns a `malloc`ed copy of `text` with its NUL, which the caller releases with `free`.
///
/// # Errors
/// [`ferroblosc::Error::MemoryAlloc`] without memory for the copy.
pub fn c_string(text: &CStr) -> Result<*mut c_char> {
    Ok(Buffer::copy_of(text.to_bytes_with_nul())?.into_raw().cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_d9_strings_come_from_malloc_with_their_nul() {
        let raw = c_string(c"lz4").unwrap();
        // SAFETY: `raw` is the NUL-terminated copy, owned by this test and freed once.
        unsafe {
            assert_eq!(CStr::from_ptr(raw), c"lz4");
            libc::free(raw.cast());
        }
    }
}
