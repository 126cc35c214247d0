//! Shared test utilities.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
#[cfg(all(any(unix, windows), not(miri)))]
use std::ptr;

/// A byte buffer directly before an inaccessible page, so that an access past its end kills the
/// test process.
pub(crate) struct GuardedBuf {
    /// The pages, until the buffer is dropped.
    pages: Option<Pages>,
    start: *mut u8,
    len: usize,
}

impl GuardedBuf {
    /// Returns a buffer of `len` zero bytes.
    pub(crate) fn zeroed(len: usize) -> GuardedBuf {
        let pages = Pages::new(len.next_multiple_of(page_size()));
        // SAFETY: the pages have `usable` accessible bytes, at least `len`, which nothing else
        // uses.
        let start = unsafe {
            let start = pages.start.add(pages.usable - len);
            start.write_bytes(0, len);
            start
        };
        GuardedBuf { pages: Some(pages), start, len }
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
        if let Some(pages) = self.pages.take() {
            pages.release();
        }
    }
}

/// The largest number of released pages that a thread keeps, and their largest size in bytes.
const MAX_RELEASED: (usize, usize) = (8, 1 << 18);

thread_local! {
    /// The pages of dropped buffers of this thread. Many tests create a buffer for each case, and
    /// an allocation takes three calls of the system and page faults.
    static RELEASED: RefCell<Vec<Pages>> = const { RefCell::new(Vec::new()) };
}

/// Accessible pages before an inaccessible one.
struct Pages {
    start: *mut u8,
    /// The number of accessible bytes.
    usable: usize,
    /// The number of all bytes.
    #[cfg_attr(windows, expect(dead_code))]
    mapped: usize,
}

impl Pages {
    /// Returns released pages with `usable` accessible bytes, or allocates them. The bytes have any
    /// values.
    fn new(usable: usize) -> Pages {
        let released = RELEASED.with_borrow_mut(|released| {
            let at = released.iter().position(|pages| pages.usable == usable)?;
            Some(released.swap_remove(at))
        });
        released.unwrap_or_else(|| allocate(usable, page_size()))
    }

    /// Keeps the pages for another buffer of the thread, or frees them.
    fn release(self) {
        let (count, size) = MAX_RELEASED;
        // At the end of the thread the pages are freed.
        let _ = RELEASED.try_with(|released| {
            let mut released = released.borrow_mut();
            if released.len() < count && self.usable <= size {
                released.push(self);
            }
        });
    }
}

/// Returns the size of a page in bytes.
#[cfg(all(unix, not(miri)))]
fn page_size() -> usize {
    // SAFETY: sysconf only reads a system constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).expect("a page size")
}

/// Allocates pages with `usable` accessible bytes, and an inaccessible page after them.
#[cfg(all(unix, not(miri)))]
fn allocate(usable: usize, page: usize) -> Pages {
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
    let start: *mut u8 = mapping.cast();
    // SAFETY: the last page of the mapping starts `usable` bytes into it and is not yet in use.
    let sealed = unsafe { libc::mprotect(start.add(usable).cast(), page, libc::PROT_NONE) };
    assert_eq!(sealed, 0, "mprotect");
    Pages { start, usable, mapped }
}

#[cfg(all(unix, not(miri)))]
impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: exactly the pages of `allocate`, and no buffer uses them.
        unsafe { libc::munmap(self.start.cast(), self.mapped) };
    }
}

/// Returns the size of a page in bytes.
#[cfg(windows)]
fn page_size() -> usize {
    4096
}

/// Allocates pages with `usable` accessible bytes, and an inaccessible page after them.
#[cfg(windows)]
fn allocate(usable: usize, page: usize) -> Pages {
    use windows_sys::Win32::System::Memory::{
        MEM_COMMIT, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc,
    };
    let mapped = usable + page;
    // SAFETY: the system chooses the address. The last page is reserved, but not accessible.
    unsafe {
        let start = VirtualAlloc(ptr::null(), mapped, MEM_RESERVE, PAGE_READWRITE);
        assert!(!start.is_null(), "VirtualAlloc");
        if usable > 0 {
            let accessible = VirtualAlloc(start, usable, MEM_COMMIT, PAGE_READWRITE);
            assert!(!accessible.is_null(), "VirtualAlloc");
        }
        Pages { start: start.cast(), usable, mapped }
    }
}

#[cfg(windows)]
impl Drop for Pages {
    fn drop(&mut self) {
        use windows_sys::Win32::System::Memory::{MEM_RELEASE, VirtualFree};
        // SAFETY: exactly the pages of `allocate`, and no buffer uses them.
        unsafe { VirtualFree(self.start.cast(), 0, MEM_RELEASE) };
    }
}

/// Returns the alignment of memory without pages.
#[cfg(any(miri, not(any(unix, windows))))]
fn page_size() -> usize {
    if cfg!(miri) { 1 } else { 4096 }
}

/// Allocates `usable` bytes. Accesses past them are only found by Miri: the system has no pages.
#[cfg(any(miri, not(any(unix, windows))))]
fn allocate(usable: usize, page: usize) -> Pages {
    use std::alloc::{Layout, alloc};
    let mapped = usable.max(1);
    let layout = Layout::from_size_align(mapped, page).expect("a layout");
    // SAFETY: the layout has a size.
    let start = unsafe { alloc(layout) };
    assert!(!start.is_null(), "alloc");
    Pages { start, usable, mapped }
}

#[cfg(any(miri, not(any(unix, windows))))]
impl Drop for Pages {
    fn drop(&mut self) {
        use std::alloc::{Layout, dealloc};
        let layout = Layout::from_size_align(self.mapped, page_size()).expect("a layout");
        // SAFETY: exactly the memory of `allocate`, and no buffer uses it.
        unsafe { dealloc(self.start, layout) };
    }
}

// SAFETY: the buffer exclusively owns its mapping, like a `Vec`.
unsafe impl Send for GuardedBuf {}
// SAFETY: shared access only reads.
unsafe impl Sync for GuardedBuf {}

/// Sets the directory of temporary files before the tests run: WASI defines none.
#[cfg(target_os = "wasi")]
#[used]
#[unsafe(link_section = ".init_array")]
static SET_TEMPORARY_DIRECTORY: extern "C" fn() = {
    extern "C" fn set() {
        let _ = tempfile::env::override_temp_dir("/tmp".as_ref());
    }
    set
};
