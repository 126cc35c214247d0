//! Runs the check of Zarr data on the seeds, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test zarr` in this directory writes `seeds-zarr/` from the test data
//! and our writer.

use std::collections::BTreeMap;
use std::path::Path;

use ferroblosc_formats::convert::{self, Destination, Format};
use ferroblosc_formats::zarr::Version;
use ferroblosc_fuzz::files::{Scratch, text_of, text_of_directory};
use ferroblosc_fuzz::seeds::{
    assert_survives, converted, each_change, each_prefix, folder, write_if_requested,
};
use ferroblosc_fuzz::zarr;

/// An array of version 2 whose items are stored without compression.
const PLAIN_V2: &str = r#"{"zarr_format":2,"shape":[5,3],"chunks":[2,2],"dtype":"<i2","fill_value":7,
"order":"F","filters":null,"compressor":null,"dimension_separator":"/"}"#;
/// An array of version 3 whose chunks are in shards.
const SHARDS_V3: &str = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"uint8",
"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4]}},"fill_value":1,
"chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},"codecs":[{"name":
"sharding_indexed","configuration":{"chunk_shape":[2],"codecs":[{"name":"bytes"}],
"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}],"index_location":"end"}}]}"#;

/// Returns the text of a shard of two chunks of two bytes; the second is missing.
fn shards() -> Vec<u8> {
    let mut shard = vec![3, 4];
    for word in [0, 2, u64::MAX, u64::MAX] {
        shard.extend(u64::to_le_bytes(word));
    }
    text_of([("zarr.json", SHARDS_V3.as_bytes()), ("c/0", shard.as_slice())])
}

fn seeds() -> BTreeMap<&'static str, Vec<u8>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/data/zarr");
    let directory = |name: &str| text_of_directory(&data.join(name));
    let plain = [
        ("g/.zarray", PLAIN_V2.as_bytes()),
        ("g/.zattrs", br#"{"unit":"m"}"#),
        ("g/1/0", b"aabbccdd"),
        (".zgroup", br#"{"zarr_format":2}"#),
    ];
    BTreeMap::from([
        ("start", directory("start.zarr")),
        ("blosc-3", directory("three.zarr/blosc")),
        ("transposed-3", directory("three.zarr/transposed")),
        ("plain-2", text_of(plain)),
        ("shards-3", shards()),
        ("blosc-2", directory("two.zarr/blosc")),
        ("fortran-2", directory("two.zarr/inner")),
        ("zip-2", converted(Destination::Zarr { version: Version::V2, is_zip: true })),
        ("zip-3", converted(Destination::Zarr { version: Version::V3, is_zip: true })),
    ])
}

#[test]
fn the_seeds_are_arrays_and_groups() {
    write_if_requested(&folder("seeds-zarr"), seeds());
    for (name, seed) in seeds() {
        assert!(seed.len() <= 4096, "{name} is longer than inputs are: {}", seed.len());
        assert_eq!(std::fs::read(folder("seeds-zarr").join(name)).unwrap(), seed, "{name}");
        let scratch = Scratch::new();
        let path = if seed.starts_with(b"PK") {
            scratch.file("data", &seed)
        } else {
            scratch.directory("data", &seed)
        };
        assert_eq!(convert::detect(&path).unwrap().format, Format::Zarr, "{name}");
    }
}

#[test]
fn the_arrays_of_the_seeds_are_readable() {
    for (name, key, first) in [("plain-2", ":/g", 7), ("shards-3", "", 3)] {
        let scratch = Scratch::new();
        let path = scratch.directory("data", &seeds()[name]);
        let path = format!("{}{key}", path.display());
        let mut source = convert::open(Path::new(&path), &convert::Reading::default()).unwrap();
        let mut items = [0; 4];
        source.read(0, &mut items).unwrap();
        assert_eq!(items[0], first, "{name}: {items:?}");
    }
}

fn passes(name: &str, input: &[u8]) {
    assert_survives(name, input, zarr::zarr);
}

#[test]
fn every_seed_and_every_prefix_of_it_passes_the_check() {
    for (name, seed) in seeds() {
        each_prefix(&seed, |input| passes(name, input));
    }
}

#[test]
fn every_seed_with_one_byte_changed_passes_the_check() {
    // Each check writes files, so there are few values per byte.
    let others = |was| [was ^ 1, was ^ 0x80, b'0', b'9', 0xFF];
    for (name, seed) in seeds() {
        each_change(&seed, others, |input| passes(name, input));
    }
}
