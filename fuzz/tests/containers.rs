//! The seeds of containers: that they are what they should be, and that the checks hold on them and on what is
//! left of them after small damage.
//!
//! `SEEDS=write cargo test --test containers` in this directory writes `seeds-blpk/` anew.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ferroblosc::bloscpack::{
    self, BloscArgs, BloscpackArgs, Codec, PackArgs, Reserve, Value, unpack_bytes_from_bytes,
};
use ferroblosc::blpk::{Checksum, Header};
use ferroblosc_fuzz::blpk;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("seeds-blpk")
}

/// Some numbers, packed.
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
        bloscpack: BloscpackArgs {
            offsets,
            checksum,
            max_app_chunks: Reserve::Exactly(2),
        },
        ..PackArgs::default()
    };
    bloscpack::pack_bytes_to_bytes(&data, &args).unwrap()
}

/// Containers of each version, with and without each part.
fn seeds() -> BTreeMap<&'static str, Vec<u8>> {
    let array = r#"{"dtype":"'<i4'","shape":[60],"order":"C","container":"numpy"}"#;
    let zeros = format!("\"{}\"", "0".repeat(200));
    let plain = packed("lz4", Checksum::None, false, None);
    let mut version1 = Header::version1(Some(2)).encode().unwrap();
    version1.extend(&plain[32..]);
    let mut version2 = packed("zlib", Checksum::Crc32, true, None);
    // Without room for more; the two unused entries are dropped.
    version2.drain(32 + 2 * 8..32 + 4 * 8);
    version2[4] = 2;
    version2[24] = 0;
    let mut streamed = plain.clone();
    streamed[8..24].fill(0xFF);
    BTreeMap::from([
        ("plain", plain),
        ("adler32", packed("blosclz", Checksum::Adler32, true, None)),
        ("array", packed("zstd", Checksum::None, true, Some(array))),
        (
            "zlib-metadata",
            packed("lz4hc", Checksum::None, false, Some(&zeros)),
        ),
        ("version-1", version1),
        ("version-2", version2),
        ("streamed", streamed),
        (
            "json",
            br#"{"a":[1,-2.5e-7,null,true],"\u00e9":{"b":NaN}}"#.to_vec(),
        ),
    ])
}

#[test]
fn the_seeds_are_containers_that_are_read() {
    if std::env::var_os("SEEDS").is_some_and(|value| value == "write") {
        std::fs::create_dir_all(directory()).unwrap();
        for (name, bytes) in seeds() {
            std::fs::write(directory().join(name), bytes).unwrap();
        }
    }
    for (name, bytes) in seeds() {
        assert!(
            std::fs::read(directory().join(name)).is_ok(),
            "{name} is missing"
        );
        if name != "json" {
            let (plain, _) = unpack_bytes_from_bytes(&bytes, 1)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(plain.len(), 240, "{name}");
        }
    }
}

fn assert_survives(name: &str, bytes: &[u8]) {
    let checks = std::panic::catch_unwind(|| {
        blpk::container(bytes);
        blpk::value(bytes);
    });
    if let Err(panic) = checks {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        eprintln!("{name}: {hex}");
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn every_seed_and_every_prefix_of_it_passes_the_checks() {
    for (name, bytes) in seeds() {
        for len in 0..=bytes.len() {
            assert_survives(name, &bytes[..len]);
        }
    }
}

#[test]
fn every_seed_with_one_byte_changed_passes_the_checks() {
    for (name, seed) in seeds() {
        let mut bytes = seed.clone();
        for at in 0..bytes.len() {
            let was = bytes[at];
            let flips = (0..8).map(|bit| was ^ (1 << bit));
            for byte in flips.chain([0x00, 0x01, 0x7F, 0x80, 0xFF]) {
                bytes[at] = byte;
                assert_survives(name, &bytes);
            }
            bytes[at] = was;
        }
    }
}
