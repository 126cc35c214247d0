//! Unshuffle into memory that exceeds the caches.
//!
//! A normal store there reads the whole cache line first and evicts another one. So items are
//! assembled in a buffer that stays in the L1 cache, and whole lines are written from there with
//! non-temporal stores.

use super::gather;
use crate::kernels::level::Level;
use crate::kernels::vector::LINE;
use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

/// Bytes that are assembled before they are written.
const STAGING_BYTES: usize = 8 << 10;

/// A buffer aligned to a cache line.
#[repr(align(64))]
struct Staging([u8; STAGING_BYTES]);

/// The largest number of planes.
pub(super) const MAX_PLANES: usize = 16;

/// Unshuffles 2 to [`MAX_PLANES`] planes like [`gather::unshuffle_planes_at`].
pub(super) fn unshuffle_planes_at(level: Level, planes: &[&[u8]], mut dest: &mut [u8]) {
    let items = planes[0].len();
    assert!(planes.iter().all(|plane| plane.len() == items));
    assert_eq!(dest.len(), planes.len() * items);
    let mut staging = Staging([0; STAGING_BYTES]);
    let mut slices: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
    let slices = &mut slices[..planes.len()];
    // Whole lines of each plane, so that all tiles have the same alignment in the destination.
    let max_items = STAGING_BYTES / planes.len() / LINE * LINE;
    for start in (0..items).step_by(max_items) {
        let count = max_items.min(items - start);
        for (slice, plane) in slices.iter_mut().zip(planes) {
            *slice = &plane[start..start + count];
        }
        let (to, rest) = dest.split_at_mut(count * planes.len());
        let staging = &mut staging.0[..to.len()];
        gather::unshuffle_planes_at(level, slices, staging);
        copy(staging, to);
        dest = rest;
    }
    // SAFETY: every x86-64 CPU has SSE.
    unsafe { _mm_sfence() }
}

/// Copies `src` to `dest`, with non-temporal stores for whole lines. These need a fence before
/// other threads read the bytes.
fn copy(src: &[u8], dest: &mut [u8]) {
    let head = dest.as_ptr().align_offset(LINE).min(dest.len());
    let (src_head, src) = src.split_at(head);
    let (dest_head, dest) = dest.split_at_mut(head);
    dest_head.copy_from_slice(src_head);
    let (src_lines, src_tail) = src.as_chunks::<LINE>();
    let (dest_lines, dest_tail) = dest.as_chunks_mut::<LINE>();
    for (from, to) in src_lines.iter().zip(dest_lines) {
        // SAFETY: every x86-64 CPU has SSE2; both chunks have the bytes of a line, and `to` is
        // aligned to a line.
        unsafe { stream(from.as_ptr().cast(), to.as_mut_ptr().cast()) }
    }
    dest_tail.copy_from_slice(src_tail);
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
