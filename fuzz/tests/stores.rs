//! Runs the check of stores on the seeds, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test stores` in this directory writes `seeds-store/` from the test
//! data.

use std::collections::BTreeMap;
use std::path::Path;

use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, folder, write_if_requested,
};
use ferroblosc_fuzz::store;

/// Returns small stores of the test data.
fn seeds() -> BTreeMap<&'static str, Vec<u8>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/data/stores");
    let names = ["a_batch.b2b", "c_utf8.b2z", "d_threshold.b2z", "e_mixed.b2e", "t_table.b2z"];
    names.into_iter().map(|name| (name, std::fs::read(data.join(name)).unwrap())).collect()
}

#[test]
fn the_seeds_are_those_of_the_test_data() {
    write_if_requested(&folder("seeds-store"), seeds());
    for (name, bytes) in seeds() {
        assert_eq!(std::fs::read(folder("seeds-store").join(name)).unwrap(), bytes, "{name}");
    }
}

#[test]
fn the_seeds_and_their_prefixes_survive() {
    for (name, seed) in seeds() {
        let mut number = 0;
        each_prefix(&seed, |bytes| {
            number += 1;
            if number % 13 == 0 || bytes.len() == seed.len() {
                assert_survives(name, bytes, store::store);
            }
        });
    }
}

#[test]
fn seeds_with_one_byte_changed_survive() {
    for (name, seed) in seeds() {
        let mut number = 0;
        each_change(
            &seed,
            |was| [was ^ 0x80, 0xff],
            |bytes| {
                number += 1;
                if number % 11 == 0 {
                    assert_survives(name, bytes, store::store);
                }
            },
        );
    }
}
