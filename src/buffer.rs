//! Buffers in `malloc` memory, which C callers can own.
//!
//! C programs `free` the in-memory chunks and frames that they receive, and pass chunks and frames
//! that they allocated with `malloc`. Both therefore use libc's allocator, never Rust's. Systems
//! without libc have an allocator of their own (`os::memory`).

use crate::os::memory;
use crate::{Error, Result, kernels};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Returns a copy of `bytes` as a vector, which may need more memory than there is.
///
/// # Errors
/// [`Error::MemoryAlloc`].
pub(crate) fn copied_to_vec(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// A buffer from `malloc`, freed on drop unless released by [`Buffer::into_raw`].
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
    capacity: usize,
}

// SAFETY: the bytes are owned like those of a `Vec<u8>`; any thread may call `free`.
unsafe impl Send for Buffer {}
// SAFETY: as above; a shared buffer is only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Returns an empty buffer without an allocation.
    pub const fn new() -> Buffer {
        Buffer { start: NonNull::dangling(), len: 0, capacity: 0 }
    }

    /// Returns a buffer of `len` zero bytes.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn zeroed(len: usize) -> Result<Buffer> {
        // At least one byte, since `calloc(0)` may return NULL.
        let capacity = len.max(1);
        let start = memory::zeroed(capacity);
        let start = NonNull::new(start).ok_or_else(|| Error::MemoryAlloc.of_bytes(capacity))?;
        Ok(Buffer { start, len, capacity })
    }

    /// Returns a buffer of `len` bytes with any content, for data that are written before they are
    /// read. To clear a large buffer takes as much time as to copy it.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn unspecified(len: usize) -> Result<Buffer> {
        let capacity = len.max(1);
        let start = memory::unspecified(capacity);
        let start = NonNull::new(start).ok_or_else(|| Error::MemoryAlloc.of_bytes(capacity))?;
        Ok(Buffer { start, len, capacity })
    }

    /// Returns a copy of `bytes`.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`].
    pub fn copy_of(bytes: &[u8]) -> Result<Buffer> {
        let mut buffer = Buffer::new();
        buffer.reserve(bytes.len().max(1))?;
        buffer.append(bytes)?;
        Ok(buffer)
    }

    /// Takes ownership of `len` bytes allocated by `malloc`.
    ///
    /// # Safety
    /// `start` must point to a block from libc's `malloc` with at least `len` initialised bytes,
    /// which no other code uses or frees afterwards.
    pub unsafe fn from_raw(start: NonNull<u8>, len: usize) -> Buffer {
        Buffer { start, len, capacity: len.max(1) }
    }

    /// Releases the bytes to the caller, who must `free` them. Returns NULL only if the buffer
    /// never had an allocation.
    pub fn into_raw(self) -> *mut u8 {
        match self.capacity {
            0 => std::ptr::null_mut(),
            _ => std::mem::ManuallyDrop::new(self).start.as_ptr(),
        }
    }

    /// Returns the start of the bytes, which [`Buffer::from_raw`] accepts.
    pub(crate) fn as_raw(&self) -> NonNull<u8> {
        self.start
    }

    /// Reserves capacity for `more` bytes beyond the current length.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]; the buffer is unchanged.
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        let wanted = self.len.checked_add(more).ok_or(Error::MemoryAlloc)?;
        if wanted <= self.capacity {
            return Ok(());
        }
        // Growing by at least half keeps many small appends linear.
        self.set_capacity(wanted.max(self.capacity + self.capacity / 2))
    }

    fn set_capacity(&mut self, capacity: usize) -> Result<()> {
        let old = match self.capacity {
            0 => std::ptr::null_mut(),
            _ => self.start.as_ptr(),
        };
        // SAFETY: `old` is NULL or our block, and `capacity` is not 0.
        let start = unsafe { memory::resize(old, capacity) };
        self.start = NonNull::new(start).ok_or_else(|| Error::MemoryAlloc.of_bytes(capacity))?;
        self.capacity = capacity;
        Ok(())
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]; the buffer is unchanged.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.reserve(bytes.len())?;
        // SAFETY: `reserve` ensured capacity for `bytes.len()` bytes after `len`; the source cannot
        // be inside memory that `&mut self` owns.
        unsafe {
            let end = self.start.as_ptr().add(self.len);
            kernels::copy::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len());
        }
        self.len += bytes.len();
        Ok(())
    }

    /// Truncates to `len` bytes, or extends to `len` bytes with zeros.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]; the buffer is unchanged.
    pub fn resize(&mut self, len: usize) -> Result<()> {
        if len > self.len {
            self.reserve(len - self.len)?;
            // SAFETY: `reserve` ensured capacity for `len` bytes.
            unsafe {
                std::ptr::write_bytes(self.start.as_ptr().add(self.len), 0, len - self.len);
            }
        }
        self.len = len;
        Ok(())
    }

    /// Returns the first `len` bytes for use as scratch memory, with their old contents. If there
    /// are fewer, replaces the buffer by `len` zeros, which the system may allocate lazily.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]; the buffer is unchanged.
    pub fn ensure_len(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.len < len {
            *self = Buffer::zeroed(len)?;
        }
        Ok(&mut self[..len])
    }

    /// Frees unused capacity.
    pub fn shrink(&mut self) {
        if self.capacity > self.len.max(1) {
            // If there is no memory for the smaller block, the larger one remains.
            let _ = self.set_capacity(self.len.max(1));
        }
    }
}

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer::new()
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `len` initialised bytes that we own, or is dangling if `len` is
        // 0.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.capacity > 0 {
            // SAFETY: `start` points to a block from malloc, calloc or realloc that was not
            // released.
            unsafe { memory::free(self.start.as_ptr()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_d9_a_released_buffer_is_freed_by_free() {
        let mut buffer = Buffer::copy_of(&[1, 2, 3]).unwrap();
        buffer[0] = 9;
        let raw = buffer.into_raw();
        // SAFETY: three bytes were copied; the block is ours and freed once.
        unsafe {
            assert_eq!(std::slice::from_raw_parts(raw, 3), [9, 2, 3]);
            libc::free(raw.cast());
        }
        assert!(Buffer::new().into_raw().is_null());
    }

    #[test]
    fn bytes_survive_growing_and_truncating() {
        let mut buffer = Buffer::new();
        assert_eq!(*buffer, []);
        for byte in 0..100 {
            buffer.append(&[byte; 7]).unwrap();
        }
        let expected: Vec<u8> = (0..100).flat_map(|byte| [byte; 7]).collect();
        assert_eq!(*buffer, expected);
        buffer.resize(10).unwrap();
        buffer.shrink();
        buffer.resize(12).unwrap();
        assert_eq!(*buffer, [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn a_buffer_of_any_content_is_written_and_resized() {
        let mut buffer = Buffer::unspecified(100).unwrap();
        assert_eq!(buffer.len(), 100);
        buffer.fill(7);
        buffer.resize(102).unwrap();
        assert_eq!((buffer[99], &buffer[100..]), (7, &[0, 0][..]));
        assert_eq!(*Buffer::unspecified(0).unwrap(), []);
    }

    #[test]
    fn an_impossible_buffer_is_an_error() {
        // Keeps the compiler from removing the unused allocation, which would then never fail.
        let buffer = std::hint::black_box(Buffer::zeroed(usize::MAX));
        assert_eq!(buffer.err(), Some(Error::MemoryAlloc));
        assert_eq!(Buffer::unspecified(usize::MAX).err(), Some(Error::MemoryAlloc));
        let mut buffer = Buffer::copy_of(b"there").unwrap();
        assert_eq!(buffer.reserve(usize::MAX), Err(Error::MemoryAlloc));
        assert_eq!(*buffer, *b"there");
    }
}
