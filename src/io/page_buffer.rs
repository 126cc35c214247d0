//! Large buffers of anonymous memory.

use crate::Result;
use crate::os::pages::{self, Pages};
use std::ops::{Deref, DerefMut};

/// A buffer of zeros. If the system can map memory, its pages occupy none before they are written.
pub(crate) struct PageBuffer(Pages);

impl PageBuffer {
    /// Returns a buffer of `len` bytes.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn zeroed(len: usize) -> Result<PageBuffer> {
        pages::zeroed(len).map(PageBuffer)
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
