//! DELTA: each word XORed with the preceding word, or with a reference block.
//!
//! The first block of a chunk is its own reference: `out[i] = in[i] ^ in[i - 1]`. All other blocks
//! are XORed with the first one, word by word (C-Blosc2 chunk format, filter 3). Words have 1, 2, 4
//! or 8 bytes; bytes after the last whole word are copied.

mod generic;
mod vectors;

use super::compile::at_level;
use super::level::{Level, level};

/// Bytes of the longest word.
pub const MAX_WORD: usize = 8;

/// XORs each word of `src` with the preceding word into `dest` of the same length.
///
/// # Panics
/// If the lengths differ or `word` is not 1, 2, 4 or 8.
///
/// ```
/// let mut delta = [0; 5];
/// ferroblosc::kernels::delta::encode_first(2, &[1, 2, 1, 3, 9], &mut delta);
/// assert_eq!(delta, [1, 2, 0, 1, 9]);
/// ```
pub fn encode_first(word: usize, src: &[u8], dest: &mut [u8]) {
    encode_first_at(level(), word, src, dest);
}

/// Undoes [`encode_first`].
///
/// # Panics
/// If the lengths differ or `word` is not 1, 2, 4 or 8.
pub fn decode_first(word: usize, src: &[u8], dest: &mut [u8]) {
    decode_first_at(level(), word, src, dest);
}

/// Undoes [`encode_first`] in place for a range of words. `before` is the decoded preceding word,
/// or zeros at the start.
///
/// # Panics
/// If `before` does not have 1, 2, 4 or 8 bytes.
pub fn decode_first_in_place(before: &[u8], buffer: &mut [u8]) {
    decode_first_in_place_at(level(), before, buffer);
}

/// XORs the words of `src` with those of `reference` into `dest` of the same length as `src`.
///
/// # Panics
/// If the lengths differ, `reference` has fewer whole words, or `word` is not 1, 2, 4 or 8.
pub fn encode_against(word: usize, src: &[u8], reference: &[u8], dest: &mut [u8]) {
    encode_against_at(level(), word, src, reference, dest);
}

/// Undoes [`encode_against`].
///
/// # Panics
/// Panics under the conditions of [`encode_against`].
pub fn decode_against(word: usize, src: &[u8], reference: &[u8], dest: &mut [u8]) {
    // XOR is its own inverse.
    encode_against(word, src, reference, dest);
}

/// Undoes [`encode_against`] in place.
///
/// # Panics
/// If `reference` has fewer whole words than `buffer`, or `word` is not 1, 2, 4 or 8.
pub fn decode_against_in_place(word: usize, buffer: &mut [u8], reference: &[u8]) {
    decode_against_in_place_at(level(), word, buffer, reference);
}

/// Returns the length of the whole words in `len` bytes.
fn whole_words(word: usize, len: usize) -> usize {
    assert!(matches!(word, 1 | 2 | 4 | 8), "delta words must have 1, 2, 4 or 8 bytes, not {word}");
    len - len % word
}

/// Copies the bytes after the last whole word, and returns the whole words of both slices.
fn split<'a>(word: usize, src: &'a [u8], dest: &'a mut [u8]) -> (&'a [u8], &'a mut [u8]) {
    assert_eq!(src.len(), dest.len());
    let (src, src_tail) = src.split_at(whole_words(word, src.len()));
    let (dest, dest_tail) = dest.split_at_mut(src.len());
    dest_tail.copy_from_slice(src_tail);
    (src, dest)
}

/// Runs [`encode_first`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`encode_first`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn encode_first_at(level: Level, word: usize, src: &[u8], dest: &mut [u8]) {
    level.assert_available();
    let (src, dest) = split(word, src, dest);
    if level == Level::Generic || src.is_empty() {
        return generic::encode_first(word, src, dest);
    }
    // XOR with the preceding word is XOR with the same stream, shifted by one word.
    let (first, rest) = dest.split_at_mut(word);
    first.copy_from_slice(&src[..word]);
    // SAFETY: the level is available.
    unsafe { xor_at(level, &src[word..], &src[..src.len() - word], rest) };
}

/// Runs [`decode_first`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`decode_first`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn decode_first_at(level: Level, word: usize, src: &[u8], dest: &mut [u8]) {
    level.assert_available();
    let (src, dest) = split(word, src, dest);
    let before = &[0; MAX_WORD][..word];
    let (from, to, len) = (src.as_ptr(), dest.as_mut_ptr(), src.len());
    // SAFETY: the level is available, and both slices are `len` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(before: &[u8], from: *const u8, to: *mut u8, len: usize) {
                vectors::running_xor::<V>(before, from, to, len);
            },
            generic: generic::decode_first(word, src, dest),
        );
    }
}

/// Runs [`decode_first_in_place`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`decode_first_in_place`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn decode_first_in_place_at(level: Level, before: &[u8], buffer: &mut [u8]) {
    level.assert_available();
    let whole = whole_words(before.len(), buffer.len());
    let buffer = &mut buffer[..whole];
    let (to, len) = (buffer.as_mut_ptr(), buffer.len());
    // SAFETY: the level is available, and the buffer is `len` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(before: &[u8], to: *mut u8, len: usize) {
                vectors::running_xor::<V>(before, to, to, len);
            },
            generic: generic::decode_first_in_place(before, buffer),
        );
    }
}

/// Runs [`encode_against`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`encode_against`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn encode_against_at(level: Level, word: usize, src: &[u8], reference: &[u8], dest: &mut [u8]) {
    level.assert_available();
    let (src, dest) = split(word, src, dest);
    // SAFETY: the level is available.
    unsafe { xor_at(level, src, &reference[..src.len()], dest) };
}

/// Runs [`decode_against_in_place`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`decode_against_in_place`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn decode_against_in_place_at(level: Level, word: usize, buffer: &mut [u8], reference: &[u8]) {
    level.assert_available();
    let whole = whole_words(word, buffer.len());
    let (buffer, reference) = (&mut buffer[..whole], &reference[..whole]);
    let (to, with) = (buffer.as_mut_ptr(), reference.as_ptr());
    // SAFETY: the level is available, and both slices are `whole` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(to: *mut u8, with: *const u8, whole: usize) {
                vectors::xor::<V>(to, with, to, whole);
            },
            generic: generic::against_in_place(buffer, reference),
        );
    }
}

/// Computes `dest[i] = src[i] ^ reference[i]` at `level`.
///
/// # Safety
/// The CPU has the level.
unsafe fn xor_at(level: Level, src: &[u8], reference: &[u8], dest: &mut [u8]) {
    let len = src.len();
    assert!(reference.len() == len && dest.len() == len);
    let (from, with, to) = (src.as_ptr(), reference.as_ptr(), dest.as_mut_ptr());
    // SAFETY: the level is available, and all slices are `len` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(from: *const u8, with: *const u8, to: *mut u8, len: usize) {
                vectors::xor::<V>(from, with, to, len);
            },
            generic: generic::against(src, reference, dest),
        );
    }
}
