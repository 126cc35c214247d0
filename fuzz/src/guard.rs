//! Memory between two pages that nobody may touch.
//!
//! ```text
//! no access | room, whole pages | no access
//!            ^ Side::Low begins here
//!                    Side::High ends here ^
//! ```
//!
//! A read or write of one byte too far, by Rust or by a codec in C, ends the process there and
//! then.

use std::ptr;

use crate::draw::Draw;

/// Which end of a slice touches a guard page.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// Its first byte comes right after one.
    Low,
    /// Its last byte comes right before one.
    High,
}

impl Side {
    /// The high side mostly: running over the end is the likelier mistake.
    pub fn draw(draw: &mut Draw) -> Side {
        if draw.one_in(4) {
            Side::Low
        } else {
            Side::High
        }
    }
}

/// Room for bytes between two guard pages.
pub struct Guarded {
    mapping: *mut u8,
    page: usize,
    room: usize,
}

impl Guarded {
    /// Room for `capacity` bytes or more.
    ///
    /// # Panics
    /// When the system has no memory.
    pub fn new(capacity: usize) -> Guarded {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let room = capacity.next_multiple_of(page).max(page);
        // SAFETY: a new anonymous mapping; its middle is made accessible, its ends stay closed.
        unsafe {
            let mapping = libc::mmap(
                ptr::null_mut(),
                room + 2 * page,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(mapping, libc::MAP_FAILED, "no address space");
            let mapping = mapping.cast::<u8>();
            let opened = libc::mprotect(
                mapping.add(page).cast(),
                room,
                libc::PROT_READ | libc::PROT_WRITE,
            );
            assert_eq!(opened, 0, "no memory");
            Guarded {
                mapping,
                page,
                room,
            }
        }
    }

    /// `len` bytes of the room, at the given side. They hold what was written there last.
    ///
    /// # Panics
    /// When there is not so much room.
    pub fn slice(&mut self, len: usize, side: Side) -> &mut [u8] {
        assert!(len <= self.room);
        let offset = match side {
            Side::Low => self.page,
            Side::High => self.page + self.room - len,
        };
        // SAFETY: the bytes lie in the accessible middle of the mapping, which started as zeros and
        // lives as long as `self`, which the slice borrows.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.add(offset), len) }
    }

    /// A copy of `bytes` at the given side.
    pub fn copy(&mut self, bytes: &[u8], side: Side) -> &[u8] {
        let copy = self.slice(bytes.len(), side);
        copy.copy_from_slice(bytes);
        copy
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `new` with this length, and no slice of it is left.
        unsafe { libc::munmap(self.mapping.cast(), self.room + 2 * self.page) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether reading the byte at `address` kills a process.
    fn is_deadly(address: *const u8) -> bool {
        // SAFETY: the child does nothing but the read, which it may not survive, and _exit.
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
        let mut room = Guarded::new(10_000);
        let high = room.slice(5000, Side::High).as_ptr_range();
        assert!(!is_deadly(high.end.wrapping_sub(1)) && is_deadly(high.end));
        let low = room.slice(5000, Side::Low).as_ptr_range();
        assert!(!is_deadly(low.start) && is_deadly(low.start.wrapping_sub(1)));
    }
}
