//! Checks that the array seeds are arrays, and runs the fuzz checks on them, intact and slightly
//! damaged.
//!
//! `SEEDS=write cargo test --test arrays` in this directory writes `seeds-array/`.

use std::collections::BTreeMap;

use ferroblosc::b2nd::{Array, Layout, meta};
use ferroblosc::chunk::{CParams, DParams};
use ferroblosc::codec;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_fuzz::array;
use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, flips_and_limits, folder, write_if_requested,
};

fn frame(shape: &[i64], chunkshape: &[i32], blockshape: &[i32], codec: u8) -> Vec<u8> {
    let count: i64 = shape.iter().product();
    let items: Vec<u8> = (0..count as u16).flat_map(u16::to_le_bytes).collect();
    let layout = Layout { shape, chunkshape, blockshape };
    let params = CParams::default().typesize(2).codec(codec);
    let array = Array::from_item_bytes(Storage::frame(), params, &layout, "<u2", &items);
    array.unwrap().to_bytes().unwrap()
}

/// Returns metalayers that fit the target's chunks, and frames.
fn seeds() -> BTreeMap<&'static str, Vec<u8>> {
    let layer = |shape: &[i64], chunks: &[i32], blocks: &[i32]| {
        meta::serialize(shape, chunks, blocks, Some(b"|u1"), 0).unwrap()
    };
    let mut old = layer(&[5, 7], &[4, 4], &[2, 2]);
    old.truncate(6 + 2 * 19);
    old[0] = 0x95;
    let lz4 = codec::id::LZ4;
    BTreeMap::from([
        ("layer-line", layer(&[61], &[16], &[4])),
        ("layer-square", layer(&[5, 7], &[4, 4], &[2, 2])),
        ("layer-rows", layer(&[16, 4], &[4, 4], &[1, 4])),
        ("layer-cube", layer(&[1, 3, 7], &[1, 4, 4], &[1, 2, 2])),
        ("layer-padded", layer(&[6, 3], &[3, 3], &[2, 2])),
        ("layer-nothing", layer(&[0, 7], &[4, 4], &[2, 2])),
        ("layer-old", old),
        ("frame-line", frame(&[30], &[7], &[3], lz4)),
        ("frame-square", frame(&[7, 9], &[4, 5], &[2, 3], lz4)),
        ("frame-cube", frame(&[3, 1, 5], &[2, 1, 4], &[2, 1, 2], codec::id::BLOSCLZ)),
        ("frame-point", frame(&[], &[], &[], lz4)),
    ])
}

#[test]
fn the_seeds_are_arrays() {
    write_if_requested(&folder("seeds-array"), seeds());
    for (name, bytes) in seeds() {
        let written = std::fs::read(folder("seeds-array").join(name));
        assert!(written.is_ok(), "{name} is missing");
        if name.starts_with("frame") {
            let schunk = SChunk::from_bytes(&bytes, DParams::default()).unwrap();
            let array = Array::from_schunk(schunk).unwrap();
            assert!(array.items().is_ok(), "{name}");
        } else {
            assert!(meta::parse(&bytes).unwrap().0.geometry().is_ok(), "{name}");
        }
    }
}

fn passes(name: &str, bytes: &[u8]) {
    assert_survives(name, bytes, array::array);
}

#[test]
fn every_seed_and_every_prefix_of_it_passes_the_checks() {
    for (name, seed) in seeds() {
        each_prefix(&seed, |bytes| passes(name, bytes));
    }
}

#[test]
fn every_seed_with_one_byte_changed_passes_the_checks() {
    for (name, seed) in seeds() {
        each_change(&seed, flips_and_limits, |bytes| passes(name, bytes));
    }
}
