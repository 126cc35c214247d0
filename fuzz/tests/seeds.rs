//! Checks the chunk seeds, and runs the checks of every target on them, intact and slightly
//! damaged.
//!
//! `SEEDS=write cargo test --test seeds` in this directory writes `seeds/`.

use std::collections::BTreeMap;

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, HeaderForm, special};
use ferroblosc::codec;
use ferroblosc::filter::{self, Slot};
use ferroblosc_fuzz::seeds::{
    alone, assert_survives, each_change, each_prefix, flips_and_limits, folder, read,
    write_if_requested,
};
use ferroblosc_fuzz::{blosc1, check, lz4, plugins};

#[path = "../../tests/checks/vectors.rs"]
mod vectors;
use vectors::vectors;

/// A check and the name of its target.
type Check = (&'static str, fn(&[u8]));

const CHECKS: [Check; 9] = [
    ("decompress", check::decompress),
    ("getitem", check::getitem),
    ("vldecompress", check::vldecompress),
    ("header", check::header),
    ("blosc1", blosc1::chunk),
    ("lz4", lz4::block),
    ("ndlz", plugins::ndlz),
    ("zfp", plugins::zfp),
    ("cells", plugins::cells),
];

/// Returns slowly increasing numbers with some noise, suitable for every filter.
fn numbers(count: u32) -> Vec<u8> {
    let mut noise = 1u32;
    let numbers = (0..count).map(|i| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        i * 3 + (noise >> 29)
    });
    numbers.flat_map(u32::to_le_bytes).collect()
}

/// Returns chunks of our own encoder: each codec with each filter, several blocks, small enough to
/// mutate.
fn encoded() -> BTreeMap<String, Vec<u8>> {
    let data = numbers(300);
    let mut chunks = BTreeMap::new();
    let mut add = |name: String, params: CParams, data: &[u8]| {
        let chunk = Compressor::new(params).unwrap().compress_to_vec(data).unwrap();
        chunks.insert(name, chunk);
    };
    let codecs = [
        ("blosclz", codec::id::BLOSCLZ),
        ("lz4", codec::id::LZ4),
        ("lz4hc", codec::id::LZ4HC),
        ("zlib", codec::id::ZLIB),
        ("zstd", codec::id::ZSTD),
    ];
    let slot = |id, meta| Slot { id, meta };
    let pipelines: [(&str, &[Slot]); 5] = [
        ("plain", &[]),
        ("shuffle", &[slot(filter::id::SHUFFLE, 0)]),
        ("bitshuffle", &[slot(filter::id::BITSHUFFLE, 0)]),
        ("delta", &[slot(filter::id::DELTA, 0), slot(filter::id::SHUFFLE, 0)]),
        ("bytedelta", &[slot(filter::id::SHUFFLE, 0), slot(filter::id::BYTEDELTA, 4)]),
    ];
    for (codec_name, codec) in codecs {
        for (filter_name, filters) in pipelines {
            let params = CParams::default().typesize(4).codec(codec).filters(filters);
            add(format!("{codec_name}-{filter_name}"), params.blocksize(512), &data);
        }
    }
    for (name, codec) in [("blosclz", codec::id::BLOSCLZ), ("lz4", codec::id::LZ4)] {
        let mut params = CParams::default().typesize(4).codec(codec).blocksize(512);
        params.header = HeaderForm::Blosc1;
        add(format!("blosc1-{name}"), params, &data);
    }
    let trunc = [slot(filter::id::TRUNC_PREC, 10), slot(filter::id::SHUFFLE, 0)];
    let odd = CParams::default().typesize(7).codec(codec::id::LZ4).blocksize(280);
    add("odd-typesize".into(), odd, &data[..1001]);
    let params = CParams::default().typesize(4).codec(codec::id::ZSTD);
    add("trunc-prec".into(), params.clone().filters(&trunc), &data);
    let words: Vec<u8> = (0..400).flat_map(|i| format!("word-{} ", i % 37).into_bytes()).collect();
    for (name, codec) in [("lz4", codec::id::LZ4), ("zstd", codec::id::ZSTD)] {
        let params = CParams::default().typesize(1).codec(codec).filters(&[]);
        add(format!("{name}-dictionary"), params.use_dict(true).blocksize(512), &words);
    }
    let mut dest = [0; 4096];
    let blocks: Vec<&[u8]> = data.chunks(170).collect();
    let len = Compressor::new(params).unwrap().vl_compress(&blocks, &mut dest).unwrap();
    chunks.insert("vl-zstd".into(), dest[..len].to_vec());
    let len = special::uninit(&CParams::default(), 800, &mut dest).unwrap();
    chunks.insert("uninit".into(), dest[..len].to_vec());
    chunks
}

#[test]
fn the_seeds_are_the_published_vectors_and_decodable_chunks() {
    let _alone = alone();
    let published = vectors().map(|(name, chunk)| (name.to_owned(), chunk));
    write_if_requested(&folder("seeds"), published.chain(encoded()));
    let seeds = read("seeds");
    for (name, chunk) in vectors() {
        assert!(seeds.get(name) == Some(&chunk), "{name}");
    }
    for (name, chunk) in &seeds {
        let nbytes = ferroblosc::chunk::sizes(chunk).unwrap().nbytes as usize;
        let decoded = Decompressor::new(DParams::default()).decompress(chunk, &mut vec![0; nbytes]);
        assert_eq!(decoded, Ok(nbytes), "{name}");
    }
    for name in encoded().keys() {
        assert!(seeds.contains_key(name), "{name}");
    }
}

fn passes(name: &str, chunk: &[u8]) {
    for (target, check) in CHECKS {
        assert_survives(format_args!("target {target}, {name}"), chunk, check);
    }
}

#[test]
fn every_seed_and_every_prefix_of_it_passes_the_checks() {
    for (name, seed) in read("seeds") {
        each_prefix(&seed, |bytes| passes(&name, bytes));
    }
}

#[test]
fn every_seed_with_one_byte_changed_passes_the_checks() {
    for (name, seed) in read("seeds") {
        each_change(&seed, flips_and_limits, |bytes| passes(&name, bytes));
    }
}
