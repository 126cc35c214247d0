//! Runs programs of calls: those of `seeds-calls/`, slightly changed ones, and random ones.
//!
//! `SEEDS=write cargo test --test programs` in this directory writes `seeds-calls/`.

use ferroblosc_fuzz::draw::Draw;
use ferroblosc_fuzz::program;
use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, flips_and_limits, folder, write_if_requested,
};

/// The number of random programs.
const RANDOM: usize = 3000;

/// Returns a program for each kind of super-chunk and array.
fn seeds() -> Vec<(String, Vec<u8>)> {
    // Metalayers, chunks, and each operation once.
    let calls = [
        9, 0, 9, 1, 1, 0, 9, 1, 20, 5, 2, 2, 0, 3, 1, 1, 1, 3, 7, 1, 2, 3, 3, 9, 1, 5, 3, 0, 3, 2,
        2, 4, 4, 1, 3, 6, 0, 9, 7, 5, 9, 1, 2, 8, 3, 8, 5, 1, 6, 1, 0, 2, 13, 1, 14, 10, 1, 5, 2,
        11, 15, 16, 12, 1, 0, 40, 7, 0, 8, 0, 9, 2, 0, 3, 1, 1, 1,
    ];
    let arrays = [
        7, 9, 3, 4, 1, 2, 0, 0, 9, 5, 1, 0, 2, 7, 2, 1, 1, 3, 5, 3, 0, 2, 2, 4, 0, 1, 1, 3, 4, 9,
        5, 1, 0, 0, 4, 4, 6, 0, 3, 1, 1, 1, 7, 0, 1, 0, 60, 9, 1, 1, 2, 3,
    ];
    let mut seeds = Vec::new();
    for kind in 0..6u8 {
        seeds.push((format!("chunks-{kind}"), [&[kind + 12][..], &calls].concat()));
        seeds.push((format!("array-{kind}"), [&[kind + 128][..], &arrays].concat()));
    }
    seeds
}

fn passes(name: &str, bytes: &[u8]) {
    assert_survives(name, bytes, program::program);
}

#[test]
fn every_seed_and_every_prefix_of_it_passes() {
    write_if_requested(&folder("seeds-calls"), seeds());
    for (name, seed) in seeds() {
        assert_eq!(std::fs::read(folder("seeds-calls").join(&name)).ok().as_ref(), Some(&seed));
        each_prefix(&seed, |bytes| passes(&name, bytes));
    }
}

#[test]
fn every_seed_with_one_byte_changed_passes() {
    for (name, seed) in seeds() {
        each_change(&seed, flips_and_limits, |bytes| passes(&name, bytes));
    }
}

#[test]
fn random_programs_pass() {
    for number in 0..RANDOM {
        let mut draw = Draw::new(&number.to_le_bytes());
        let bytes: Vec<u8> = (0..draw.below(300)).map(|_| draw.below(256) as u8).collect();
        passes("a random program", &bytes);
    }
}
