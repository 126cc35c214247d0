//! Bytedelta with vectors: of one channel, and of all channels of unshuffled items at once.

use crate::kernels::scan::{Sum, scan, word};
use crate::kernels::vector::Vector;

/// Computes `dest[i] = src[i] - src[i - 1]` for all `i < len`; 0 precedes `src`.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads and `dest` for writes of `len` bytes; they
/// do not overlap.
#[inline(always)]
pub(super) unsafe fn differences<V: Vector>(src: *const u8, dest: *mut u8, len: usize) {
    if len == 0 {
        return;
    }
    // SAFETY: all accesses are below `len`; the smallest index is 1, so reads at `i - 1` are in
    // bounds.
    unsafe {
        *dest = *src;
        if len <= V::BYTES {
            for i in 1..len {
                *dest.add(i) = (*src.add(i)).wrapping_sub(*src.add(i - 1));
            }
            return;
        }
        let vector = |i: usize| {
            let difference = V::load(src.add(i)).sub(V::load(src.add(i - 1)));
            difference.store(dest.add(i));
        };
        // Aligns all stores but the first and the last, which overlap their neighbours.
        vector(1);
        let mut i = V::BYTES - dest.addr() % V::BYTES;
        while i + V::BYTES <= len {
            vector(i);
            i += V::BYTES;
        }
        vector(len - V::BYTES);
    }
}

/// Computes `dest[i] = a[i] - b[i]` for all `i < len`.
///
/// # Safety
/// The contract of [`Vector`]; `a` and `b` are valid for reads and `dest` for writes of `len`
/// bytes; `dest` overlaps neither.
#[inline(always)]
pub(super) unsafe fn subtract<V: Vector>(a: *const u8, b: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: all accesses are below `len`.
    unsafe {
        let mut i = 0;
        while i + V::BYTES <= len {
            V::load(a.add(i)).sub(V::load(b.add(i))).store(dest.add(i));
            i += V::BYTES;
        }
        while i < len {
            *dest.add(i) = (*a.add(i)).wrapping_sub(*b.add(i));
            i += 1;
        }
    }
}

/// Computes the running sum.
///
/// # Safety
/// The contract of [`scan`].
#[inline(always)]
pub(super) unsafe fn running_sum<V: Vector>(src: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe { scan::<V, Sum, 1>(&[0], src, dest, len) }
}

/// Computes the running byte-wise sums of items of `before.len()` bytes, starting from `before`.
///
/// # Safety
/// The contract of [`scan`]; `before` has 1, 2, 4, 8 or 16 bytes.
#[inline(always)]
pub(super) unsafe fn running_sums<V: Vector>(
    before: &[u8],
    src: *const u8,
    dest: *mut u8,
    len: usize,
) {
    // SAFETY: the caller's contract.
    unsafe {
        match before.len() {
            1 => scan::<V, Sum, 1>(&word(before), src, dest, len),
            2 => scan::<V, Sum, 2>(&word(before), src, dest, len),
            4 => scan::<V, Sum, 4>(&word(before), src, dest, len),
            8 => scan::<V, Sum, 8>(&word(before), src, dest, len),
            _ => scan::<V, Sum, 16>(&word(before), src, dest, len),
        }
    }
}
