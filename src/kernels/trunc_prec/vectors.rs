//! Truncation with vectors.

use crate::kernels::vector::{LINE, Vector};

/// `dest[i] = src[i] & mask[i % LINE]` for all `i < len`.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads and `dest` for writes of `len` bytes.
#[inline(always)]
pub(super) unsafe fn mask<V: Vector>(mask: &[u8; LINE], src: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: all accesses are below `len`, and no vector is wider than the mask. `BYTES` divides
    // `LINE`, and the mask's period divides `BYTES`, so that each vector starts at a place where
    // the mask starts anew.
    unsafe {
        let keep = V::load(mask.as_ptr());
        let mut i = 0;
        while i + V::BYTES <= len {
            V::load(src.add(i)).and(keep).store(dest.add(i));
            i += V::BYTES;
        }
        while i < len {
            *dest.add(i) = *src.add(i) & mask[i % LINE];
            i += 1;
        }
    }
}
