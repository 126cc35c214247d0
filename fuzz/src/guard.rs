//! Buffers between two inaccessible pages.
//!
//! ```text
//! no access | buffer, whole pages | no access
//!            ^ Side::Low begins here
//!                      Side::High ends here ^
//! ```
//!
//! Any out-of-bounds access by one byte, in Rust or in a C codec, ends the process at once.

use std::ptr;

use crate::draw::Draw;

/// The end of a slice that touches a guard page.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// The first byte follows a guard page.
    Low,
    /// The last byte precedes a guard page.
    High,
}

impl Side {
    /// Draws a side, mostly the high one: overruns at the end are likelier.
    pub fn draw(draw: &mut Draw) -> Side {
        if draw.one_in(4) { Side::Low } else { Side::High }
    }
}

/// A buffer between two guard pages.
pub struct Guarded {
    mapping: *mut u8,
    page: usize,
    capacity: usize,
}

impl Guarded {
    /// Allocates a buffer of at least `capacity` bytes.
    ///
    /// # Panics
    /// Panics if the system has no memory.
    pub fn new(capacity: usize) -> Guarded {
        // SAFETY: a query without pointers.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let capacity = capacity.next_multiple_of(page).max(page);
        // SAFETY: a new anonymous mapping, whose middle is made accessible and whose ends stay
        // inaccessible.
        unsafe {
            let mapping = libc::mmap(
                ptr::null_mut(),
                capacity + 2 * page,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(mapping, libc::MAP_FAILED, "no address space");
            let mapping = mapping.cast::<u8>();
            let opened = libc::mprotect(
                mapping.add(page).cast(),
                capacity,
                libc::PROT_READ | libc::PROT_WRITE,
            );
            assert_eq!(opened, 0, "no memory");
            Guarded { mapping, page, capacity }
        }
    }

    /// Returns `len` bytes of the buffer at the given side, with their previous content.
    ///
    /// # Panics
    /// Panics if the buffer is shorter.
    pub fn slice(&mut self, len: usize, side: Side) -> &mut [u8] {
        assert!(len <= self.capacity);
        let offset = match side {
            Side::Low => self.page,
            Side::High => self.page + self.capacity - len,
        };
        // SAFETY: the bytes are in the accessible middle of the mapping, which was zero-initialised
        // and lives as long as `self`, which the slice borrows.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.add(offset), len) }
    }

    /// Copies `bytes` to the given side.
    pub fn copy(&mut self, bytes: &[u8], side: Side) -> &[u8] {
        let copy = self.slice(bytes.len(), side);
        copy.copy_from_slice(bytes);
        copy
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping was created in `new` with this length, and no slice of it is left.
        unsafe { libc::munmap(self.mapping.cast(), self.capacity + 2 * self.page) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether reading the byte at `address` kills a process.
    fn is_deadly(address: *const u8) -> bool {
        // SAFETY: the child only performs the read, which may kill it, and calls _exit.
        unsafe {
            match libc::fork() {
                0 => {
                    libc::signal(libc::SIGSEGV, libc::SIG_DFL);
                    address.read_volatile();
                    libc::_exit(0)
                }
                child => {
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &mut status, 0), child);
                    libc::WIFSIGNALED(status)
                }
            }
        }
    }

    #[test]
    fn the_byte_beyond_the_guarded_side_is_out_of_reach() {
        let mut capacity = Guarded::new(10_000);
        let high = capacity.slice(5000, Side::High).as_ptr_range();
        assert!(!is_deadly(high.end.wrapping_sub(1)) && is_deadly(high.end));
        let low = capacity.slice(5000, Side::Low).as_ptr_range();
        assert!(!is_deadly(low.start) && is_deadly(low.start.wrapping_sub(1)));
    }
}
