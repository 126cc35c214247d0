//! Memory that a C caller will `free`.
//!
//! Whatever the C interface hands over for good comes from libc's `malloc`, never from Rust's
//! allocator, so that the caller's `free` is right whatever allocator Rust uses.

use ferroblosc::{Error, Result};
use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

/// A buffer from `malloc`, freed when dropped unless [`MallocBuffer::into_raw`] hands it over.
#[derive(Debug)]
pub struct MallocBuffer {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the buffer is owned like a `Box<[u8]>`; `free` may be called from any thread.
unsafe impl Send for MallocBuffer {}

impl MallocBuffer {
    /// A buffer of `len` zero bytes; never NULL, not even for 0 bytes.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]: there is no memory.
    pub fn zeroed(len: usize) -> Result<MallocBuffer> {
        // SAFETY: calloc takes any sizes; one byte at least, since calloc(0) may give NULL.
        let start = unsafe { libc::calloc(len.max(1), 1) };
        let start = NonNull::new(start.cast()).ok_or(Error::MemoryAlloc)?;
        Ok(MallocBuffer { start, len })
    }

    /// A copy of `bytes`.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]: there is no memory.
    pub fn copy_of(bytes: &[u8]) -> Result<MallocBuffer> {
        let mut buffer = MallocBuffer::zeroed(bytes.len())?;
        buffer.as_mut_slice().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes, writable.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: `start` is the start of `len` bytes that calloc initialised and we own.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Gives the buffer away: the caller `free`s it.
    pub fn into_raw(self) -> *mut u8 {
        std::mem::ManuallyDrop::new(self).start.as_ptr()
    }
}

impl Drop for MallocBuffer {
    fn drop(&mut self) {
        // SAFETY: `start` came from calloc and was not given away.
        unsafe { libc::free(self.start.as_ptr().cast()) }
    }
}

/// A `malloc`ed copy of `text` with its NUL, for the caller to `free`.
///
/// # Errors
/// [`Error::MemoryAlloc`]: there is no memory.
pub fn c_string(text: &CStr) -> Result<*mut c_char> {
    Ok(MallocBuffer::copy_of(text.to_bytes_with_nul())?
        .into_raw()
        .cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_d9_a_buffer_handed_over_is_freed_by_free() {
        let mut buffer = MallocBuffer::copy_of(&[1, 2, 3]).unwrap();
        buffer.as_mut_slice()[0] = 9;
        let raw = buffer.into_raw();
        // SAFETY: three bytes were copied; the block is ours to free, once.
        unsafe {
            assert_eq!(std::slice::from_raw_parts(raw, 3), [9, 2, 3]);
            libc::free(raw.cast());
        }
    }

    #[test]
    fn row_d9_strings_come_from_malloc_with_their_nul() {
        let raw = c_string(c"lz4").unwrap();
        // SAFETY: `raw` is the NUL-terminated copy, ours to free, once.
        unsafe {
            assert_eq!(CStr::from_ptr(raw), c"lz4");
            libc::free(raw.cast());
        }
    }

    #[test]
    fn a_buffer_that_cannot_exist_is_an_error() {
        // The compiler may drop an allocation nobody looks at, and then it never fails.
        let buffer = std::hint::black_box(MallocBuffer::zeroed(usize::MAX));
        assert_eq!(buffer.err(), Some(Error::MemoryAlloc));
    }
}
