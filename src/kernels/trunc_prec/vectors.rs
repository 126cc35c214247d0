//! Truncation with vectors.

use crate::kernels::vector::{LINE, Vector};

/// Bytes of the longest word.
const MAX_WORD: usize = 8;

/// Computes `dest[i] = src[i] & mask[i % LINE]` for all `i < len`. Both `mask` and `len` are whole
/// words.
///
/// # Safety
/// The contract of [`Vector`]; `src` is valid for reads and `dest` for writes of `len` bytes.
#[inline(always)]
pub(super) unsafe fn mask<V: Vector>(mask: &[u8; LINE], src: *const u8, dest: *mut u8, len: usize) {
    // SAFETY: all accesses are below `len`, and no vector is wider than the mask.
    unsafe {
        if len < V::BYTES {
            for (i, keep) in mask[..len].iter().enumerate() {
                *dest.add(i) = *src.add(i) & keep;
            }
            return;
        }
        let keep = V::load(mask.as_ptr());
        let vector = |i: usize| V::load(src.add(i)).and(keep).store(dest.add(i));
        // Aligns all stores but the first and the last, which overlap their neighbours, provided
        // that words are aligned to their size. Each vector starts at a word, as the mask does.
        vector(0);
        let mut i = (V::BYTES - dest.addr() % V::BYTES) / MAX_WORD * MAX_WORD;
        while i + V::BYTES <= len {
            vector(i);
            i += V::BYTES;
        }
        vector(len - V::BYTES);
    }
}
