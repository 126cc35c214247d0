//! Matches of steady length: where they are expected, and that expecting them changes no byte.

use super::*;
use crate::codec::noise::tests::{noise, text};

/// Items whose upper bytes are those of the item before, as in measured times.
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
    // Matches that end with the stream or just before.
    streams.extend((0..24).map(|less| steady[..4000 - less].to_vec()));
    streams.extend([steady, unsteady]);
    streams
}

fn written<const LEAST: usize, const STEADY: bool, S: Slot>(level: usize, src: &[u8]) -> Vec<u8> {
    let mut dest = vec![0; 2 * src.len()];
    let mut table = Table::<S>::default();
    let len = write::<LEAST, STEADY, S>(&mut table, &EFFORTS[level - 1], src, &mut dest);
    dest[..len.expect("room for a table")].to_vec()
}

#[test]
fn expecting_steady_matches_changes_no_byte() {
    for src in streams() {
        for level in [1, 5, 9] {
            let short = written::<SHORT, false, u16>(level, &src);
            assert!(!short.is_empty());
            assert_eq!(short, written::<SHORT, true, u16>(level, &src));
            assert_eq!(short, written::<SHORT, true, u32>(level, &src));
            let long = written::<LONG_ONLY, false, u16>(level, &src);
            assert_eq!(long, written::<LONG_ONLY, true, u16>(level, &src));
        }
    }
}

#[test]
fn a_probe_finds_out_whether_matches_are_steady() {
    let is_steady = |src: &[u8]| {
        let promise = Encoder::default().probe::<SHORT>(src, BLOSC1_PROBE_BITS, 4);
        promise.expect("room for a table").is_steady
    };
    assert!(is_steady(&times(4096, 1000)));
    assert!(!is_steady(&text(32 << 10)));
    assert!(!is_steady(&noise(6, 256, 32 << 10)));
}
