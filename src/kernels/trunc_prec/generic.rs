//! The definition of the truncation.

/// Ands each word with `mask`, which has the size of a word.
pub(super) fn truncate(mask: &[u8], src: &[u8], dest: &mut [u8]) {
    for ((to, from), keep) in dest.iter_mut().zip(src).zip(mask.iter().cycle()) {
        *to = from & keep;
    }
}
