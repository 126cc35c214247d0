//! Runs the check of stores on the seeds, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test stores` in this directory writes `seeds-store/` from the test
//! data.

use std::collections::BTreeMap;
use std::path::Path;

use ferroblosc_formats::store::{Finding, Options, Severity, Store};
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

/// The size in the header of a chunk is untrusted: no memory is written for it before the blocks
/// are read.
#[test]
fn a_chunk_with_a_false_size_needs_no_memory() {
    let mut frame = seeds()["a_batch.b2b"].clone();
    // The first chunk follows the header, whose length is at offset 11.
    let chunk = u32::from_be_bytes(frame[11..15].try_into().unwrap()) as usize;
    let nbytes = u32::from_le_bytes(frame[chunk + 4..chunk + 8].try_into().unwrap());
    assert!((1..1000).contains(&nbytes), "{nbytes} is not the size of the first chunk");
    frame[chunk + 4..chunk + 8].copy_from_slice(&(1_500_000_000_u32).to_le_bytes());
    let before = peak_memory();
    let store = Store::from_bytes(frame, &Options::default()).unwrap();
    let findings = store.verify().unwrap();
    let is_damage = |finding: &Finding| finding.severity == Severity::Damage;
    assert!(findings.iter().any(is_damage), "{findings:?}");
    let more = peak_memory() - before;
    assert!(more < 256 << 20, "{more} bytes were written");
}

/// Returns the highest resident memory of the process so far, in bytes.
fn peak_memory() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the call fills in the structure, which is read only if it succeeded.
    let usage = unsafe {
        assert_eq!(libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()), 0);
        usage.assume_init()
    };
    u64::try_from(usage.ru_maxrss).unwrap() * 1024
}
