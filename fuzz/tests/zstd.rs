//! Checks the seeds of the target `zstd`, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test zstd` in this directory writes `seeds-zstd/`.

use std::collections::BTreeMap;

use ferroblosc::codec::{Workspace, ZstdRustDecoder, id};
use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, flips_and_limits, folder, read, write_if_requested,
};
use ferroblosc_fuzz::zstd;

/// Returns frames with all kinds of blocks and tables, by name.
fn frames() -> BTreeMap<String, Vec<u8>> {
    let text: Vec<u8> = (0..120).flat_map(|i| format!("word-{} ", i % 37).into_bytes()).collect();
    let mut noise = 1_u32;
    let mut numbers = |mask: u32| -> Vec<u8> {
        let next = |i: u32| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (i * 3 + (noise >> 16 & mask)).to_le_bytes()
        };
        (0..200).flat_map(next).collect()
    };
    let inputs = [
        ("text", text),
        ("numbers", numbers(0xF)),
        ("noise", numbers(0xFFFF)),
        ("run", vec![7; 900]),
    ];
    let mut frames = BTreeMap::new();
    for (name, data) in inputs {
        for level in [1, 5, 9] {
            let mut dest = vec![0; data.len() + 512];
            let len = Workspace::new().encode(id::ZSTD, level, None, &data, &mut dest).unwrap();
            if len > 0 {
                frames.insert(format!("{name}-{level}"), dest[..len].to_vec());
            }
        }
    }
    frames
}

#[test]
fn the_seeds_are_frames_that_decode() {
    write_if_requested(&folder("seeds-zstd"), frames());
    let seeds = read("seeds-zstd");
    assert!(frames().keys().all(|name| seeds.contains_key(name)));
    for (name, frame) in seeds {
        let decoded = ZstdRustDecoder::default().decode(None, &frame, &mut [0; 4096]);
        assert!(decoded.is_ok(), "{name}: {decoded:?}");
    }
}

#[test]
fn damaged_frames_pass_the_checks() {
    for (name, seed) in read("seeds-zstd") {
        each_prefix(&seed, |bytes| assert_survives(&name, bytes, zstd::stream));
        each_change(&seed, flips_and_limits, |bytes| assert_survives(&name, bytes, zstd::stream));
    }
}
