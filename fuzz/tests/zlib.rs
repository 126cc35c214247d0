//! Checks the seeds of the target `zlib`, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test zlib` in this directory writes `seeds-zlib/`.

use std::collections::BTreeMap;

use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, flips_and_limits, folder, read, write_if_requested,
};
use ferroblosc_fuzz::zlib;
use zlib_rs::{DeflateConfig, Inflate, InflateFlush, Method, ReturnCode, Status, Strategy};

/// Returns blocks of all kinds, by name.
fn streams() -> BTreeMap<String, Vec<u8>> {
    let text: Vec<u8> = (0..60).flat_map(|i| format!("word-{} ", i % 17).into_bytes()).collect();
    let noise: Vec<u8> =
        (0..300_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 20) as u8).collect();
    let inputs = [("empty", vec![]), ("text", text), ("noise", noise), ("run", vec![7; 900])];
    let kinds = [
        ("stored", 0, Strategy::Default),
        ("default", 9, Strategy::Default),
        ("fixed", 9, Strategy::Fixed),
        ("huffman", 9, Strategy::HuffmanOnly),
    ];
    let mut streams = BTreeMap::new();
    for (name, data) in inputs {
        for (kind, level, strategy) in kinds {
            let mut dest = vec![0; data.len() + 512];
            let config = DeflateConfig {
                level,
                method: Method::Deflated,
                window_bits: -15,
                mem_level: 1,
                strategy,
            };
            let (stream, code) = zlib_rs::compress_slice(&mut dest, &data, config);
            assert_eq!(code, ReturnCode::Ok);
            streams.insert(format!("{name}-{kind}"), stream.to_vec());
        }
    }
    streams
}

#[test]
fn the_seeds_are_blocks_that_decode() {
    write_if_requested(&folder("seeds-zlib"), streams());
    let seeds = read("seeds-zlib");
    assert!(streams().keys().all(|name| seeds.contains_key(name)));
    for (name, stream) in seeds {
        let mut dest = [0; 4096];
        let status = Inflate::new(false, 15).decompress(&stream, &mut dest, InflateFlush::Finish);
        assert_eq!(status, Ok(Status::StreamEnd), "{name}");
    }
}

#[test]
fn damaged_streams_pass_the_checks() {
    for (name, seed) in read("seeds-zlib") {
        each_prefix(&seed, |bytes| assert_survives(&name, bytes, zlib::blocks));
        each_change(&seed, flips_and_limits, |bytes| assert_survives(&name, bytes, zlib::blocks));
    }
}
