//! Checks the directory seeds, and runs the fuzz checks on them, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test directories` in this directory writes `seeds-bcolz/` from the
//! test data.

use std::path::Path;

use ferroblosc_fuzz::bcolz;
use ferroblosc_fuzz::files::{text_of, text_of_directory};
use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, folder, write_if_requested,
};

/// Small arrays and tables of all kinds from the test data.
const NAMES: [&str; 12] = [
    "i8_small",
    "i4_exact",
    "append_nd2",
    "attrs",
    "be_i4",
    "ct_empty",
    "dflt_nan",
    "empty_f8",
    "objects",
    "old_meta",
    "trim_stale_leftover",
    "codec_zstd_2",
];

fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/data/bcolz");
    let seed = |name: &'static str| (name, text_of_directory(&data.join(name)));
    NAMES.map(seed).to_vec()
}

#[test]
fn the_seeds_are_those_of_the_test_data() {
    write_if_requested(&folder("seeds-bcolz"), seeds());
    for (name, text) in seeds() {
        assert!(text.len() <= 4096, "{name} is longer than inputs are");
        assert_eq!(std::fs::read(folder("seeds-bcolz").join(name)).unwrap(), text, "{name}");
    }
}

fn passes(name: &str, text: &[u8]) {
    assert_survives(name, text, bcolz::directory);
}

#[test]
fn every_prefix_of_every_seed_passes_the_checks() {
    for (name, text) in seeds() {
        each_prefix(&text, |text| passes(name, text));
    }
}

#[test]
fn every_seed_with_one_byte_changed_passes_the_checks() {
    // Each check of a change writes a whole directory, so there are few values per byte.
    let others = |was| [was ^ 1, was ^ 0x80, b'0', b'9', 0xFF];
    for (name, seed) in seeds() {
        each_change(&seed, others, |text| passes(name, text));
    }
}

#[test]
fn the_lock_of_an_interrupted_writer_may_be_removed() {
    let files = [("__attrs__", &b"{}"[..]), ("data/__0.blp", b"blpk"), (".ferroblosc-lock", b"")];
    passes("a lock", &text_of(files));
}

#[test]
fn incomplete_files_of_an_interrupted_writer_may_be_removed() {
    let (_, seed) = seeds().swap_remove(0);
    let incomplete = [
        ("data/__0.blp", &b"blpk"[..]),
        ("data/.ferroblosc-new-1-0", b"blpk"),
        ("meta/.ferroblosc-new-1-1", b"{"),
    ];
    passes("new files", &[seed, text_of(incomplete)].concat());
}
