//! Runs the checks of changes of tables and of conditions on the seeds, slightly changed ones and
//! random programs.
//!
//! `SEEDS=write cargo test --test tables` in this directory writes `seeds-table/` and
//! `seeds-condition/`.

use std::collections::BTreeMap;

use ferroblosc_formats::store::Filter;
use ferroblosc_fuzz::draw::Draw;
use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, folder, write_if_requested,
};
use ferroblosc_fuzz::{condition, table};

/// The number of random programs.
const RANDOM: usize = 150;

/// Returns a program for each container: columns of several kinds, and each operation.
fn programs() -> Vec<(String, Vec<u8>)> {
    let columns = [3, 0, 0, 0, 10, 1, 0, 16, 2, 0, 15, 3, 1];
    let calls = [
        0, 0, 3, 1, 20, 1, 30, 1, 40, 1, 8, 0, 4, 3, 0, 0, 4, 1, 50, 1, 1, 1, 1, 1, 4, 4, 1, 2, 2,
        7, 0, 1, 9, 0, 2, 2, 2, 1, 9, 4, 0, 5, 5, 6, 11, 5, 1, 1, 12, 2, 1, 7, 1, 4, 0, 6, 13, 5,
        0, 1, 77, 1, 3, 4, 0, 5, 1,
    ];
    let program = |container: u8| [&[container][..], &columns, &calls].concat();
    (0..5).map(|container| (format!("program-{container}"), program(container))).collect()
}

fn conditions() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([
        ("numbers", "i >= 1000 and i < 2003.5 or u == 40 && f <> -1.5"),
        ("extremes", "i == -9223372036854775808 or i > 18446744073709551615 or f >= inf"),
        ("fractions", "i == 9007199254740992.0 or f == 9007199254740993 or u < 20.5"),
        ("nan", "f != nan or f == NaN or f <= -inf"),
        ("texts", "s == 'it\\'s' or v >= \"\\xc3\\xa9\" and d != 'a' or d < 'b'"),
        ("bytes", "y == b'\\xff' or y <= b\"a\""),
        ("nulls", "b is null or (t is not null and t > -3) and b = TRUE"),
        ("names", "`a b` == 'one' and (((i < 5)))"),
        ("refused", "s == 5 or i == 'x' or missing is null"),
    ])
}

#[test]
fn the_seeds_are_complete() {
    write_if_requested(&folder("seeds-table"), programs());
    let texts = || conditions().into_iter().map(|(name, text)| (name, text.as_bytes().to_vec()));
    write_if_requested(&folder("seeds-condition"), texts());
    for (name, seed) in programs() {
        assert_eq!(std::fs::read(folder("seeds-table").join(name)).unwrap(), seed);
    }
    for (name, seed) in texts() {
        assert_eq!(std::fs::read(folder("seeds-condition").join(name)).unwrap(), seed);
    }
    for (name, text) in conditions() {
        assert!(Filter::parse(text).is_ok(), "{name}");
    }
}

#[test]
fn programs_and_their_prefixes_survive() {
    for (name, seed) in programs() {
        let mut number = 0;
        each_prefix(&seed, |bytes| {
            number += 1;
            if number % 7 == 0 || bytes.len() == seed.len() {
                assert_survives(&name, bytes, table::table);
            }
        });
    }
}

#[test]
fn random_programs_survive() {
    for number in 0..RANDOM {
        let mut draw = Draw::new(&number.to_le_bytes());
        let bytes: Vec<u8> = (0..draw.below(200)).map(|_| draw.below(256) as u8).collect();
        assert_survives("a random program", &bytes, table::table);
    }
}

#[test]
fn conditions_and_slightly_changed_ones_survive() {
    for (name, text) in conditions() {
        assert_survives(name, text.as_bytes(), condition::condition);
        let mut number = 0;
        let changes = |was| [was ^ 1, b'0', b'(', b'\''];
        each_change(text.as_bytes(), changes, |bytes| {
            number += 1;
            if number % 5 == 0 {
                assert_survives(name, bytes, condition::condition);
            }
        });
    }
}
