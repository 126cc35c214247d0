//! The bytes of a frame in memory and their ownership.

use crate::io::View;
use crate::{Buffer, Result};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// The bytes of a frame in memory.
///
/// Borrowed bytes are never written to: the first change copies them into an owned buffer.
pub struct Memory {
    bytes: Bytes,
    /// Whether the bytes outlive the frame, for a caller that received them.
    keep: bool,
    /// The address of the bytes when they were last returned to a caller; only used for comparison.
    given: Option<usize>,
}

enum Bytes {
    Owned(ManuallyDrop<Buffer>),
    Lent(View),
}

impl Memory {
    /// Wraps an owned buffer.
    pub fn owned(buffer: Buffer) -> Memory {
        Memory { bytes: Bytes::Owned(ManuallyDrop::new(buffer)), keep: false, given: None }
    }

    /// Wraps borrowed bytes.
    ///
    /// # Safety
    /// The bytes must stay valid, unmoved and unchanged until the frame is dropped or
    /// [`Memory::set_keep`] transfers their ownership to it; in that case they must have been
    /// allocated with `malloc`.
    pub unsafe fn lent(view: View) -> Memory {
        Memory { bytes: Bytes::Lent(view), keep: true, given: None }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Owned(buffer) => buffer,
            // SAFETY: the caller of `lent` guarantees that the bytes stay valid, and nothing writes
            // to them.
            Bytes::Lent(view) => unsafe { view.bytes() },
        }
    }

    /// Returns the bytes for writing.
    ///
    /// # Errors
    /// [`crate::Error::MemoryAlloc`] when borrowed bytes cannot be copied.
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

    /// Whether the `len` bytes at `start` overlap these bytes. Only addresses are compared.
    pub(super) fn has(&self, start: *const u8, len: usize) -> bool {
        let bytes = self.bytes();
        let from = bytes.as_ptr().addr();
        let start = start.addr();
        start < from + bytes.len() && from < start.saturating_add(len)
    }

    /// Returns the start and the number of the bytes, for a caller that may free them after the
    /// frame, if `keep` is set.
    pub fn give(&mut self) -> (NonNull<u8>, usize) {
        self.given = Some(self.bytes().as_ptr().addr());
        match &self.bytes {
            Bytes::Owned(buffer) => (buffer.as_raw(), buffer.len()),
            Bytes::Lent(view) => view.as_raw(),
        }
    }

    /// Sets whether the bytes outlive the frame. With `false`, borrowed bytes become owned by the
    /// frame.
    pub fn set_keep(&mut self, keep: bool) {
        if let (Bytes::Lent(view), false) = (&self.bytes, keep) {
            let (start, len) = view.as_raw();
            // SAFETY: the caller of `lent` guarantees that the bytes are a `malloc` allocation when
            // this is called, and they are not used through the view any more.
            let buffer = unsafe { Buffer::from_raw(start, len) };
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
            // SAFETY: the buffer is dropped only here and is not used afterwards.
            unsafe { ManuallyDrop::drop(buffer) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrowed_bytes_are_copied_before_a_change() {
        let bytes = b"frame".to_vec();
        // SAFETY: the bytes outlive the frame, and nothing changes them.
        let mut memory = unsafe { Memory::lent(View::new(NonNull::from(&bytes[..]).cast(), 5)) };
        let start = bytes.as_ptr();
        assert_eq!(memory.give().0.as_ptr().cast_const(), start);
        for (at, len, expected) in [(0, 1, true), (4, 9, true), (5, 1, false), (0, 0, false)] {
            assert_eq!(memory.has(start.wrapping_add(at), len), expected, "{at} {len}");
        }
        assert!(!memory.has(start.wrapping_sub(2), 2) && memory.has(start.wrapping_sub(2), 3));
        memory.to_mut().unwrap()[0] = b'F';
        assert_eq!((memory.bytes(), &bytes[..]), (&b"Frame"[..], &b"frame"[..]));
        assert!(!memory.has(start, 5));
        memory.set_keep(false);
        assert_eq!(memory.bytes(), b"Frame");
    }

    #[test]
    fn borrowed_bytes_belong_to_the_frame_that_does_not_keep_them() {
        let start = NonNull::new(Buffer::copy_of(b"frame").unwrap().into_raw()).unwrap();
        // SAFETY: the bytes are a block of `malloc`, which the frame frees.
        let mut memory = unsafe { Memory::lent(View::new(start, 5)) };
        memory.set_keep(true);
        memory.set_keep(false);
        assert!(memory.has(start.as_ptr(), 1));
        assert_eq!(memory.bytes(), b"frame");
    }

    #[test]
    fn kept_bytes_outlive_the_frame_if_a_caller_has_received_them() {
        let mut memory = Memory::owned(Buffer::copy_of(b"frame").unwrap());
        memory.set_keep(true);
        let (start, len) = memory.give();
        drop(memory);
        // SAFETY: the frame has not freed the block, which belongs to this test now.
        assert_eq!(*unsafe { Buffer::from_raw(start, len) }, *b"frame");
        let mut unknown = Memory::owned(Buffer::copy_of(b"frame").unwrap());
        unknown.set_keep(true);
        drop(unknown);
    }
}
