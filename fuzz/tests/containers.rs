//! Checks the container seeds, and runs the fuzz checks on them, intact and slightly damaged.
//!
//! `SEEDS=write cargo test --test containers` in this directory writes `seeds-blpk/`.

use std::collections::BTreeMap;

use ferroblosc_formats::bloscpack::{
    self, BloscArgs, BloscpackArgs, Codec, PackArgs, Reserve, Value, unpack_bytes_from_bytes,
};
use ferroblosc_formats::blpk::{Checksum, Header};
use ferroblosc_fuzz::blpk;
use ferroblosc_fuzz::seeds::{
    assert_survives, each_change, each_prefix, flips_and_limits, folder, write_if_requested,
};

/// Returns a container of some numbers.
fn packed(codec: &str, checksum: Checksum, offsets: bool, metadata: Option<&str>) -> Vec<u8> {
    let data: Vec<u8> = (0..60_u32).flat_map(|i| (i / 3).to_le_bytes()).collect();
    let args = PackArgs {
        chunk_size: 150,
        metadata: metadata.map(|text| Value::parse(text.as_bytes()).unwrap()),
        blosc: BloscArgs {
            typesize: 4,
            codec: Codec::from_name(codec).unwrap(),
            ..BloscArgs::default()
        },
        bloscpack: BloscpackArgs { offsets, checksum, max_app_chunks: Reserve::Exactly(2) },
        ..PackArgs::default()
    };
    bloscpack::pack_bytes_to_bytes(&data, &args).unwrap()
}

/// Returns containers of each version, with and without each optional section.
fn seeds() -> BTreeMap<&'static str, Vec<u8>> {
    let array = r#"{"dtype":"'<i4'","shape":[60],"order":"C","container":"numpy"}"#;
    let zeros = format!("\"{}\"", "0".repeat(200));
    let plain = packed("lz4", Checksum::None, false, None);
    let mut version1 = Header::version1(Some(2)).encode().unwrap();
    version1.extend(&plain[32..]);
    let mut version2 = packed("zlib", Checksum::Crc32, true, None);
    // Drops the two unused entries of the offsets.
    version2.drain(32 + 2 * 8..32 + 4 * 8);
    version2[4] = 2;
    version2[24] = 0;
    let mut streamed = plain.clone();
    streamed[8..24].fill(0xFF);
    BTreeMap::from([
        ("plain", plain),
        ("adler32", packed("blosclz", Checksum::Adler32, true, None)),
        ("array", packed("zstd", Checksum::None, true, Some(array))),
        ("zlib-metadata", packed("lz4hc", Checksum::None, false, Some(&zeros))),
        ("version-1", version1),
        ("version-2", version2),
        ("streamed", streamed),
        ("json", br#"{"a":[1,-2.5e-7,null,true],"\u00e9":{"b":NaN}}"#.to_vec()),
    ])
}

#[test]
fn the_seeds_are_readable_containers() {
    write_if_requested(&folder("seeds-blpk"), seeds());
    for (name, bytes) in seeds() {
        assert!(std::fs::read(folder("seeds-blpk").join(name)).is_ok(), "{name} is missing");
        if name != "json" {
            let (plain, _) = unpack_bytes_from_bytes(&bytes, 1)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(plain.len(), 240, "{name}");
        }
    }
}

fn passes(name: &str, bytes: &[u8]) {
    assert_survives(name, bytes, |bytes| {
        blpk::container(bytes);
        blpk::value(bytes);
    });
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
