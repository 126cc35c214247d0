//! What is found to be noise, and streams that have some.

use super::{Noise, Search};
use std::iter::repeat_n;

/// Bytes that are random among the first `values`, from this seed.
pub(in crate::codec) fn noise(seed: u64, values: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    (0..len)
        .map(|_| {
            state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            ((state >> 33) % values) as u8
        })
        .collect()
}

pub(in crate::codec) fn text(len: usize) -> Vec<u8> {
    let words = [
        "noise ",
        "is what ",
        "no match ",
        "says anything ",
        "about.\n",
    ];
    let order = noise(77, 5, len);
    order
        .iter()
        .flat_map(|&word| words[usize::from(word)].bytes())
        .take(len)
        .collect()
}

/// Runs of up to `most` bytes, of so many values, in no order.
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

/// Streams of every kind, with noise that begins and ends at borders of parts and beside them.
pub(in crate::codec) fn streams() -> Vec<Vec<u8>> {
    let mut streams: Vec<Vec<u8>> = [
        0, 1, 2, 511, 512, 4095, 4096, 16_383, 16_384, 16_896, 70_001,
    ]
    .iter()
    .flat_map(|&len| {
        [
            noise(1, 256, len),
            noise(2, 20, len),
            text(len),
            vec![9; len],
            runs(30, 100, len),
        ]
    })
    .collect();
    for (before, len, behind) in [
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
            streams.push([text(before), noise.clone(), text(behind)].concat());
            streams.push([vec![3; before], noise.clone(), noise.clone(), text(behind)].concat());
            streams.push([runs(9, 999, before), noise, runs(99, 99, behind)].concat());
        }
    }
    streams
}

/// Enough for any encoder's result.
pub(in crate::codec) fn bound(src: &[u8]) -> usize {
    src.len() + src.len() / 8 + 200
}

/// How many bytes of `src` are noise to such a search.
pub(in crate::codec) fn noise_in(src: &[u8], search: Search) -> usize {
    let mut finder = Noise::default();
    finder
        .find(src, search)
        .iter()
        .map(|run| run.bytes.len())
        .sum()
}

#[test]
fn noise_is_found_between_other_things() {
    let src = [vec![7; 20_480], noise(5, 256, 40_960), text(20_480)].concat();
    for search in [Search::Fours, Search::Threes] {
        let mut finder = Noise::default();
        let found = finder.find(&src, search);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].bytes, 20_480..61_440);
    }
}

#[test]
fn a_quick_search_is_left_out_for_flat_bytes_alone() {
    for (values, found) in [(30, false), (200, false), (256, true)] {
        let src = noise(16, values, 40_960);
        assert_eq!(
            noise_in(&src, Search::Quick) == src.len(),
            found,
            "{values}"
        );
    }
}

#[test]
fn what_a_search_shortens_is_no_noise() {
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
        assert_eq!(noise_in(&src, Search::Fours), 0);
    }
}

const FAR: [Search; 3] = [Search::FarQuick, Search::FarFours, Search::FarThrees];

#[test]
fn cheap_noise_is_found_where_matches_by_chance_cost_more() {
    for values in [3, 4, 12] {
        let src = noise(20, values, 100_000);
        for search in FAR {
            let found = noise_in(&src, search);
            assert!(found > 70_000, "{values} values, {search:?}: {found}");
        }
        assert_eq!(noise_in(&src, Search::Fours), 0, "{values} values");
    }
}

#[test]
fn a_run_of_one_byte_in_noise_does_not_come_again() {
    let src = [noise(30, 4, 50_000), vec![0; 60], noise(31, 4, 50_000)].concat();
    for search in FAR {
        assert!(noise_in(&src, search) > 80_000, "{search:?}");
    }
}

#[test]
fn flat_bytes_are_left_to_a_search_that_hurries_over_them() {
    let src = noise(21, 256, 65_536);
    assert_eq!(noise_in(&src, Search::FarQuick), 0);
    assert_eq!(noise_in(&src, Search::FarFours), 0);
    assert_eq!(noise_in(&src, Search::FarThrees), src.len());
}

#[test]
fn noise_that_comes_again_however_far_is_none() {
    let once = noise(22, 20, 40_960);
    let far = noise(23, 12, 200_000);
    let piece = &once[8_000..9_000];
    for behind in [
        once.clone(),
        [text(5_000), piece.to_vec(), text(5_000)].concat(),
    ] {
        for between in [vec![], text(100_000), far.clone()] {
            let src = [once.clone(), between, behind.clone()].concat();
            assert_eq!(noise_in(&src, Search::FarFours), 0, "{}", src.len());
            assert_eq!(noise_in(&src, Search::FarThrees), 0, "{}", src.len());
        }
    }
}

#[test]
fn what_a_search_shortens_however_little_is_no_noise_far_either() {
    // Each value is near the one before.
    let walk: Vec<u8> = noise(24, 3, 100_000)
        .iter()
        .scan(0, |value, &step| {
            *value = (*value + step) % 16;
            Some(*value)
        })
        .collect();
    let counters: Vec<u8> = (0..20_000_u64)
        .flat_map(|item| (item * 3).to_le_bytes().into_iter().take(7))
        .collect();
    // A yearly cycle of hours, of which one in four is anything.
    let hours = noise(27, 6, 8760);
    let (other, is_other) = (noise(28, 6, 150_000), noise(29, 4, 150_000));
    let cycle: Vec<u8> = (0..150_000)
        .map(|at| match is_other[at] {
            0 => other[at],
            _ => hours[at % hours.len()],
        })
        .collect();
    // Cheap bytes, of which only the first of each seven is not that of the item before.
    let item = noise(25, 3, 7);
    let records: Vec<u8> = noise(26, 3, 20_000)
        .iter()
        .flat_map(|&first| [&[first], &item[1..]].concat())
        .collect();
    assert!(noise_in(&cycle, Search::FarThrees) < cycle.len() / 4);
    for (name, src) in [("walk", walk), ("counters", counters), ("records", records)] {
        for search in FAR {
            assert_eq!(noise_in(&src, search), 0, "{name} {search:?}");
        }
    }
}
