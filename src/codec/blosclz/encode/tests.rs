//! All variants of the encoder write the same bytes; steady match lengths are detected.

use super::*;
use crate::codec::incompressible::tests::{noise, text};

/// Items with the upper bytes of the previous item, like measured times.
fn times(count: usize, step: u64) -> Vec<u8> {
    let items = noise(3, 200, count).into_iter().scan(0, |time, jitter| {
        *time += step + u64::from(jitter);
        Some(*time)
    });
    items.flat_map(u64::to_le_bytes).collect()
}

fn streams() -> Vec<Vec<u8>> {
    let (steady, unsteady) = (times(2500, 1000), text(20_000));
    let mut streams = vec![
        [&steady[..], &unsteady, &steady].concat(),
        [&unsteady[..], &steady].concat(),
        vec![7; 30_000],
        noise(5, 3, 30_000),
        noise(6, 256, 30_000),
    ];
    // Matches that end at the end of the stream or just before it.
    streams.extend((0..24).map(|less| steady[..4000 - less].to_vec()));
    streams.extend([steady, unsteady]);
    streams
}

fn written<const BACKOFF: usize, const STEADY: bool, S: Slot, const BASED: bool>(
    index: Result<Index<'_, S, BASED>>,
    level: usize,
    src: &[u8],
) -> Vec<u8> {
    let mut dest = vec![0; 2 * src.len()];
    let index = index.expect("memory for a table");
    let len = write::<BACKOFF, STEADY, S, BASED>(index, &LEVELS[level - 1], src, &mut dest);
    dest[..len].to_vec()
}

#[test]
fn all_tables_and_length_predictions_write_the_same_stream() {
    let (mut near, mut wide) = (Table::<u16>::default(), Table::<u32>::default());
    for src in streams() {
        for level in [1, 5, 9] {
            let (len, bits) = (src.len(), LEVELS[level - 1].hash_bits);
            // From here on, the tables contain entries of earlier streams.
            let short = written::<SHORT, false, _, _>(near.with_base(len, bits), level, &src);
            assert!(!short.is_empty());
            let cleared = written::<SHORT, false, _, _>(near.cleared(len, bits), level, &src);
            assert_eq!(short, cleared);
            let again = written::<SHORT, false, _, _>(near.with_base(len, bits), level, &src);
            assert_eq!(short, again);
            let steady = written::<SHORT, true, _, _>(near.cleared(len, bits), level, &src);
            assert_eq!(short, steady);
            let steady = written::<SHORT, true, _, _>(wide.cleared(len, bits), level, &src);
            assert_eq!(short, steady);
            let long = written::<LONG_ONLY, false, _, _>(near.with_base(len, bits), level, &src);
            let steady = written::<LONG_ONLY, true, _, _>(near.cleared(len, bits), level, &src);
            assert_eq!(long, steady);
        }
    }
}

#[test]
fn matches_reach_no_further_than_the_format_allows() {
    let len_at = |distance: usize| {
        let mut src = noise(7, 256, 100);
        // Few distinct words, so that earlier entries are not replaced.
        src.resize(4 + distance, 0);
        src.extend_from_within(4..100);
        src.extend([0; 16]);
        let mut table = Table::<u32>::default();
        written::<SHORT, false, _, _>(table.cleared(src.len(), 14), 5, &src).len()
    };
    assert!(len_at(73_725) > len_at(73_724) + 80);
    assert!(len_at(73_724) < len_at(73_723) + 4);
}

#[test]
fn a_probe_detects_steady_match_lengths() {
    let is_steady = |src: &[u8]| {
        let estimate = Encoder::default().probe::<SHORT>(src, BLOSC1_PROBE_BITS, 4);
        estimate.expect("memory for a table").is_steady
    };
    assert!(is_steady(&times(4096, 1000)));
    assert!(!is_steady(&text(32 << 10)));
    assert!(!is_steady(&noise(6, 256, 32 << 10)));
}
