//! Bytedelta of one channel with vectors.

use crate::kernels::scan::{Sum, scan};
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

/// The running sum.
///
/// # Safety
/// As for [`scan`].
#[inline(always)]
pub(super) unsafe fn running_sum<V: Vector>(src: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: the caller's contract.
    unsafe { scan::<V, Sum, 1>(src, dest, len) }
}
