//! BYTEDELTA: the difference of each byte and the preceding byte of its channel.
//!
//! The `n` bytes consist of `channels` channels of `n / channels` bytes (the planes of a shuffle),
//! one after the other, and a remainder that is copied. The byte before a channel's first one
//! counts as 0 (C-Blosc2 chunk format, filter 35). In the legacy form, filter 34, the predecessor
//! is 0 again at the last multiple of 16 bytes of each channel.
//!
//! Differences and shuffle commute: if the channels are all the planes of the items, shuffling the
//! byte-wise differences of consecutive items returns the same bytes.

mod generic;
mod vectors;

use super::compile::at_level;
use super::level::{Level, level};

/// The legacy form restarts at the last multiple of this number of bytes.
const LEGACY_STEP: usize = 16;

/// Encodes `src` into `dest` of the same length.
///
/// # Panics
/// If the lengths differ or `channels` is 0.
///
/// ```
/// let mut dest = [0; 7];
/// ferroblosc::kernels::bytedelta::encode(2, &[1, 3, 6, 9, 9, 8, 77], &mut dest);
/// assert_eq!(dest, [1, 2, 3, 9, 0, 255, 77]);
/// ```
pub fn encode(channels: usize, src: &[u8], dest: &mut [u8]) {
    encode_at(level(), channels, src, dest);
}

/// Undoes [`encode`].
///
/// # Panics
/// If the lengths differ or `channels` is 0.
pub fn decode(channels: usize, src: &[u8], dest: &mut [u8]) {
    decode_at(level(), channels, src, dest);
}

/// Encodes `src` into `dest` of the same length by the rule of filter 34; the remainder is copied.
///
/// # Panics
/// If the lengths differ or `channels` is 0.
pub fn encode_legacy(channels: usize, src: &[u8], dest: &mut [u8]) {
    encode_legacy_at(level(), channels, src, dest);
}

/// Undoes [`encode_legacy`].
///
/// # Panics
/// If the lengths differ or `channels` is 0.
pub fn decode_legacy(channels: usize, src: &[u8], dest: &mut [u8]) {
    decode_legacy_at(level(), channels, src, dest);
}

/// Writes the byte-wise differences of consecutive items into `dest`, to be shuffled afterwards:
/// `src - earlier`, where `earlier` holds the same items shifted by one.
///
/// # Panics
/// If the lengths differ.
pub fn encode_items(src: &[u8], earlier: &[u8], dest: &mut [u8]) {
    encode_items_at(level(), src, earlier, dest);
}

/// Undoes [`encode_items`] in place. `before` is the decoded preceding item, or zeros for the first
/// one.
///
/// # Panics
/// If `before` does not have 1, 2, 4, 8 or 16 bytes, or `items` is not a whole number of items.
pub fn decode_items_in_place(before: &[u8], items: &mut [u8]) {
    decode_items_in_place_at(level(), before, items);
}

/// Runs [`encode`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`encode`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn encode_at(level: Level, channels: usize, src: &[u8], dest: &mut [u8]) {
    level.assert_available();
    // SAFETY: the level is available.
    for_each_channel(channels, src, dest, |src, dest| unsafe { differences(level, src, dest) });
}

/// Runs [`decode`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`decode`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn decode_at(level: Level, channels: usize, src: &[u8], dest: &mut [u8]) {
    level.assert_available();
    // SAFETY: the level is available.
    for_each_channel(channels, src, dest, |src, dest| unsafe { running_sum(level, src, dest) });
}

/// Runs [`encode_legacy`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`encode_legacy`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn encode_legacy_at(level: Level, channels: usize, src: &[u8], dest: &mut [u8]) {
    level.assert_available();
    for_each_channel(channels, src, dest, |src, dest| {
        // SAFETY: the level is available.
        for_both_runs(src, dest, |src, dest| unsafe { differences(level, src, dest) });
    });
}

