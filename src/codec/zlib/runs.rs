//! Streams of long runs of one byte, such as masks, labels and the high bytes of slow measurements.
//!
//! To a search for matches they are the worst there is: each place in a run has as many candidates as the effort allows, all
//! of which are compared up to its end. Where it finds more than the run itself, that is the same runs in the same order
//! before, or else not worth its distance. So where the order is new, deflate with matches of distance 1 alone
//! (`Z_RLE`) is many times as fast, at the highest level hundreds, and mostly writes less.

use std::mem::replace;

use crate::codec::noise::MULTIPLIER;

/// Shorter streams are left to the search: it doesn't take long.
const LEAST: usize = 4096;

/// Runs have as many bytes in the mean; in shorter ones a search finds other matches.
const MEAN: usize = 8;

/// One run in so many may have come before behind the same byte. Random runs that do make streams up to 1.02 times as long as with a
/// search at level 9 then; runs that come again in order, or in records, nearly all do.
const ONE_IN: usize = 16;

/// Bits of the index of the table.
const INDEX_BITS: u32 = 12;

/// The runs that were seen in a stream, each with the byte before, by some bits of their hash at the index that others are.
pub(super) struct Seen([u32; 1 << INDEX_BITS]);

impl Default for Seen {
    fn default() -> Seen {
        Seen([0; _])
    }
}

impl Seen {
    /// Whether such a run of `byte` was seen behind `before`; it is now.
    fn again(&mut self, before: u8, byte: u8, len: usize) -> bool {
        let run = (len as u64) << 16 | u64::from(before) << 8 | u64::from(byte);
        let hash = run.wrapping_mul(MULTIPLIER);
        // No run leaves the mark of an empty place.
        let tag = hash as u32 | 1;
        replace(
            &mut self.0[(hash >> (u64::BITS - INDEX_BITS)) as usize],
            tag,
        ) == tag
    }
}

/// Whether `src` is of long runs in an order that is new.
pub(super) fn are_all(src: &[u8], seen: &mut Option<Box<Seen>>) -> bool {
    if src.len() < LEAST {
        return false;
    }
    // Nearly all other streams show it in their beginning.
    let beginning = &src[..LEAST / 16];
    let changes = beginning.windows(2).filter(|pair| pair[0] != pair[1]);
    if changes.count() * MEAN > beginning.len() {
        return false;
    }
    let seen = seen.get_or_insert_default();
    seen.0.fill(0);
    let (mut runs, mut again) = (0, 0);
    let (mut at, mut before) = (0, src[0]);
    while let byte = src[at]
        && let len = run_len(&src[at..])
        && at + len < src.len()
    {
        runs += 1;
        again += usize::from(seen.again(before, byte, len));
        (at, before) = (at + len, byte);
        if runs * MEAN > at.max(LEAST) {
            return false;
        }
    }
    again * ONE_IN <= runs
}

/// How many bytes from the first one on are the same as it; there is one.
fn run_len(src: &[u8]) -> usize {
    const STEP: usize = 32;
    let byte = src[0];
    let same = src
        .chunks_exact(STEP)
        .take_while(|step| **step == [byte; STEP]);
    let len = STEP * same.count();
    let more = src[len..].iter().take_while(|&&other| other == byte);
    len + more.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::noise::tests::{noise, runs, text};

    fn are_new(src: &[u8]) -> bool {
        are_all(src, &mut None)
    }

    #[test]
    fn runs_are_measured() {
        for len in 1..200 {
            assert_eq!(run_len(&vec![7; len]), len);
            assert_eq!(run_len(&[vec![7; len], vec![8; 70]].concat()), len);
        }
    }

    #[test]
    fn long_runs_without_an_order_are_found() {
        for (values, most) in [(200, 30), (30, 400), (200, 1000), (4, 3000)] {
            assert!(
                are_new(&runs(values, most, 100_000)),
                "{values} values, up to {most}"
            );
        }
        assert!(are_new(&[0; LEAST]));
    }

    #[test]
    fn runs_that_come_again_are_left_to_the_search() {
        let some = runs(30, 300, 10_000);
        assert!(are_new(&some));
        assert!(!are_new(&some.repeat(2)));
        // Of two values, all of a length are alike.
        assert!(!are_new(&runs(2, 60, 100_000)));
        // Bytes that change, each before the same zeros.
        for len in [32, 300] {
            let mut records = [0; 100_000];
            for (record, i) in records.chunks_exact_mut(len).zip(0_u16..) {
                record[..2].copy_from_slice(&i.to_le_bytes());
            }
            assert!(!are_new(&records));
        }
    }

    #[test]
    fn other_bytes_are_left_to_the_search() {
        assert!(!are_new(&[0; LEAST - 1]));
        assert!(!are_new(&[]));
        assert!(!are_new(&text(100_000)));
        assert!(!are_new(&noise(3, 256, 100_000)));
        assert!(!are_new(&runs(30, 12, 100_000)));
        // That begin or end with a run.
        assert!(!are_new(&[vec![0; 5000], text(50_000)].concat()));
        assert!(!are_new(&[vec![0; 50_000], noise(4, 256, 50_000)].concat()));
    }
}
