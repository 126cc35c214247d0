//! Bytes in memory that a C caller may come to own.
//!
//! Chunks and frames in memory go to C programs, which `free` them, and come from C programs, which made
//! them with `malloc`. So they live in memory of libc's `malloc`, never of Rust's allocator.

use crate::{Error, Result};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Bytes from `malloc`, freed when dropped unless [`Buffer::into_raw`] hands them over.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
    capacity: usize,
}

// SAFETY: the bytes are owned like those of a `Vec<u8>`; `free` may be called from any thread.
unsafe impl Send for Buffer {}
// SAFETY: as above; a shared buffer is only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// No bytes, and no memory yet.
    pub const fn new() -> Buffer {
        Buffer {
            start: NonNull::dangling(),
            len: 0,
            capacity: 0,
        }
    }

    /// `len` zero bytes.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]: there is no memory.
    pub fn zeroed(len: usize) -> Result<Buffer> {
        // One byte at least, since calloc(0) may give NULL.
        let capacity = len.max(1);
        // SAFETY: calloc takes any sizes.
        let start = unsafe { libc::calloc(capacity, 1) };
        let start =
            NonNull::new(start.cast()).ok_or_else(|| Error::MemoryAlloc.of_bytes(capacity))?;
        Ok(Buffer {
            start,
            len,
            capacity,
        })
    }

    /// A copy of `bytes`.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]: there is no memory.
    pub fn copy_of(bytes: &[u8]) -> Result<Buffer> {
        let mut buffer = Buffer::new();
        buffer.reserve(bytes.len().max(1))?;
        buffer.append(bytes)?;
        Ok(buffer)
    }

    /// Takes over `len` bytes that came from `malloc`.
    ///
    /// # Safety
    /// `start` is a block of libc's `malloc` of at least `len` initialised bytes that nobody else frees or
    /// uses from now on.
    pub unsafe fn from_raw(start: NonNull<u8>, len: usize) -> Buffer {
        Buffer {
            start,
            len,
            capacity: len.max(1),
        }
    }

    /// Gives the bytes away: the caller `free`s them. NULL only for a buffer that never had memory.
    pub fn into_raw(self) -> *mut u8 {
        match self.capacity {
            0 => std::ptr::null_mut(),
            _ => std::mem::ManuallyDrop::new(self).start.as_ptr(),
        }
    }

    /// Makes room for `more` bytes behind those there are.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]: there is no memory; the bytes are as they were.
    pub fn reserve(&mut self, more: usize) -> Result<()> {
        let wanted = self.len.checked_add(more).ok_or(Error::MemoryAlloc)?;
        if wanted <= self.capacity {
            return Ok(());
        }
        // Growing by half again keeps many small appends linear.
        self.set_capacity(wanted.max(self.capacity + self.capacity / 2))
    }

    fn set_capacity(&mut self, capacity: usize) -> Result<()> {
        let old = match self.capacity {
            0 => std::ptr::null_mut(),
            _ => self.start.as_ptr(),
        };
        // SAFETY: `old` is NULL or our block; `capacity` is not 0.
        let start = unsafe { libc::realloc(old.cast(), capacity) };
        self.start =
            NonNull::new(start.cast()).ok_or_else(|| Error::MemoryAlloc.of_bytes(capacity))?;
        self.capacity = capacity;
        Ok(())
    }

    /// Adds `bytes` at the end.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]: there is no memory; the bytes are as they were.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.reserve(bytes.len())?;
        // SAFETY: `reserve` made room for `bytes.len()` bytes behind `len`; a slice given to us can't be
        // inside memory that `&mut self` owns.
        unsafe {
            let end = self.start.as_ptr().add(self.len);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), end, bytes.len());
        }
        self.len += bytes.len();
        Ok(())
    }

    /// Cuts to `len` bytes, or grows to them with zeros.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]: there is no memory; the bytes are as they were.
    pub fn resize(&mut self, len: usize) -> Result<()> {
        if len > self.len {
            self.reserve(len - self.len)?;
            // SAFETY: `reserve` made room up to `len`.
            unsafe {
                std::ptr::write_bytes(self.start.as_ptr().add(self.len), 0, len - self.len);
            }
        }
        self.len = len;
        Ok(())
    }

    /// The first `len` bytes, with more room if that is needed: they are what they were, or zeros when all are new.
    /// New ones cost nothing until they are used.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`]: there is no memory; the bytes are as they were.
    pub fn room(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.len < len {
            *self = Buffer::zeroed(len)?;
        }
        Ok(&mut self[..len])
    }

    /// Gives back the room that isn't used.
    pub fn shrink(&mut self) {
        if self.capacity > self.len.max(1) {
            // The larger block is as good when there is no smaller one.
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
        // SAFETY: `start` is the start of `len` initialised bytes that we own, or dangling for none.
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
            // SAFETY: `start` is a block of malloc, calloc or realloc that was not given away.
            unsafe { libc::free(self.start.as_ptr().cast()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_d9_a_buffer_handed_over_is_freed_by_free() {
        let mut buffer = Buffer::copy_of(&[1, 2, 3]).unwrap();
        buffer[0] = 9;
        let raw = buffer.into_raw();
        // SAFETY: three bytes were copied; the block is ours to free, once.
        unsafe {
            assert_eq!(std::slice::from_raw_parts(raw, 3), [9, 2, 3]);
            libc::free(raw.cast());
        }
        assert!(Buffer::new().into_raw().is_null());
    }

    #[test]
    fn bytes_survive_growing_and_cutting() {
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
    fn a_buffer_that_cannot_exist_is_an_error() {
        // The compiler may drop an allocation nobody looks at, and then it never fails.
        let buffer = std::hint::black_box(Buffer::zeroed(usize::MAX));
        assert_eq!(buffer.err(), Some(Error::MemoryAlloc));
        let mut buffer = Buffer::copy_of(b"there").unwrap();
        assert_eq!(buffer.reserve(usize::MAX), Err(Error::MemoryAlloc));
        assert_eq!(*buffer, *b"there");
    }
}
