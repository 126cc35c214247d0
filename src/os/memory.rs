//! The allocator of the C library, and the pages of large buffers.

/// Requests large pages for a new buffer of at least 4 MiB: one page fault instead of 512. It has
/// no effect where the system decides alone.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn prefer_large_pages(start: *mut u8, len: usize) {
    const LARGE: usize = 4 << 20;
    // Where pages are larger, the call fails and changes nothing.
    const PAGE: usize = 4096;
    if len < LARGE {
        return;
    }
    let skipped = start.align_offset(PAGE);
    let len = len.saturating_sub(skipped) / PAGE * PAGE;
    // SAFETY: the pages are inside the buffer, and the advice does not change their content.
    unsafe {
        libc::madvise(start.wrapping_add(skipped).cast(), len, libc::MADV_HUGEPAGE);
    }
}

/// Does nothing.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn prefer_large_pages(_start: *mut u8, _len: usize) {}

/// Returns `len` zero bytes, or null if there is no memory. `len` is not 0.
pub(crate) fn zeroed(len: usize) -> *mut u8 {
    // SAFETY: calloc accepts all sizes.
    unsafe { libc::calloc(len, 1) }.cast()
}

/// Returns `len` bytes with any content, or null if there is no memory. `len` is not 0.
pub(crate) fn unspecified(len: usize) -> *mut u8 {
    // An allocation has no content that can be read, not even an unknown one, until it is written.
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        // SAFETY: malloc accepts all sizes. The compiler has to assume that the assembly writes to
        // the memory, so its bytes have some value from then on.
        unsafe {
            let start = libc::malloc(len);
            std::arch::asm!("/* {0} */", in(reg) start, options(nostack, preserves_flags));
            start.cast()
        }
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    zeroed(len)
}

/// Changes the size of a block to `len` bytes, which is not 0. Returns null, and leaves the block,
/// if there is no memory.
///
/// # Safety
/// `start` is null, which allocates a block, or a block of this allocator.
pub(crate) unsafe fn resize(start: *mut u8, len: usize) -> *mut u8 {
    // SAFETY: the caller's contract.
    unsafe { libc::realloc(start.cast(), len) }.cast()
}

/// Frees a block.
///
/// # Safety
/// `start` is a block of this allocator, which is not used any more.
pub(crate) unsafe fn free(start: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe { libc::free(start.cast()) }
}
