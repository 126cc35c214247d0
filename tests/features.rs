//! Builds without some codecs: such codecs are unknown by name, and using them is an error.
#![cfg(not(feature = "default"))]

use ferroblosc::Error;
use ferroblosc::chunk::{CParams, ChunkHeader, Compressor, DParams, Decompressor, missing_plugin};
use ferroblosc::codec::{self, format, id};
use ferroblosc::filter;

const CODECS: [(&str, u8, u8); 9] = [
    ("lz4", id::LZ4, format::LZ4),
    ("lz4hc", id::LZ4HC, format::LZ4),
    ("zlib", id::ZLIB, format::ZLIB),
    ("zstd", id::ZSTD, format::ZSTD),
    ("zfp_acc", id::ZFP_ACCURACY, format::USER),
    ("zfp_prec", id::ZFP_PRECISION, format::USER),
    ("zfp_rate", id::ZFP_RATE, format::USER),
    ("snappy", id::SNAPPY, format::SNAPPY),
    ("ndlz", id::NDLZ, format::USER),
];

/// The filters of the feature `plugins`.
const FILTERS: [u8; 5] = [
    filter::id::NDCELL,
    filter::id::NDMEAN,
    filter::id::BYTEDELTA_BUGGY,
    filter::id::BYTEDELTA,
    filter::id::INT_TRUNC,
];

fn data() -> Vec<u8> {
    (0..20_000u32).flat_map(u32::to_le_bytes).collect()
}

#[test]
fn a_codec_that_is_not_built_in_cannot_compress() {
    for (name, compcode, _) in CODECS {
        if codec::can_encode(compcode) {
            continue;
        }
        assert_eq!(codec::compname_to_compcode(name), None, "{name}");
        assert_eq!(codec::compcode_to_compname(compcode), None, "{name}");
        assert_eq!(codec::library_info(name), None, "{name}");
        let params = CParams::default().codec(compcode).typesize(4);
        let result = Compressor::new(params).and_then(|mut c| c.compress_to_vec(&data()));
        assert_eq!(result, Err(Error::CodecSupport), "{name}");
    }
}

#[test]
fn a_chunk_of_a_codec_that_is_not_built_in_is_not_read() {
    let params = CParams::default().codec(id::BLOSCLZ).typesize(4);
    let chunk = Compressor::new(params)
        .and_then(|mut compressor| compressor.compress_to_vec(&data()))
        .unwrap();
    for (name, compcode, format) in CODECS {
        let is_known = codec::info_of_format(format).is_some() || codec::info(compcode).is_some();
        if is_known || format == format::SNAPPY {
            continue;
        }
        let mut chunk = chunk.clone();
        chunk[2] = chunk[2] & 0x1f | format << 5;
        // The compcode of a registered codec.
        chunk[22] = compcode;
        let mut dest = vec![0; data().len()];
        let result = Decompressor::new(DParams::default()).decompress(&chunk, &mut dest);
        assert_eq!(result.unwrap_err(), Error::CodecSupport, "{name}");
        let missing = missing_plugin(&ChunkHeader::parse(&chunk).unwrap()).unwrap();
        assert!(missing.advice().contains("with its feature"), "{name}");
    }
}

#[cfg(feature = "internals")]
#[test]
fn blosc1_names_codecs_that_are_not_built_in() {
    use ferroblosc::blosc1;

    let zlib = 4;
    let has_zlib = cfg!(feature = "pure-zlib");
    assert_eq!(blosc1::compcode_to_compname(zlib).is_some(), has_zlib);
    assert_eq!(blosc1::compname_to_compcode(b"zlib").is_some(), has_zlib);
    assert_eq!(blosc1::known_compname(zlib), Some(c"zlib"));
    assert_eq!(blosc1::known_compname(6), None);
    // The third byte of a header contains the format in its upper three bits.
    let mut header = [0; 16];
    (header[0], header[2]) = (2, format::ZLIB << 5);
    assert_eq!(blosc1::complib(&header), Some(c"Zlib"));
    header[2] = 7 << 5;
    assert_eq!(blosc1::complib(&header), None);
}

