//! Shared test utilities.

use std::ops::{Deref, DerefMut};
use std::ptr;

/// A byte buffer directly before an inaccessible page, so that an access past its end kills the
/// test process.
pub(crate) struct GuardedBuf {
    mapping: *mut u8,
    mapped: usize,
    start: *mut u8,
    len: usize,
}

impl GuardedBuf {
    /// Returns a buffer of `len` zero bytes.
    pub(crate) fn zeroed(len: usize) -> GuardedBuf {
        // SAFETY: sysconf only reads a system constant.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).expect("a page size");
        let usable = len.next_multiple_of(page);
        let mapped = usable + page;
        // SAFETY: a new private mapping at an address chosen by the system affects no other memory.
        let mapping = unsafe {
            libc::mmap(
                ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(mapping, libc::MAP_FAILED, "mmap");
        let mapping: *mut u8 = mapping.cast();
        // SAFETY: the last page of the mapping starts `usable` bytes into it and is not yet in use.
        let sealed = unsafe { libc::mprotect(mapping.add(usable).cast(), page, libc::PROT_NONE) };
        assert_eq!(sealed, 0, "mprotect");
        GuardedBuf {
            mapping,
            mapped,
            // SAFETY: `len <= usable`, so the address is inside the mapping.
            start: unsafe { mapping.add(usable - len) },
            len,
        }
    }

    /// Returns a copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8]) -> GuardedBuf {
        let mut buf = GuardedBuf::zeroed(bytes.len());
        buf.copy_from_slice(bytes);
        buf
    }
}

impl Deref for GuardedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` points to `len` readable, initialised bytes that live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl DerefMut for GuardedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; `&mut self` makes the borrow exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for GuardedBuf {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping created in `zeroed`, and no borrow of it is left.
        unsafe { libc::munmap(self.mapping.cast(), self.mapped) };
    }
}

// SAFETY: the buffer exclusively owns its mapping, like a `Vec`.
unsafe impl Send for GuardedBuf {}
// SAFETY: shared access only reads.
unsafe impl Sync for GuardedBuf {}
