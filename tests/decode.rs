//! Chunks of all codecs, decoded by builds without a C compiler.
#![cfg(feature = "decode")]

use ferroblosc::chunk::{DParams, Decompressor};

#[test]
fn chunks_of_all_codecs_are_decoded_in_rust() {
    let read = |name: &str| {
        let path = format!("{}/fuzz/seeds/{name}", env!("CARGO_MANIFEST_DIR"));
        let chunk = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Decompressor::new(DParams::default())
            .decompress_to_vec(&chunk)
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let numbers = read("blosclz-plain");
    assert_eq!(numbers.len(), 1200);
    for codec in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        for filter in ["plain", "shuffle", "bitshuffle", "delta", "bytedelta"] {
            assert_eq!(read(&format!("{codec}-{filter}")), numbers, "{codec}, {filter}");
        }
    }
    let words = read("lz4-dictionary");
    assert!(words.starts_with(b"word-0 word-1 "));
    assert_eq!(read("zstd-dictionary"), words);
}
