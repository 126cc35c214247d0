//! Tests of the scanner, and test streams with incompressible regions.

use super::{Scanner, Search};
use std::iter::repeat_n;

/// Returns pseudo-random bytes below `values`.
pub(in crate::codec) fn noise(seed: u64, values: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            ((state >> 33) % values) as u8
        })
        .collect()
}

pub(in crate::codec) fn text(len: usize) -> Vec<u8> {
    let words = ["noise ", "is what ", "no match ", "says anything ", "about.\n"];
    let order = noise(77, 5, len);
    order.iter().flat_map(|&word| words[usize::from(word)].bytes()).take(len).collect()
}

/// Returns runs of up to `most` bytes of random values below `values`, in random order.
pub(in crate::codec) fn runs(values: u64, most: u64, len: usize) -> Vec<u8> {
    let lengths = noise(1, 256, 2 * len);
    let lengths = lengths
        .chunks_exact(2)
        .map(|two| (256 * usize::from(two[0]) + usize::from(two[1])) % most as usize + 1);
    noise(2, values, len)
        .iter()
        .zip(lengths)
        .flat_map(|(&byte, len)| repeat_n(byte, len))
        .take(len)
        .collect()
}

/// Returns streams of all kinds, with noise that begins and ends at segment boundaries and beside
/// them.
pub(in crate::codec) fn streams() -> Vec<Vec<u8>> {
    let mut streams: Vec<Vec<u8>> = [0, 1, 2, 511, 512, 4095, 4096, 16_383, 16_384, 16_896, 70_001]
        .iter()
        .flat_map(|&len| {
            [noise(1, 256, len), noise(2, 20, len), text(len), vec![9; len], runs(30, 100, len)]
        })
        .collect();
    for (before, len, after) in [
        (0, 16_384, 4096),
        (4096, 16_384, 0),
        (4096, 16_384, 4096),
        (4095, 16_385, 511),
        (4097, 20_000, 40_000),
        (40_000, 40_000, 40_000),
        (1, 65_536, 1),
    ] {
        for values in [256, 40, 4] {
            let noise = noise(before as u64 + values, values, len);
            streams.push([text(before), noise.clone(), text(after)].concat());
            streams.push([vec![3; before], noise.clone(), noise.clone(), text(after)].concat());
            streams.push([runs(9, 999, before), noise, runs(99, 99, after)].concat());
        }
    }
    streams
}

/// Returns a sufficient capacity for any encoder.
pub(in crate::codec) fn bound(src: &[u8]) -> usize {
    src.len() + src.len() / 8 + 200
}

/// Returns the number of bytes of `src` that are incompressible for `search`.
pub(in crate::codec) fn incompressible_len(src: &[u8], search: Search) -> usize {
    let mut scanner = Scanner::default();
    scanner.scan(src, search).iter().map(|run| run.bytes.len()).sum()
}

#[test]
fn noise_is_found_between_compressible_bytes() {
    let src = [vec![7; 20_480], noise(5, 256, 40_960), text(20_480)].concat();
    for search in [Search::Min4, Search::Min3] {
        let mut scanner = Scanner::default();
        let found = scanner.scan(&src, search);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].bytes, 20_480..61_440);
    }
}

#[test]
fn a_fast_search_is_futile_for_uniform_bytes_only() {
    for (values, found) in [(30, false), (200, false), (256, true)] {
        let src = noise(16, values, 40_960);
        assert_eq!(incompressible_len(&src, Search::Fast) == src.len(), found, "{values}");
    }
}

#[test]
fn compressible_bytes_are_not_reported() {
    let counting: Vec<u8> = (0..30_000_u32).flat_map(u32::to_le_bytes).collect();
    let steps: Vec<u8> = noise(8, 5, 100_000)
        .iter()
        .scan(0_u8, |value, &step| {
            *value = value.wrapping_add(step);
            Some(*value)
        })
        .collect();
    let pairs: Vec<u8> = noise(9, 250, 50_000)
        .iter()
        .flat_map(|&byte| [byte, byte.wrapping_mul(7), 1, byte])
        .collect();
    for src in [text(100_000), counting, steps, pairs] {
        assert_eq!(incompressible_len(&src, Search::Min4), 0);
    }
}