/// Runs [`decode_legacy`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`decode_legacy`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn decode_legacy_at(level: Level, channels: usize, src: &[u8], dest: &mut [u8]) {
    level.assert_available();
    for_each_channel(channels, src, dest, |src, dest| {
        // SAFETY: the level is available.
        for_both_runs(src, dest, |src, dest| unsafe { running_sum(level, src, dest) });
    });
}

/// Runs [`encode_items`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`encode_items`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn encode_items_at(level: Level, src: &[u8], earlier: &[u8], dest: &mut [u8]) {
    level.assert_available();
    let len = src.len();
    assert!(earlier.len() == len && dest.len() == len);
    let (from, less, to) = (src.as_ptr(), earlier.as_ptr(), dest.as_mut_ptr());
    // SAFETY: the level is available, and all slices are `len` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(from: *const u8, less: *const u8, to: *mut u8, len: usize) {
                vectors::subtract::<V>(from, less, to, len);
            },
            generic: generic::subtract(src, earlier, dest),
        );
    }
}

/// Runs [`decode_items_in_place`] at a given level.
///
/// # Panics
/// Panics under the conditions of [`decode_items_in_place`], and if the CPU lacks the level.
#[doc(hidden)]
pub fn decode_items_in_place_at(level: Level, before: &[u8], items: &mut [u8]) {
    level.assert_available();
    let width = before.len();
    assert!(
        matches!(width, 1 | 2 | 4 | 8 | 16),
        "items must have 1, 2, 4, 8 or 16 bytes, not {width}"
    );
    assert!(items.len().is_multiple_of(width));
    let (to, len) = (items.as_mut_ptr(), items.len());
    // SAFETY: the level is available, and `items` is `len` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(before: &[u8], to: *mut u8, len: usize) {
                vectors::running_sums::<V>(before, to, to, len);
            },
            generic: generic::decode_items_in_place(before, items),
        );
    }
}

/// Calls `transform` for each channel, and copies the remainder.
fn for_each_channel(
    channels: usize,
    src: &[u8],
    dest: &mut [u8],
    transform: impl Fn(&[u8], &mut [u8]),
) {
    assert_eq!(src.len(), dest.len());
    let length = src.len() / channels;
    let whole = length * channels;
    if length > 0 {
        let from = src[..whole].chunks_exact(length);
        for (src, dest) in from.zip(dest[..whole].chunks_exact_mut(length)) {
            transform(src, dest);
        }
    }
    dest[whole..].copy_from_slice(&src[whole..]);
}

/// Calls `transform` for both runs of a legacy channel.
fn for_both_runs(src: &[u8], dest: &mut [u8], transform: impl Fn(&[u8], &mut [u8])) {
    let restart = src.len() - src.len() % LEGACY_STEP;
    let (first, second) = dest.split_at_mut(restart);
    transform(&src[..restart], first);
    transform(&src[restart..], second);
}

/// Encodes one channel at `level`.
///
/// # Safety
/// The CPU has the level.
unsafe fn differences(level: Level, src: &[u8], dest: &mut [u8]) {
    let len = src.len();
    assert_eq!(len, dest.len());
    let (from, to) = (src.as_ptr(), dest.as_mut_ptr());
    // SAFETY: the level is available, and both slices are `len` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(from: *const u8, to: *mut u8, len: usize) {
                vectors::differences::<V>(from, to, len);
            },
            generic: generic::encode(src, dest),
        );
    }
}

/// Decodes one channel at `level`.
///
/// # Safety
/// The CPU has the level.
unsafe fn running_sum(level: Level, src: &[u8], dest: &mut [u8]) {
    let len = src.len();
    assert_eq!(len, dest.len());
    let (from, to) = (src.as_ptr(), dest.as_mut_ptr());
    // SAFETY: the level is available, and both slices are `len` bytes.
    unsafe {
        at_level!(
            level,
            |V| fn(from: *const u8, to: *mut u8, len: usize) {
                vectors::running_sum::<V>(from, to, len);
            },
            generic: generic::decode(src, dest),
        );
    }
}
