//! Checks the seeds of the target `hdf5`, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test hdf5` in this directory writes `seeds-hdf5/`.

use std::collections::BTreeMap;

use ferroblosc_fuzz::hdf5;
use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, folder, read, write_if_requested,
};
use ferroblosc_hdf5_common::blosc::Blosc;
use ferroblosc_hdf5_common::blosc2::Blosc2;
use ferroblosc_hdf5_common::{Dataset, Filter, Threads, Values};

/// Returns chunks of both filters with their values, by name.
fn chunks() -> BTreeMap<String, Vec<u8>> {
    let data: Vec<u8> = (0..200u16).flat_map(|item| (item / 25).to_le_bytes()).collect();
    let mut chunks = BTreeMap::new();
    for codec in [0, 1, 4, 5] {
        for shuffle in [0, 1, 2] {
            let (given, name) = ([0, 0, 0, 0, 5, shuffle, codec], format!("{codec}-{shuffle}"));
            let (values, stored) = compressed::<Blosc>(&given, &[200], &data);
            chunks.insert(format!("blosc-{name}"), hdf5::input(false, &values, &stored));
            let (values, stored) = compressed::<Blosc2>(&given, &[10, 20], &data);
            chunks.insert(format!("blosc2-{name}"), hdf5::input(true, &values, &stored));
        }
    }
    let (values, stored) = compressed::<Blosc2>(&[0, 32, 0, 0, 9, 3, 1], &[200], &data);
    chunks.insert("blosc2-blocks".into(), hdf5::input(true, &values, &stored));
    chunks
        .insert("blosc2-stored".into(), hdf5::input(true, &values, &Blosc2::store(&data).unwrap()));
    chunks.insert("blosc-stored".into(), hdf5::input(false, &[], &Blosc::store(&data).unwrap()));
    chunks
}

/// Returns the values of a dataset of two-byte items, and a chunk of it.
fn compressed<F: Filter>(given: &[u32], chunkshape: &[u32], data: &[u8]) -> (Vec<u32>, Vec<u8>) {
    let mut values = Values::new(given);
    let dataset = Dataset {
        typesize: 2,
        chunksize: data.len() as u32,
        chunkshape: chunkshape.to_vec(),
        is_mandatory: true,
    };
    F::complete(&mut values, &dataset).expect("valid values");
    let stored = F::compress(values.as_slice(), data, Threads::ONE).expect("valid values");
    let stored = stored.unwrap_or_else(|| F::store(data).expect("a chunk"));
    (values.as_slice().to_vec(), stored.to_vec())
}

#[test]
fn the_seeds_are_chunks_of_both_filters() {
    write_if_requested(&folder("seeds-hdf5"), chunks());
    let seeds = read("seeds-hdf5");
    assert!(chunks().keys().all(|name| seeds.contains_key(name)));
}

#[test]
fn damaged_chunks_pass_the_checks() {
    for (name, seed) in read("seeds-hdf5") {
        each_prefix(&seed, |bytes| assert_survives(&name, bytes, hdf5::chunk));
        let others = |was: u8| [was ^ 1, was ^ 0x80, 0, 0x7F, 0xFF];
        each_change(&seed, others, |bytes| assert_survives(&name, bytes, hdf5::chunk));
    }
}