const FAR: [Search; 3] = [Search::FarFast, Search::FarMin4, Search::FarMin3];

#[test]
fn low_entropy_noise_is_found_for_far_searches() {
    for values in [3, 4, 12] {
        let src = noise(20, values, 100_000);
        for search in FAR {
            let found = incompressible_len(&src, search);
            assert!(found > 70_000, "{values} values, {search:?}: {found}");
        }
        assert_eq!(incompressible_len(&src, Search::Min4), 0, "{values} values");
    }
}

#[test]
fn a_run_of_one_byte_in_noise_is_not_a_repeat() {
    let src = [noise(30, 4, 50_000), vec![0; 60], noise(31, 4, 50_000)].concat();
    for search in FAR {
        assert!(incompressible_len(&src, search) > 80_000, "{search:?}");
    }
}

#[test]
fn uniform_bytes_are_left_to_searches_that_accelerate() {
    let src = noise(21, 256, 65_536);
    assert_eq!(incompressible_len(&src, Search::FarFast), 0);
    assert_eq!(incompressible_len(&src, Search::FarMin4), 0);
    assert_eq!(incompressible_len(&src, Search::FarMin3), src.len());
}

#[test]
fn noise_that_repeats_at_any_distance_is_not_reported() {
    let once = noise(22, 20, 40_960);
    let far = noise(23, 12, 200_000);
    let repeat = &once[8_000..9_000];
    for after in [once.clone(), [text(5_000), repeat.to_vec(), text(5_000)].concat()] {
        for between in [vec![], text(100_000), far.clone()] {
            let src = [once.clone(), between, after.clone()].concat();
            assert_eq!(incompressible_len(&src, Search::FarMin4), 0, "{}", src.len());
            assert_eq!(incompressible_len(&src, Search::FarMin3), 0, "{}", src.len());
        }
    }
}

#[test]
fn equal_planes_are_found_without_a_parse() {
    let planes = |seeds: [u64; 6]| -> Vec<u8> {
        let noise = seeds.iter().flat_map(|&seed| noise(seed, 12, 32_768));
        noise.chain(repeat_n(64, 65_536)).collect()
    };
    for search in [Search::FarMin4, Search::FarMin3] {
        let mut scanner = Scanner::default();
        assert!(scanner.scan(&planes([40, 41, 41, 41, 41, 41]), search).is_empty());
        assert!(scanner.positions.is_none(), "{search:?}");
        let found = incompressible_len(&planes([40, 41, 42, 43, 44, 45]), search);
        assert!(found > 150_000, "{search:?}: {found}");
    }
}

#[test]
fn slightly_compressible_bytes_are_not_reported_for_far_searches() {
    // Each value is close to the previous one.
    let walk: Vec<u8> = noise(24, 3, 100_000)
        .iter()
        .scan(0, |value, &step| {
            *value = (*value + step) % 16;
            Some(*value)
        })
        .collect();
    let counters: Vec<u8> =
        (0..20_000_u64).flat_map(|item| (item * 3).to_le_bytes().into_iter().take(7)).collect();
    // A yearly cycle of hours; one in four has a random value.
    let hours = noise(27, 6, 8760);
    let (other, is_other) = (noise(28, 6, 150_000), noise(29, 4, 150_000));
    let cycle: Vec<u8> = (0..150_000)
        .map(|at| match is_other[at] {
            0 => other[at],
            _ => hours[at % hours.len()],
        })
        .collect();
    // Low-entropy records; only the first of their seven bytes changes.
    let item = noise(25, 3, 7);
    let records: Vec<u8> =
        noise(26, 3, 20_000).iter().flat_map(|&first| [&[first], &item[1..]].concat()).collect();
    assert!(incompressible_len(&cycle, Search::FarMin3) < cycle.len() / 4);
    for (name, src) in [("walk", walk), ("counters", counters), ("records", records)] {
        for search in FAR {
            assert_eq!(incompressible_len(&src, search), 0, "{name} {search:?}");
        }
    }
}
