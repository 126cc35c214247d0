//! The allocator of the C library.

/// Returns `len` zero bytes, or null if there is no memory. `len` is not 0.
pub(crate) fn zeroed(len: usize) -> *mut u8 {
    // SAFETY: calloc accepts all sizes.
    unsafe { libc::calloc(len, 1) }.cast()
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
