//! Streams of long runs of one byte, such as masks, labels and the high bytes of slowly changing
//! measurements.
//!
//! They are the worst case of a match search: each position in a run has as many candidates as the
//! effort allows, and all are compared to the end of the run. A match longer than the run itself
//! needs the same runs in the same order earlier in the stream. If the order is new, deflate with
//! matches of distance 1 only (`Z_RLE`) is many times as fast, hundreds of times at the highest
//! level, and mostly compresses better.

use std::mem::replace;

use crate::codec::incompressible::MULTIPLIER;

/// The minimum length of a tested stream; shorter ones are searched quickly.
const MIN_LEN: usize = 4096;

/// The minimum mean length of runs; among shorter ones a search finds other matches.
const MIN_MEAN: usize = 8;

/// At most one run in this many may repeat an earlier one after the same byte. Random runs up to
/// this limit make streams at most 1.02 times as long as a search at level 9. Runs that repeat in
/// order, or in records, nearly all exceed it.
const REPEATED_DIVISOR: usize = 16;

/// The size of the table, in bits of the index.
const INDEX_BITS: u32 = 12;

/// The runs of a stream, each with the byte before it, as tags in a hash table.
pub(super) struct SeenRuns([u32; 1 << INDEX_BITS]);

impl Default for SeenRuns {
    fn default() -> SeenRuns {
        SeenRuns([0; _])
    }
}

impl SeenRuns {
    /// Inserts a run of `byte` that follows `before`. Returns whether it was present.
    fn insert(&mut self, before: u8, byte: u8, len: usize) -> bool {
        let run = (len as u64) << 16 | u64::from(before) << 8 | u64::from(byte);
        let hash = run.wrapping_mul(MULTIPLIER);
        // Tags differ from empty entries.
        let tag = hash as u32 | 1;
        replace(&mut self.0[(hash >> (u64::BITS - INDEX_BITS)) as usize], tag) == tag
    }
}

/// Whether `src` consists of long runs in a new order.
pub(super) fn detect_rle(src: &[u8], seen: &mut Option<Box<SeenRuns>>) -> bool {
    if src.len() < MIN_LEN {
        return false;
    }
    // Rejects nearly all other streams by their beginning.
    let beginning = &src[..MIN_LEN / 16];
    let changes = beginning.windows(2).filter(|pair| pair[0] != pair[1]);
    if changes.count() * MIN_MEAN > beginning.len() {
        return false;
    }
    let seen = seen.get_or_insert_default();
    seen.0.fill(0);
    let (mut runs, mut repeated) = (0, 0);
    let (mut at, mut before) = (0, src[0]);
    while let byte = src[at]
        && let len = run_len(&src[at..])
        && at + len < src.len()
    {
        runs += 1;
        repeated += usize::from(seen.insert(before, byte, len));
        (at, before) = (at + len, byte);
        if runs * MIN_MEAN > at.max(MIN_LEN) {
            return false;
        }
    }
    repeated * REPEATED_DIVISOR <= runs
}

/// Returns the length of the run at the start of `src`, which must not be empty.
fn run_len(src: &[u8]) -> usize {
    const STEP: usize = 32;
    let byte = src[0];
    let same = src.chunks_exact(STEP).take_while(|step| **step == [byte; STEP]);
    let len = STEP * same.count();
    let more = src[len..].iter().take_while(|&&other| other == byte);
    len + more.count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::incompressible::tests::{noise, runs, text};

    fn prefers_rle(src: &[u8]) -> bool {
        detect_rle(src, &mut None)
    }

    #[test]
    fn run_lengths_are_counted() {
        for len in 1..200 {
            assert_eq!(run_len(&vec![7; len]), len);
            assert_eq!(run_len(&[vec![7; len], vec![8; 70]].concat()), len);
        }
    }

    #[test]
    fn long_runs_in_random_order_are_detected() {
        for (values, most) in [(200, 30), (30, 400), (200, 1000), (4, 3000)] {
            assert!(prefers_rle(&runs(values, most, 100_000)), "{values} values, up to {most}");
        }
        assert!(prefers_rle(&[0; MIN_LEN]));
    }

    #[test]
    fn repeated_runs_are_left_to_the_search() {
        let some = runs(30, 300, 10_000);
        assert!(prefers_rle(&some));
        assert!(!prefers_rle(&some.repeat(2)));
        // With two values, all runs of one length are equal.
        assert!(!prefers_rle(&runs(2, 60, 100_000)));
        // Changing bytes, each before the same zeros.
        for len in [32, 300] {
            let mut records = [0; 100_000];
            for (record, i) in records.chunks_exact_mut(len).zip(0_u16..) {
                record[..2].copy_from_slice(&i.to_le_bytes());
            }
            assert!(!prefers_rle(&records));
        }
    }

    #[test]
    fn other_streams_are_left_to_the_search() {
        assert!(!prefers_rle(&[0; MIN_LEN - 1]));
        assert!(!prefers_rle(&[]));
        assert!(!prefers_rle(&text(100_000)));
        assert!(!prefers_rle(&noise(3, 256, 100_000)));
        assert!(!prefers_rle(&runs(30, 12, 100_000)));
        // Streams that begin or end with a run.
        assert!(!prefers_rle(&[vec![0; 5000], text(50_000)].concat()));
        assert!(!prefers_rle(&[vec![0; 50_000], noise(4, 256, 50_000)].concat()));
    }
}
