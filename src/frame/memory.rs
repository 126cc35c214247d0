//! The bytes of a frame in memory, and whose they are.

use crate::io::View;
use crate::{Buffer, Result};
use std::mem::ManuallyDrop;

/// The bytes of a frame in memory.
///
/// Bytes that a caller lent are never written to: the first change moves the frame to bytes of its own.
pub struct Memory {
    bytes: Bytes,
    /// Whether the bytes stay when the frame goes, for whoever was given them.
    keep: bool,
    /// Where the bytes lay when they were last given to somebody: an address that is only compared.
    given: Option<usize>,
}

enum Bytes {
    Owned(ManuallyDrop<Buffer>),
    Lent(View),
}

impl Memory {
    /// Bytes that are the frame's.
    pub fn owned(buffer: Buffer) -> Memory {
        Memory {
            bytes: Bytes::Owned(ManuallyDrop::new(buffer)),
            keep: false,
            given: None,
        }
    }

    /// Bytes of the caller's.
    ///
    /// # Safety
    /// The bytes stay where they are until the frame is gone or [`Memory::set_keep`] gave them to it;
    /// then they are a block of `malloc`.
    pub unsafe fn lent(view: View) -> Memory {
        Memory {
            bytes: Bytes::Lent(view),
            keep: true,
            given: None,
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Owned(buffer) => buffer,
            // SAFETY: `lent` was promised that the bytes stay, and nobody writes to them.
            Bytes::Lent(view) => unsafe { view.bytes() },
        }
    }

    /// The bytes, to be changed.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`] when lent bytes can't be copied.
    pub fn to_mut(&mut self) -> Result<&mut Buffer> {
        if let Bytes::Lent(_) = self.bytes {
            let copy = Buffer::copy_of(self.bytes())?;
            self.bytes = Bytes::Owned(ManuallyDrop::new(copy));
            self.given = None;
        }
        match &mut self.bytes {
            Bytes::Owned(buffer) => Ok(buffer),
            Bytes::Lent(_) => unreachable!("lent bytes were just replaced"),
        }
    }

    /// Whether one of the `len` bytes at `start` is one of these. Only addresses are compared.
    pub(super) fn has(&self, start: *const u8, len: usize) -> bool {
        let bytes = self.bytes();
        let from = bytes.as_ptr().addr();
        let start = start.addr();
        start < from + bytes.len() && from < start.saturating_add(len)
    }

    /// The bytes, for somebody who may free them after the frame is gone, if told to keep them.
    pub fn give(&mut self) -> &[u8] {
        self.given = Some(self.bytes().as_ptr().addr());
        self.bytes()
    }

    /// Tells whether the bytes stay when the frame goes. Lent bytes that shall not stay become the frame's.
    pub fn set_keep(&mut self, keep: bool) {
        if let (Bytes::Lent(view), false) = (&self.bytes, keep) {
            // SAFETY: `lent` was promised that the bytes are a block of malloc when this is called.
            let buffer = unsafe {
                let bytes: &[u8] = view.bytes();
                let start = std::ptr::NonNull::from(bytes).cast();
                Buffer::from_raw(start, bytes.len())
            };
            self.bytes = Bytes::Owned(ManuallyDrop::new(buffer));
            self.given = Some(self.bytes().as_ptr().addr());
        }
        self.keep = keep;
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Bytes::Owned(buffer) = &mut self.bytes
            && !(self.keep && self.given == Some(buffer.as_ptr().addr()))
        {
            // SAFETY: the buffer is dropped here only, and not used any more.
            unsafe { ManuallyDrop::drop(buffer) }
        }
    }
}
