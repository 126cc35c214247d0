//! Buffers that end directly before an inaccessible page.
//!
//! An access one byte past the end is a segmentation fault, so tests that only check results also
//! detect over-reads.

use std::ops::{Deref, DerefMut};

/// A buffer of exact length before an inaccessible page.
pub struct Guarded {
    mapping: *mut u8,
    mapped: usize,
    data: *mut u8,
    len: usize,
}

fn page_size() -> usize {
    // SAFETY: a query without preconditions.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).expect("the page size is known")
}

impl Guarded {
    /// Creates a buffer of `len` bytes, all `fill`.
    pub fn filled(len: usize, fill: u8) -> Guarded {
        let page = page_size();
        let usable = len.div_ceil(page) * page;
        let mapped = usable + page;
        // SAFETY: an anonymous mapping at an address chosen by the kernel.
        let mapping = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(mapping, libc::MAP_FAILED, "no memory for a guarded buffer");
        let mapping: *mut u8 = mapping.cast();
        // SAFETY: `usable` is a multiple of the page size, one page below the mapping's end.
        let protected =
            unsafe { libc::mprotect(mapping.add(usable).cast(), page, libc::PROT_NONE) };
        assert_eq!(protected, 0, "mprotect failed");
        // SAFETY: `len <= usable`, so the data are in the accessible range.
        let data = unsafe { mapping.add(usable - len) };
        let mut buffer = Guarded { mapping, mapped, data, len };
        buffer.fill(fill);
        buffer
    }

    /// Creates a copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Guarded {
        let mut buffer = Guarded::filled(bytes.len(), 0);
        buffer.copy_from_slice(bytes);
        buffer
    }
}

impl Deref for Guarded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` initialised bytes that this value owns.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

impl DerefMut for Guarded {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` initialised bytes that this value owns, borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `filled`.
        unsafe { libc::munmap(self.mapping.cast(), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isolate::{Outcome, once};

    #[test]
    fn the_byte_after_the_end_cannot_be_read() {
        let buffer = Guarded::copy_of(b"abc");
        assert_eq!(&*buffer, b"abc");
        let outcome = once(|| {
            // SAFETY: deliberately unsound: this runs in a child that is expected to crash here.
            let byte = unsafe { buffer.as_ptr().add(buffer.len()).read_volatile() };
            Ok(vec![i64::from(byte)])
        });
        assert_eq!(outcome, Outcome::Killed(libc::SIGSEGV));
    }
}
