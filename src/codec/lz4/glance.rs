//! A glance at a plane of shuffled items before it is searched: noise has no matches.
//!
//! The lowest bytes of measurements are random. LZ4 hurries through them, but still looks at one place in twenty or so, which takes it
//! up to half of its time with shuffled numbers, and then the stream is stored as it is. A glance looks at one place in 256, or, where
//! the search is careful, in 64, at two strings in each, and ends with the first string that was seen before, which elsewhere is among
//! the first.
//!
//! Strings are differences of bytes: those of a plane of numbers that go up evenly are random at a glance, and yet come again. Where
//! `k` strings are looked at, `k² / 2 n` pairs of them are alike if `n` strings are as frequent; where there was none, a search would
//! hardly find a match at one place in fifteen. All strings at the beginning are among them: of noise that comes again, however
//! far on, one in so many is looked at.
//!
//! Other streams are not noise where they have no matches at a glance. Items that are not shuffled are alike side by side, and rows of bits,
//! though random, may be those of another bit.

use std::iter;
use std::mem::replace;

use crate::codec::noise::word;

/// Shorter streams are left to the search.
const SHORTEST: usize = 16 << 10;

/// One place in so many bytes is looked at for each byte that the search goes on by at first.
const SPACING: usize = 64;

/// But no fewer places than one in so many bytes, if that is not more than [`MOST_PLACES`].
const MOST_SPACING: usize = 256;

/// No fewer places are looked at, or nearly so.
const LEAST_PLACES: usize = 256;

/// Nor many more of them: a search hurries the more, the longer it finds nothing.
const MOST_PLACES: usize = 2048;

/// So many places are looked at first: nearly all streams that have matches show it there, and the table for so few is
/// cleared in no time.
const FIRST_PLACES: usize = 32;

/// Bytes that are read at a place.
const WORD: usize = size_of::<u64>();

/// Whole strings of those bytes.
const STRINGS: usize = WORD / 2;

/// Where the last of them begins.
const LAST: usize = STRINGS - 1;

/// Knuth's multiplier for hashes of 32 bits.
const MULTIPLIER: u32 = 2_654_435_761;

/// Whether a search with this acceleration for matches in the plane `src` is in vain.
pub(super) fn finds_no_match(src: &[u8], acceleration: u16) -> bool {
    if src.len() < SHORTEST {
        return false;
    }
    let spacing = MOST_SPACING.min(SPACING * usize::from(acceleration));
    let spacing = spacing
        .clamp(src.len() / MOST_PLACES, src.len() / LEAST_PLACES)
        .ilog2();
    let first = (src.len() / FIRST_PLACES).ilog2();
    // No two strings that follow on each other are farther apart than the beginning is long.
    are_new::<256>(src, 0, first) && are_new::<2048>(src, 2 << spacing, spacing)
}

/// Whether no string comes twice, of all in the `beginning` and of two in each 2^`spacing` bytes behind it, in the mean.
fn are_new<const ENTRIES: usize>(src: &[u8], beginning: usize, spacing: u32) -> bool {
    // The last string with each hash. The empty places are those of a string of zeros: of a run, which is no noise either.
    let mut known = [0; ENTRIES];
    let mut is_new = |string: u32| {
        let index = string.wrapping_mul(MULTIPLIER) >> (u32::BITS - ENTRIES.ilog2());
        replace(&mut known[index as usize], string) != string
    };
    let mut start = src[..beginning + STRINGS].windows(WORD).step_by(STRINGS);
    let all_of_start = start.all(|bytes| {
        let strings = differences(word(bytes));
        (0..STRINGS).all(|k| is_new((strings >> (8 * k)) as u32))
    });
    let mut rest = src[beginning..].windows(WORD);
    let mut random = 0u32;
    let next = || {
        // The generator of Numerical Recipes. Gaps have all lengths, so that distances of strings do, but leave out those looked at.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        rest.nth((random >> (u32::BITS - 1 - spacing)) as usize + LAST)
    };
    all_of_start
        && iter::from_fn(next).all(|bytes| {
            let strings = differences(word(bytes));
            is_new(strings as u32) && is_new((strings >> (8 * LAST)) as u32)
        })
}

/// The differences of the eight bytes from their neighbours, of which seven have one.
fn differences(bytes: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let next = bytes >> 8;
    // Without a borrow from one byte to the next.
    ((bytes | HIGH) - (next & !HIGH)) ^ (bytes ^ !next) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::noise::tests::{noise, runs, text};

    fn is_noise(src: &[u8]) -> bool {
        let at_once = finds_no_match(src, 9);
        assert_eq!(finds_no_match(src, 1), at_once);
        at_once
    }

    #[test]
    fn noise_is_seen() {
        for (seed, len) in [(1, SHORTEST), (2, 20_001), (3, 65_536), (4, 1 << 20)] {
            assert!(is_noise(&noise(seed, 256, len)), "{len}");
            assert!(is_noise(&noise(seed, 150, len)), "of fewer values, {len}");
        }
    }

    #[test]
    fn what_has_matches_is_searched() {
        for len in [SHORTEST, 32_768, 65_536, 300_000] {
            assert!(!is_noise(&text(len)));
            assert!(!is_noise(&vec![0; len]));
            assert!(!is_noise(&runs(200, 9, len)));
            let counter: Vec<u8> = (0..len).map(|i| i as u8).collect();
            assert!(!is_noise(&counter));
            let even: Vec<u8> = (0..len).map(|i| (i as f64 * 37.377) as u64 as u8).collect();
            assert!(!is_noise(&even));
            let slow: Vec<u8> = (0..len).map(|i| (i / 5) as u8).collect();
            assert!(!is_noise(&slow));
        }
    }

    #[test]
    fn noise_that_comes_again_is_searched() {
        for period in [12, 100, 1000, 4000, 10_000, 20_000] {
            for len in [65_536, 1 << 20] {
                let mut src = noise(period as u64, 256, period).repeat(len / period + 1);
                src.truncate(len);
                assert!(!is_noise(&src), "every {period} bytes of {len}");
            }
        }
    }

    #[test]
    fn a_quarter_that_has_matches_is_enough() {
        for start in (0..=49_152).step_by(7000) {
            let mut src = noise(9, 256, 65_536);
            src[start..start + 16_384].fill(7);
            assert!(!is_noise(&src), "from {start} on");
        }
    }

    #[test]
    fn bytes_are_subtracted_apart() {
        let bytes = [0, 1, 0, 200, 100, 0x80, 0x7f, 0];
        let differences = differences(u64::from_le_bytes(bytes)).to_le_bytes();
        assert_eq!(differences[..7], [255, 1, 56, 100, 228, 1, 127]);
    }

    #[test]
    fn short_streams_are_searched() {
        assert!(!is_noise(&noise(1, 256, SHORTEST - 1)));
        assert!(!is_noise(&[]));
    }
}
