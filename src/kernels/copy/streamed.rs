//! Copies to memory that exceeds the caches.
//!
//! A normal store there reads the whole cache line first and evicts another one. Non-temporal
//! stores of whole lines do neither.

use crate::kernels::vector::LINE;
use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

/// Copies `src` to `dest`.
///
/// # Panics
/// If the lengths differ.
pub(super) fn copy(src: &[u8], dest: &mut [u8]) {
    assert_eq!(src.len(), dest.len());
    // SAFETY: the slices are valid for their common length, and references to different bytes.
    unsafe { copy_nonoverlapping(src.as_ptr(), dest.as_mut_ptr(), src.len()) }
}

/// Copies `len` bytes.
///
/// # Safety
/// `src` is valid for reads and `dest` for writes of `len` bytes, and the two do not overlap.
pub(super) unsafe fn copy_nonoverlapping(src: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe { copy_unfenced(src, dest, len) }
    fence();
}

/// Orders the non-temporal stores of this thread before its later stores.
#[inline(always)]
pub(in crate::kernels) fn fence() {
    // SAFETY: every x86-64 CPU has SSE.
    unsafe { _mm_sfence() }
}

/// Copies `len` bytes, with non-temporal stores for whole lines.
///
/// # Safety
/// The same conditions as for [`copy_nonoverlapping`]. A [`fence`] follows before any other access
/// to the destination.
pub(in crate::kernels) unsafe fn copy_unfenced(src: *const u8, dest: *mut u8, len: usize) {
    let head = dest.align_offset(LINE).min(len);
    let end = len - (len - head) % LINE;
    // SAFETY: the ranges `..head`, `head..end` and `end..` are inside those of the caller. `head`
    // bytes after `dest` a line starts, unless `head..end` is empty.
    unsafe {
        std::ptr::copy_nonoverlapping(src, dest, head);
        for i in (head..end).step_by(LINE) {
            stream(src.add(i).cast(), dest.add(i).cast());
        }
        std::ptr::copy_nonoverlapping(src.add(end), dest.add(end), len - end);
    }
}

/// Copies a line with non-temporal stores.
///
/// # Safety
/// `src` is readable and `dest` writable for the bytes of a line, and `dest` is aligned to a line.
#[inline(always)]
unsafe fn stream(src: *const __m128i, dest: *mut __m128i) {
    // SAFETY: the caller's contract for both pointers; the CPU has SSE2.
    unsafe {
        let line = [0, 1, 2, 3].map(|step| _mm_loadu_si128(src.add(step)));
        for (step, bytes) in line.into_iter().enumerate() {
            _mm_stream_si128(dest.add(step), bytes);
        }
    }
}
