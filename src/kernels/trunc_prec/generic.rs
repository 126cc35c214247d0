//! Truncation by its definition.

/// Clears the bits of `mask`'s zeros in each word; the mask is a word of as many bytes as `mask`
/// has.
pub(super) fn truncate(mask: &[u8], src: &[u8], dest: &mut [u8]) {
    for ((to, from), keep) in dest.iter_mut().zip(src).zip(mask.iter().cycle()) {
        *to = from & keep;
    }
}
