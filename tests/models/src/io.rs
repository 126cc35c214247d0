//! Buffers on the heap instead of mapped pages.

use crate::Result;
use std::ops::{Deref, DerefMut};

/// A buffer.
pub(crate) struct PageBuffer(Vec<u8>);

impl PageBuffer {
    /// Returns a buffer of zeros.
    pub(crate) fn zeroed(len: usize) -> Result<PageBuffer> {
        Ok(PageBuffer(vec![0; len]))
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
