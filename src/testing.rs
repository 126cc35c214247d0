//! What tests of several rooms share.

use std::ops::{Deref, DerefMut};
use std::ptr;

/// A byte buffer that ends exactly where an inaccessible page begins, so that reading or writing one byte
/// too far ends the test process.
pub(crate) struct GuardedBuf {
    mapping: *mut u8,
    mapped: usize,
    start: *mut u8,
    len: usize,
}

impl GuardedBuf {
    /// A buffer of `len` zero bytes.
    pub(crate) fn zeroed(len: usize) -> GuardedBuf {
        // SAFETY: sysconf only reads a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).expect("a page size");
        let usable = len.next_multiple_of(page);
        let mapped = usable + page;
        // SAFETY: a fresh private mapping at an address of the system's choice touches nothing of ours.
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
        // SAFETY: `usable` bytes into the mapping lies its last page, which nobody uses yet.
        let sealed = unsafe { libc::mprotect(mapping.add(usable).cast(), page, libc::PROT_NONE) };
        assert_eq!(sealed, 0, "mprotect");
        GuardedBuf {
            mapping,
            mapped,
            // SAFETY: `len <= usable`, so this stays inside the mapping.
            start: unsafe { mapping.add(usable - len) },
            len,
        }
    }

    /// A copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8]) -> GuardedBuf {
        let mut buf = GuardedBuf::zeroed(bytes.len());
        buf.copy_from_slice(bytes);
        buf
    }
}

impl Deref for GuardedBuf {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` begins `len` readable, initialised bytes that live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

impl DerefMut for GuardedBuf {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; `&mut self` makes the borrow the only one.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

impl Drop for GuardedBuf {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `zeroed`, and no borrow of it is left.
        unsafe { libc::munmap(self.mapping.cast(), self.mapped) };
    }
}

// SAFETY: the buffer owns its mapping alone, like a `Vec`.
unsafe impl Send for GuardedBuf {}
// SAFETY: shared access only reads.
unsafe impl Sync for GuardedBuf {}
