//! A glance at a stream before it is searched: noise has no matches.
//!
//! The lowest bytes of measurements are random. LZ4 hurries through them, but still looks at one place in twenty or so, which takes it
//! up to half of its time with shuffled numbers, and then the stream is stored as it is. A glance looks at one place in 128, or, where
//! the search is careful, in 32, and ends with the first string that was seen before, which elsewhere is among the first.
//!
//! Of shuffled items, strings are differences of bytes: those of a plane of numbers that go up evenly are random at a
//! glance, and yet come again. Where `k` places are looked at, `k² / 2 n` pairs of them are alike if `n` strings are as frequent, or if the
//! stream comes again after `n` bytes. Where there was none, a search would hardly find a match at one place in fifteen.

use std::mem::replace;

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

/// Knuth's multiplier for hashes of 32 bits.
const MULTIPLIER: u32 = 2_654_435_761;

/// Whether a search with this acceleration for matches in `src`, of shuffled items or others, is in vain.
pub(super) fn finds_no_match(src: &[u8], shuffled: bool, acceleration: u16) -> bool {
    if src.len() < SHORTEST {
        return false;
    }
    let spacing = MOST_SPACING.min(SPACING * usize::from(acceleration));
    let spacing = spacing.min(src.len() / LEAST_PLACES);
    let first_spacing = src.len() / FIRST_PLACES;
    if shuffled {
        let string = |bytes| differences(bytes as u32, (bytes >> 8) as u32);
        are_new::<256>(src, first_spacing, string) && are_new::<2048>(src, spacing, string)
    } else {
        let string = |bytes| bytes as u32;
        are_new::<256>(src, first_spacing, string) && are_new::<2048>(src, spacing, string)
    }
}

/// Whether no string comes twice, of those at one place in so many bytes.
fn are_new<const ENTRIES: usize>(src: &[u8], spacing: usize, string: impl Fn(u64) -> u32) -> bool {
    const WORD: usize = size_of::<u64>();
    // The last string with each hash. The empty places are those of a string of zeros, which is no noise either.
    let mut known = [0; ENTRIES];
    let mut random = 0u32;
    src.chunks_exact(spacing).all(|part| {
        // At any place of the part, so that the places have all distances (the generator of Numerical Recipes).
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let at = (u64::from(random) * (spacing - WORD) as u64) >> u32::BITS;
        let bytes = part[at as usize..][..WORD]
            .try_into()
            .expect("as many bytes");
        let string = string(u64::from_le_bytes(bytes));
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
        let shuffled = finds_no_match(src, true, 5);
        assert_eq!(finds_no_match(src, false, 5), shuffled);
        shuffled
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
            assert!(!finds_no_match(&even, true, 9));
            let slow: Vec<u8> = (0..len).map(|i| (i / 5) as u8).collect();
            assert!(!is_noise(&slow));
        }
    }

    #[test]
    fn noise_that_comes_again_is_searched() {
        for period in [12, 100, 1000, 4000, 10_000] {
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
