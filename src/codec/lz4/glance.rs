//! A glance at a plane of shuffled items before it is searched: noise has no matches.
//!
//! The lowest bytes of measurements are random. LZ4 hurries through them, but still looks at one place in twenty or so, which takes it
//! up to half of its time with shuffled numbers, and then the stream is stored as it is. A glance looks at one place in 128, or, where
//! the search is careful, in 32, and ends with the first string that was seen before, which elsewhere is among the first.
//!
//! Strings are differences of bytes: those of a plane of numbers that go up evenly are random at a glance, and yet come again. Where
//! `k` places are looked at, `k² / 2 n` pairs of them are alike if `n` strings are as frequent; where there was none, a search would
//! hardly find a match at one place in fifteen. All strings at the beginning are among them: of noise that comes again, however
//! far on, one in so many is looked at.
//!
//! Other streams are not noise where they have no matches at a glance. Items that are not shuffled are alike side by side, and rows of bits,
//! though random, may be those of another bit.

use std::mem::replace;

use crate::codec::noise::word;

/// Shorter streams are left to the search.
const SHORTEST: usize = 16 << 10;

/// One place in so many bytes is looked at for each byte that the search goes on by at first.
const SPACING: usize = 32;

/// But no fewer places than one in so many bytes.
const MOST_SPACING: usize = 128;

/// No fewer places are looked at.
const LEAST_PLACES: usize = 512;

/// So many places are looked at first: nearly all streams that have matches show it there, and the table for so few is
/// cleared in no time.
const FIRST_PLACES: usize = 64;

/// Strings at the beginning: places are not farther from each other than this.
const BEGINNING: usize = 2 * MOST_SPACING;

/// Bytes that are read for a string.
const WORD: usize = size_of::<u64>();

const _: () = assert!(SHORTEST / LEAST_PLACES > WORD && SHORTEST / FIRST_PLACES > WORD);

/// Knuth's multiplier for hashes of 32 bits.
const MULTIPLIER: u32 = 2_654_435_761;

/// Whether a search with this acceleration for matches in the plane `src` is in vain.
pub(super) fn finds_no_match(src: &[u8], acceleration: u16) -> bool {
    if src.len() < SHORTEST {
        return false;
    }
    let spacing = MOST_SPACING.min(SPACING * usize::from(acceleration));
    let spacing = spacing.min(src.len() / LEAST_PLACES);
    let first = places(0, src.len(), src.len() / FIRST_PLACES);
    let all = (0..BEGINNING).chain(places(BEGINNING, src.len(), spacing));
    are_new::<256>(src, first) && are_new::<2048>(src, all)
}

/// A place in each `spacing` bytes from `start` on, so that they have all distances.
fn places(start: usize, end: usize, spacing: usize) -> impl Iterator<Item = usize> {
    let mut random = 0u32;
    (start..end + 1 - spacing)
        .step_by(spacing)
        .map(move |part| {
            // The generator of Numerical Recipes.
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let room = (spacing - WORD) as u64;
            part + ((u64::from(random) * room) >> u32::BITS) as usize
        })
}

/// Whether no string comes twice of those at these places.
fn are_new<const ENTRIES: usize>(src: &[u8], mut places: impl Iterator<Item = usize>) -> bool {
    // The last string with each hash. The empty places are those of a string of zeros: of a run, which is no noise either.
    let mut known = [0; ENTRIES];
    places.all(|at| {
        let bytes = word(&src[at..at + WORD]);
        let string = differences(bytes as u32, (bytes >> 8) as u32);
        let index = string.wrapping_mul(MULTIPLIER) >> (u32::BITS - ENTRIES.ilog2());
        replace(&mut known[index as usize], string) != string
    })
}

/// The differences of four bytes each.
fn differences(a: u32, b: u32) -> u32 {
    const HIGH: u32 = 0x8080_8080;
    // Without a borrow from one byte to the next.
    ((a | HIGH) - (b & !HIGH)) ^ (a ^ !b) & HIGH
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
            let len = 65_536;
            let mut src = noise(period as u64, 256, period).repeat(len / period + 1);
            src.truncate(len);
            assert!(!is_noise(&src), "every {period} bytes");
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
        let [a, b] = [[0, 1, 200, 0x80], [1, 0, 100, 0x7f]];
        let difference = differences(u32::from_le_bytes(a), u32::from_le_bytes(b));
        assert_eq!(difference.to_le_bytes(), [255, 1, 100, 1]);
        let difference = differences(u32::from_le_bytes(b), u32::from_le_bytes(a));
        assert_eq!(difference.to_le_bytes(), [1, 255, 156, 255]);
    }

    #[test]
    fn short_streams_are_searched() {
        assert!(!is_noise(&noise(1, 256, SHORTEST - 1)));
        assert!(!is_noise(&[]));
    }
}
