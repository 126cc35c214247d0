//! Detects incompressible planes of shuffled items from a sample, before the match search.
//!
//! The lowest bytes of measurements are random. LZ4 accelerates through them, but still searches
//! about one position in 20, which costs up to half of its time on shuffled numbers, and the stream
//! is then stored raw. The sample has one position in 256, or in 64 at low accelerations, with two
//! strings at each. It ends with the first repeated string, which compressible data contains early.
//!
//! The strings are differences of neighbouring bytes: the bytes of a plane of evenly growing
//! numbers look random in a sample, but their differences repeat. A sample of `k` strings drawn
//! from `n` equally frequent ones has `k² / 2n` equal pairs; if there is none, a search would find
//! a match at less than one position in 15. All strings of the beginning are included, so that
//! noise that repeats at any distance is detected by the sampled strings of the repetition.
//!
//! Only byte-shuffled streams are tested. Neighbouring items of unshuffled streams are alike, and a
//! row of bits, even if random, may equal the row of another bit; a sample detects neither.

use std::iter;
use std::mem::replace;

use crate::codec::incompressible::word;

/// The minimum length of a tested stream, in bytes.
const MIN_LEN: usize = 16 << 10;

/// The mean distance of sampled positions per unit of acceleration, in bytes.
const SPACING: usize = 64;

/// The maximum mean distance, unless it would result in more than [`MAX_POSITIONS`] positions.
const MAX_SPACING: usize = 256;

/// The approximate minimum number of sampled positions.
const MIN_POSITIONS: usize = 256;

/// The approximate maximum number of sampled positions: a search accelerates too while it finds no
/// match.
const MAX_POSITIONS: usize = 2048;

/// The number of positions sampled first. Nearly all compressible streams are detected there, with
/// a table that is quick to clear.
const FIRST_POSITIONS: usize = 32;

/// The number of bytes read at a position.
const WORD: usize = size_of::<u64>();

/// The number of whole 4-byte strings of differences among those bytes.
const STRINGS: usize = WORD / 2;

/// The offset of the last string.
const LAST: usize = STRINGS - 1;

/// Knuth's multiplier for 32-bit hashes.
const MULTIPLIER: u32 = 2_654_435_761;

/// Whether a search for matches in the plane `src` with this acceleration is futile.
pub(super) fn is_futile(src: &[u8], acceleration: u16) -> bool {
    if src.len() < MIN_LEN {
        return false;
    }
    let spacing = MAX_SPACING.min(SPACING * usize::from(acceleration));
    let spacing = spacing.clamp(src.len() / MAX_POSITIONS, src.len() / MIN_POSITIONS).ilog2();
    let first = (src.len() / FIRST_POSITIONS).ilog2();
    // The beginning is as long as the largest gap between two sampled positions.
    has_no_repeats::<256>(src, 0, first) && has_no_repeats::<2048>(src, 2 << spacing, spacing)
}

/// Whether no string repeats among all strings of the first `beginning` bytes and two strings per
/// 2^`spacing` bytes, on average, of the rest.
fn has_no_repeats<const ENTRIES: usize>(src: &[u8], beginning: usize, spacing: u32) -> bool {
    // The last string for each hash. Empty entries equal a string of zeros, which is part of a run
    // and so compressible.
    let mut last_seen = [0; ENTRIES];
    let mut insert = |string: u32| {
        let index = string.wrapping_mul(MULTIPLIER) >> (u32::BITS - ENTRIES.ilog2());
        replace(&mut last_seen[index as usize], string) != string
    };
    let mut start = src[..beginning + STRINGS].windows(WORD).step_by(STRINGS);
    let start_is_new = start.all(|bytes| {
        let strings = differences(word(bytes));
        (0..STRINGS).all(|k| insert((strings >> (8 * k)) as u32))
    });
    let mut rest = src[beginning..].windows(WORD);
    let mut random = 0u32;
    let next = || {
        // The generator of Numerical Recipes. Random gaps sample all distances between strings;
        // each skips the bytes already sampled.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        rest.nth((random >> (u32::BITS - 1 - spacing)) as usize + LAST)
    };
    start_is_new
        && iter::from_fn(next).all(|bytes| {
            let strings = differences(word(bytes));
            insert(strings as u32) && insert((strings >> (8 * LAST)) as u32)
        })
}

/// Returns the differences of the eight bytes from their neighbours; the top byte has none.
fn differences(bytes: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let next = bytes >> 8;
    // Subtracts without borrows between bytes.
    ((bytes | HIGH) - (next & !HIGH)) ^ (bytes ^ !next) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::incompressible::tests::{noise, runs, text};

    fn is_noise(src: &[u8]) -> bool {
        let result = is_futile(src, 9);
        assert_eq!(is_futile(src, 1), result);
        result
    }

    #[test]
    fn noise_is_detected() {
        for (seed, len) in [(1, MIN_LEN), (2, 20_001), (3, 65_536), (4, 1 << 20)] {
            assert!(is_noise(&noise(seed, 256, len)), "{len}");
            assert!(is_noise(&noise(seed, 150, len)), "of fewer values, {len}");
        }
    }

    #[test]
    fn compressible_planes_are_searched() {
        for len in [MIN_LEN, 32_768, 65_536, 300_000] {
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
    fn repeated_noise_is_searched() {
        for period in [12, 100, 1000, 4000, 10_000, 20_000] {
            for len in [65_536, 1 << 20] {
                let mut src = noise(period as u64, 256, period).repeat(len / period + 1);
                src.truncate(len);
                assert!(!is_noise(&src), "every {period} bytes of {len}");
            }
        }
    }

    #[test]
    fn planes_with_a_compressible_quarter_are_searched() {
        for start in (0..=49_152).step_by(7000) {
            let mut src = noise(9, 256, 65_536);
            src[start..start + 16_384].fill(7);
            assert!(!is_noise(&src), "from {start}");
        }
    }

    #[test]
    fn bytes_are_subtracted_without_borrows() {
        let bytes = [0, 1, 0, 200, 100, 0x80, 0x7f, 0];
        let differences = differences(u64::from_le_bytes(bytes)).to_le_bytes();
        assert_eq!(differences[..7], [255, 1, 56, 100, 228, 1, 127]);
    }

    #[test]
    fn short_streams_are_searched() {
        assert!(!is_noise(&noise(1, 256, MIN_LEN - 1)));
        assert!(!is_noise(&[]));
    }
}
