//! Copies through registers.
//!
//! A load waits for an earlier store to the same offset of another page, although the addresses
//! differ (page aliasing). If the destination is at a slightly higher offset than the source, a
//! loop from the start stores what the next loads alias, and one from the end does not; at a
//! slightly lower offset it is the reverse. So the offsets determine the direction.

use crate::kernels::unroll::unroll;
use crate::kernels::vector::Vector;

/// The distance in bytes at which addresses alias.
const PAGE: usize = 4096;

/// Registers that are loaded before they are stored.
const UNROLLED: usize = 4;

/// Copies `len` bytes. All stores but two are aligned.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads and `dest` for writes of `len` bytes, they
/// do not overlap, and `len` is at least the size of a vector.
#[inline(always)]
pub(super) unsafe fn copy<V: Vector>(src: *const u8, dest: *mut u8, len: usize) {
    debug_assert!(len >= V::BYTES);
    let step = UNROLLED * V::BYTES;
    // SAFETY: the first and the last vector are inside the ranges. The loops access `i..i + BYTES`
    // or `i..i + step`, which end at `len` at most.
    unsafe {
        let first = V::load(src);
        let last = V::load(src.add(len - V::BYTES));
        if dest.addr().wrapping_sub(src.addr()) % PAGE < PAGE / 2 {
            // The remainders before and after the aligned vectors are in `first` and `last`.
            let mut i = len - (dest.addr() + len) % V::BYTES;
            while i >= step {
                i -= step;
                copy_reversed::<V>(src.add(i), dest.add(i));
            }
            while i >= V::BYTES {
                i -= V::BYTES;
                V::load(src.add(i)).store(dest.add(i));
            }
        } else {
            let mut i = V::BYTES - dest.addr() % V::BYTES;
            while i + step <= len {
                copy_forward::<V>(src.add(i), dest.add(i));
                i += step;
            }
            while i + V::BYTES <= len {
                V::load(src.add(i)).store(dest.add(i));
                i += V::BYTES;
            }
        }
        first.store(dest);
        last.store(dest.add(len - V::BYTES));
    }
}

/// Copies [`UNROLLED`] vectors, the first one first.
///
/// # Safety
/// The contract of [`Vector`]; the vectors are readable and writable.
#[inline(always)]
unsafe fn copy_forward<V: Vector>(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe {
        let r = load::<V>(src);
        unroll!(4: k, { r[k].store(dest.add(k * V::BYTES)) });
    }
}

/// Copies [`UNROLLED`] vectors, the last one first.
///
/// # Safety
/// The contract of [`Vector`]; the vectors are readable and writable.
#[inline(always)]
unsafe fn copy_reversed<V: Vector>(src: *const u8, dest: *mut u8) {
    // SAFETY: the caller's contract.
    unsafe {
        let r = load::<V>(src);
        unroll!(4: k, { r[UNROLLED - 1 - k].store(dest.add((UNROLLED - 1 - k) * V::BYTES)) });
    }
}

/// Loads [`UNROLLED`] vectors.
///
/// # Safety
/// The contract of [`Vector`]; the vectors are readable.
#[inline(always)]
unsafe fn load<V: Vector>(src: *const u8) -> [V; UNROLLED] {
    let at = |k: usize| src.wrapping_add(k * V::BYTES);
    // SAFETY: the caller's contract.
    unsafe { [V::load(at(0)), V::load(at(1)), V::load(at(2)), V::load(at(3))] }
}
