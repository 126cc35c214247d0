//! TRUNC_PREC and INT_TRUNC: clears the low bits of each word.
//!
//! Words have the byte order of the machine and 1, 2, 4 or 8 bytes: floating-point numbers, which
//! lose mantissa bits, or integers (C-Blosc2 chunk format, filters 4 and 36). Bytes after the last
//! whole word are copied.

mod generic;
mod vectors;

use super::compile::at_level;
use super::level::{Level, level};
use super::vector::LINE;

/// Clears the lowest `zeroed_bits` bits of each word of `word` bytes of `src`, into `dest`.
///
/// # Panics
/// If the lengths differ, `word` is not 1, 2, 4 or 8, or a word has fewer bits than `zeroed_bits`.
///
/// ```
/// let mut dest = [0; 5];
/// let [low, high] = 0x1234_u16.to_ne_bytes();
/// ferroblosc::kernels::trunc_prec::truncate(2, 9, &[0xff, 0xff, low, high, 0x77], &mut dest);
/// assert_eq!(u16::from_ne_bytes([dest[0], dest[1]]), 0xfe00);
/// assert_eq!(u16::from_ne_bytes([dest[2], dest[3]]), 0x1200);
/// assert_eq!(dest[4], 0x77);
/// ```
pub fn truncate(word: usize, zeroed_bits: u32, src: &[u8], dest: &mut [u8]) {
    truncate_at(level(), word, zeroed_bits, src, dest);
}

/// Runs [`truncate`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`truncate`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn truncate_at(level: Level, word: usize, zeroed_bits: u32, src: &[u8], dest: &mut [u8]) {
    level.assert_available();
    assert!(matches!(word, 1 | 2 | 4 | 8), "words must have 1, 2, 4 or 8 bytes, not {word}");
    assert!(zeroed_bits <= 8 * word as u32, "{zeroed_bits} bits exceed a word of {word} bytes");
    assert_eq!(src.len(), dest.len());
    let whole = src.len() - src.len() % word;
    let (src, src_tail) = src.split_at(whole);
    let (dest, dest_tail) = dest.split_at_mut(whole);
    dest_tail.copy_from_slice(src_tail);

    // The low bytes of a word are the last ones in big-endian order.
    let mut keep = u64::MAX.checked_shl(zeroed_bits).unwrap_or(0).to_le_bytes();
    let keep = &mut keep[..word];
    if cfg!(target_endian = "big") {
        keep.reverse();
    }
    let keep = &*keep;
    let repeated: [u8; LINE] = std::array::from_fn(|i| keep[i % word]);
    let mask = &repeated;
    let (from, to) = (src.as_ptr(), dest.as_mut_ptr());
    // SAFETY: the level is available, and both slices are `whole` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(mask: &[u8; LINE], from: *const u8, to: *mut u8, whole: usize) {
                vectors::mask::<V>(mask, from, to, whole);
            },
            generic: generic::truncate(keep, src, dest),
        );
    }
}
