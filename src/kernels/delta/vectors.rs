//! Delta with vectors: XOR of two byte streams, which does not depend on the word size, and the
//! running XOR.

use crate::kernels::scan::{Xor, scan, word};
use crate::kernels::vector::Vector;

/// Computes `dest[i] = a[i] ^ b[i]` for all `i < len`.
///
/// # Safety
/// The contract of [`Vector`]; `a` and `b` are valid for reads and `dest` for writes of `len`
/// bytes; `dest` is `a` or overlaps neither.
#[inline(always)]
pub(super) unsafe fn xor<V: Vector>(a: *const u8, b: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: all accesses are below `len`.
    unsafe {
        let mut i = 0;
        while i + V::BYTES <= len {
            V::load(a.add(i)).xor(V::load(b.add(i))).store(dest.add(i));
            i += V::BYTES;
        }
        while i < len {
            *dest.add(i) = *a.add(i) ^ *b.add(i);
            i += 1;
        }
    }
}

/// Computes the running XOR of words of `before.len()` bytes, starting from `before`.
///
/// # Safety
/// The contract of [`scan`]; `before` has 1, 2, 4 or 8 bytes.
#[inline(always)]
pub(super) unsafe fn running_xor<V: Vector>(
    before: &[u8],
    src: *const u8,
    dest: *mut u8,
    len: usize,
) {
    // SAFETY: the caller's contract.
    unsafe {
        match before.len() {
            1 => scan::<V, Xor, 1>(&word(before), src, dest, len),
            2 => scan::<V, Xor, 2>(&word(before), src, dest, len),
            4 => scan::<V, Xor, 4>(&word(before), src, dest, len),
            _ => scan::<V, Xor, 8>(&word(before), src, dest, len),
        }
    }
}