#[test]
fn lz4_is_decoded_in_all_builds() {
    // "abcd" and a match of 12 bytes at distance 4, then 5 literals, in a Blosc2 chunk.
    let stream = [0x48, b'a', b'b', b'c', b'd', 4, 0, 0x50, b'v', b'w', b'x', b'y', b'z'];
    let nbytes = 4 + 12 + 5;
    let mut chunk = vec![5, 1, 1 << 5 | 0x10 | 0x05, 1];
    let cbytes = 32 + 4 + 4 + stream.len();
    for word in [nbytes, nbytes, cbytes] {
        chunk.extend((word as u32).to_le_bytes());
    }
    chunk.resize(32, 0);
    chunk.extend(36u32.to_le_bytes());
    chunk.extend((stream.len() as u32).to_le_bytes());
    chunk.extend(stream);
    let mut dest = [0; 21];
    let result = Decompressor::new(DParams::default()).decompress(&chunk, &mut dest);
    assert_eq!(result, Ok(nbytes));
    assert_eq!(&dest, b"abcdabcdabcdabcdvwxyz");
}

#[test]
fn a_filter_that_is_not_built_in_is_an_error() {
    let params = CParams::default().codec(id::BLOSCLZ).typesize(4);
    let mut compressor = Compressor::new(params.clone()).unwrap();
    let chunk = compressor.compress_to_vec(&data()).unwrap();
    for id in FILTERS {
        let mut params = params.clone();
        params.filters[filter::SLOTS - 2] = filter::Slot { id, meta: 4 };
        let result = Compressor::new(params).and_then(|mut c| c.compress_to_vec(&data()));
        if cfg!(feature = "plugins") {
            // Filters of cells need the shape of an array.
            let needs_array = matches!(id, filter::id::NDCELL | filter::id::NDMEAN);
            assert!(result.is_ok() || needs_array, "{id}: {result:?}");
            continue;
        }
        assert_eq!(result.unwrap_err(), Error::FilterPipeline, "{id}");
        // The slots of the header start at byte 16.
        let mut chunk = chunk.clone();
        chunk[16 + filter::SLOTS - 2] = id;
        let mut dest = vec![0; data().len()];
        let result = Decompressor::new(DParams::default()).decompress(&chunk, &mut dest);
        assert_eq!(result.unwrap_err(), Error::FilterPipeline, "{id}");
        let missing = missing_plugin(&ChunkHeader::parse(&chunk).unwrap()).unwrap();
        assert!(missing.advice().contains("with its feature \"plugins\""), "{id}");
    }
}

#[cfg(all(feature = "decode", not(feature = "zstd")))]
#[test]
fn a_codec_that_only_decodes_cannot_compress_and_names_its_feature() {
    let params = CParams::default().codec(id::ZSTD).typesize(4);
    let error = Compressor::new(params).and_then(|mut c| c.compress_to_vec(&data())).unwrap_err();
    assert_eq!(error, Error::CodecSupport);
    assert!(error.to_string().contains("its feature \"zstd\""), "{error}");
}

#[cfg(feature = "pure-zlib")]
#[test]
fn zlib_is_written_in_rust() {
    use ferroblosc::chunk::HeaderForm;

    for header in [HeaderForm::Extended, HeaderForm::Blosc1] {
        let mut params = CParams::default().codec(id::ZLIB).typesize(4);
        params.header = header;
        let chunk = Compressor::new(params).unwrap().compress_to_vec(&data()).unwrap();
        assert!(chunk.len() < data().len() / 4);
        let decoded = Decompressor::new(DParams::default()).decompress_to_vec(&chunk);
        assert_eq!(decoded, Ok(data()));
    }
}
