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
        let (mapping, usable, mapped) = guarded_pages(len);
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
        // SAFETY: exactly the pages allocated in `zeroed`, and no borrow of them is left.
        unsafe { free_pages(self.mapping, self.mapped) };
    }
}

/// Allocates pages for `len` bytes, and an inaccessible page after them. Returns their address,
/// the number of accessible bytes and that of all bytes.
#[cfg(unix)]
fn guarded_pages(len: usize) -> (*mut u8, usize, usize) {
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
    (mapping, usable, mapped)
}

/// Frees pages of [`guarded_pages`].
///
/// # Safety
/// Nothing uses the pages any more.
#[cfg(unix)]
unsafe fn free_pages(start: *mut u8, mapped: usize) {
    // SAFETY: the caller's contract.
    unsafe { libc::munmap(start.cast(), mapped) };
}

/// Allocates pages for `len` bytes, and an inaccessible page after them. Returns their address,
/// the number of accessible bytes and that of all bytes.
#[cfg(windows)]
fn guarded_pages(len: usize) -> (*mut u8, usize, usize) {
    use windows_sys::Win32::System::Memory::{
        MEM_COMMIT, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc,
    };
    const PAGE: usize = 4096;
    let usable = len.next_multiple_of(PAGE);
    // SAFETY: the system chooses the address. The last page is reserved, but not accessible.
    unsafe {
        let start = VirtualAlloc(ptr::null(), usable + PAGE, MEM_RESERVE, PAGE_READWRITE);
        assert!(!start.is_null(), "VirtualAlloc");
        if usable > 0 {
            let accessible = VirtualAlloc(start, usable, MEM_COMMIT, PAGE_READWRITE);
            assert!(!accessible.is_null(), "VirtualAlloc");
        }
        (start.cast(), usable, usable + PAGE)
    }
}

/// Frees pages of [`guarded_pages`].
///
/// # Safety
/// Nothing uses the pages any more.
#[cfg(windows)]
unsafe fn free_pages(start: *mut u8, _mapped: usize) {
    use windows_sys::Win32::System::Memory::{MEM_RELEASE, VirtualFree};
    // SAFETY: the caller's contract.
    unsafe { VirtualFree(start.cast(), 0, MEM_RELEASE) };
}

// SAFETY: the buffer exclusively owns its mapping, like a `Vec`.
unsafe impl Send for GuardedBuf {}
// SAFETY: shared access only reads.
unsafe impl Sync for GuardedBuf {}
