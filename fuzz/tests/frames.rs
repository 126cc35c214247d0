//! Runs the checks of frames on the seeds, intact and slightly damaged.

use ferroblosc_fuzz::frame;
use ferroblosc_fuzz::seeds::{assert_survives, each_change, each_prefix, read};

fn passes(name: &str, bytes: &[u8]) {
    assert_survives(name, bytes, |bytes| {
        frame::buffer(bytes);
        frame::file(bytes);
    });
}

#[test]
fn the_seeds_and_some_prefixes_survive() {
    let seeds = read("seeds-frame");
    assert!(seeds.len() > 10);
    for (name, seed) in seeds {
        each_prefix(&seed, |bytes| {
            if bytes.len() % 13 == 0 || bytes.len() == seed.len() {
                passes(&name, bytes);
            }
        });
    }
}

#[test]
fn seeds_with_one_byte_changed_survive() {
    for (name, seed) in read("seeds-frame") {
        let mut number = 0;
        each_change(
            &seed,
            |was| [was ^ 0x80, 0xff],
            |bytes| {
                number += 1;
                if number % 7 == 0 {
                    passes(&name, bytes);
                }
            },
        );
    }
}
