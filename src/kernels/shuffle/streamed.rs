//! Unshuffling into memory that no cache has room for. Whoever writes a byte there makes the CPU read its whole cache
//! line first, and push another one out. So items are put together in a piece of memory that stays in the first-level
//! cache, and their lines written from there, whole, past the caches.

use crate::kernels::level::Level;
use crate::kernels::vector::LINE;
use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

/// Bytes that are put together before they are written.
const STAGING_BYTES: usize = 8 << 10;

/// Those bytes, from the beginning of a line on.
#[repr(align(64))]
struct Staging([u8; STAGING_BYTES]);

/// Most planes that are unshuffled here.
pub(super) const MAX_PLANES: usize = 16;

/// [`super::unshuffle_planes_at`] of 2 to [`MAX_PLANES`] planes.
pub(super) fn unshuffle_planes_at(level: Level, planes: &[&[u8]], mut dest: &mut [u8]) {
    let items = planes[0].len();
    assert!(planes.iter().all(|plane| plane.len() == items));
    assert_eq!(dest.len(), planes.len() * items);
    let mut staging = Staging([0; STAGING_BYTES]);
    let mut slices: [&[u8]; MAX_PLANES] = [&[]; MAX_PLANES];
    let slices = &mut slices[..planes.len()];
    // Whole lines of each plane, so that all pieces lie alike in the lines of the destination.
    let max_items = STAGING_BYTES / planes.len() / LINE * LINE;
    for start in (0..items).step_by(max_items) {
        let count = max_items.min(items - start);
        for (slice, plane) in slices.iter_mut().zip(planes) {
            *slice = &plane[start..start + count];
        }
        let (to, rest) = dest.split_at_mut(count * planes.len());
        let staging = &mut staging.0[..to.len()];
        super::unshuffle_planes_at(level, slices, staging);
        copy(staging, to);
        dest = rest;
    }
    // SAFETY: every x86-64 CPU has SSE.
    unsafe { _mm_sfence() }
}

/// Copies bytes, the whole lines among them past the caches. They are there for other threads after a fence.
fn copy(src: &[u8], dest: &mut [u8]) {
    let head = dest.as_ptr().align_offset(LINE).min(dest.len());
    let (src_head, src) = src.split_at(head);
    let (dest_head, dest) = dest.split_at_mut(head);
    dest_head.copy_from_slice(src_head);
    let (src_lines, src_tail) = src.as_chunks::<LINE>();
    let (dest_lines, dest_tail) = dest.as_chunks_mut::<LINE>();
    for (from, to) in src_lines.iter().zip(dest_lines) {
        // SAFETY: every x86-64 CPU has SSE2; both places are of a line's bytes, and the one written to begins a line.
        unsafe { stream(from.as_ptr().cast(), to.as_mut_ptr().cast()) }
    }
    dest_tail.copy_from_slice(src_tail);
}

/// Copies a line past the caches.
///
/// # Safety
/// `src` is readable for a line's bytes, `dest` writable, and at the beginning of a line.
#[inline(always)]
unsafe fn stream(src: *const __m128i, dest: *mut __m128i) {
    // SAFETY: the caller vouches for both places, and the CPU has SSE2.
    unsafe {
        let line = [0, 1, 2, 3].map(|step| _mm_loadu_si128(src.add(step)));
        for (step, bytes) in line.into_iter().enumerate() {
            _mm_stream_si128(dest.add(step), bytes);
        }
    }
}
