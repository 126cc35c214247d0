//! Bytedelta with vectors: of one channel, and of all channels at once where their bytes still are in items.

use crate::kernels::scan::{Sum, scan, word};
use crate::kernels::vector::Vector;

/// `dest[i] = src[i] - src[i - 1]` for all `i < len`, where `src` before its start counts as 0.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads and `dest` for writes of `len` bytes; they
/// do not overlap.
#[inline(always)]
pub(super) unsafe fn differences<V: Vector>(src: *const u8, dest: *mut u8, len: usize) {
    if len == 0 {
        return;
    }
    // SAFETY: all accesses are below `len`, and reads of the bytes before start at 1 - 1.
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
        // Each vector in its cache line; the first and the last overlap their neighbours instead.
        vector(1);
        let mut i = V::BYTES - dest.addr() % V::BYTES;
        while i + V::BYTES <= len {
            vector(i);
            i += V::BYTES;
        }
        vector(len - V::BYTES);
    }
}

/// `dest[i] = a[i] - b[i]` for all `i < len`.
///
/// # Safety
/// The contract of [`Vector`]; `a` and `b` are valid for reads and `dest` for writes of `len` bytes; `dest` overlaps
/// neither.
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

/// The running sum.
///
/// # Safety
/// As for [`scan`].
#[inline(always)]
pub(super) unsafe fn running_sum<V: Vector>(src: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe { scan::<V, Sum, 1>(&[0], src, dest, len) }
}

/// The running sums of the bytes of items as long as `before`, which stands in front of the first one.
///
/// # Safety
/// As for [`scan`]; `before` has 1, 2, 4, 8 or 16 bytes.
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
