//! Large buffers of anonymous memory.

use crate::Result;
use std::ops::{Deref, DerefMut};

#[cfg(all(feature = "mmap", not(target_family = "wasm")))]
type Memory = memmap2::MmapMut;
#[cfg(not(all(feature = "mmap", not(target_family = "wasm"))))]
type Memory = crate::Buffer;

/// A buffer of zeros whose pages occupy no memory before they are written.
pub(crate) struct PageBuffer(Memory);

impl PageBuffer {
    /// Returns a buffer of `len` bytes.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    #[cfg(all(feature = "mmap", not(target_family = "wasm")))]
    pub fn zeroed(len: usize) -> Result<PageBuffer> {
        memmap2::MmapMut::map_anon(len)
            .map(PageBuffer)
            .map_err(|error| crate::Error::MemoryAlloc.of_bytes(len).os(error))
    }

    /// Returns a buffer of `len` bytes from the heap.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    #[cfg(not(all(feature = "mmap", not(target_family = "wasm"))))]
    pub fn zeroed(len: usize) -> Result<PageBuffer> {
        crate::Buffer::zeroed(len).map(PageBuffer)
    }
}

impl Deref for PageBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for PageBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
