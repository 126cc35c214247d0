//! Page-aligned buffers, so that the alignment of heap memory favours no library.

use std::ops::{Deref, DerefMut};

const PAGE: usize = 4096;

/// Zeroed bytes that begin at a page.
pub struct Buffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl Buffer {
    /// Allocates `len` bytes.
    pub fn new(len: usize) -> Buffer {
        // Written, so that page faults are not measured.
        let mut memory = vec![1; len + PAGE];
        memory.fill(0);
        let start = memory.as_ptr().align_offset(PAGE);
        Buffer { memory, start, len }
    }

    /// Copies `bytes`.
    pub fn of(bytes: &[u8]) -> Buffer {
        let mut buffer = Buffer::new(bytes.len());
        buffer.copy_from_slice(bytes);
        buffer
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..][..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..][..self.len]
    }
}
