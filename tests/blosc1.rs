//! Chunks that follow the rules of Blosc 1.x: their bytes are those that its readers expect, and
//! they use no feature that its readers do not support.

use ferroblosc::Error;
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, HeaderForm, SplitMode};
use ferroblosc::codec::id;
use ferroblosc::filter::{self, Slot};

const CODECS: [u8; 6] = [id::BLOSCLZ, id::LZ4, id::LZ4HC, id::SNAPPY, id::ZLIB, id::ZSTD];

fn blosc1(codec: u8, typesize: i32) -> CParams {
    let mut params = CParams::default().codec(codec).typesize(typesize);
    params.header = HeaderForm::Blosc1;
    params
}

fn compress(params: CParams, data: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0; data.len() + 16];
    let size = Compressor::new(params).unwrap().compress(data, &mut chunk).unwrap();
    chunk.truncate(size);
    chunk
}

fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).expect("hex"))
        .collect()
}

#[test]
fn small_chunks_have_the_published_bytes() {
    let bytes: Vec<u8> = (0..128).collect();
    let chunk = |len: usize| compress(blosc1(id::BLOSCLZ, 4), &bytes[..len]);
    assert_eq!(chunk(0), hex("0201130400000000 0100000010000000"));
    assert_eq!(chunk(1), hex("02011304 01000000 01000000 11000000 00"));
    assert_eq!(chunk(7), hex("02011304 07000000 04000000 17000000 00010203040506"));
    assert_eq!(chunk(127)[..16], hex("02011304 7f000000 7c000000 8f000000"));
    assert_eq!(chunk(128)[..16], hex("02011304 80000000 80000000 90000000"));
}

#[test]
fn zeros_are_compressed_like_any_other_data() {
    let zeros = [0; 1000];
    let lz4 = "02012104 e8030000 e8030000 50000000 14000000";
    let stream = "0b000000 1f000100e1500000000000";
    assert_eq!(compress(blosc1(id::LZ4, 4), &zeros), hex(&[lz4, &stream.repeat(4)].concat()));
    let snappy = "02014104 e8030000 e8030000 64000000 14000000";
    let stream = "10000000 fa010000fe0100fe0100fe0100e20100";
    assert_eq!(compress(blosc1(id::SNAPPY, 4), &zeros), hex(&[snappy, &stream.repeat(4)].concat()));
    let unsplit =
        "02013108 e8030000 e8030000 26000000 14000000 0e000000 1f000100ffffffd2500000000000";
    assert_eq!(compress(blosc1(id::LZ4, 8), &zeros), hex(unsplit));
    let zlib = "02016104 e8030000 e8030000 54000000 14000000";
    let stream = "0c000000 785e636018a9000000fa0001";
    assert_eq!(compress(blosc1(id::ZLIB, 4), &zeros), hex(&[zlib, &stream.repeat(4)].concat()));
    let blosclz = "02010104 e8030000 e8030000 54000000 14000000";
    let stream = "0c000000 2300000000e0ea0302000000";
    assert_eq!(
        compress(blosc1(id::BLOSCLZ, 4), &zeros),
        hex(&[blosclz, &stream.repeat(4)].concat())
    );
}

#[test]
fn row_l14_chunks_use_only_features_of_old_readers() {
    let data: Vec<u8> = (0..100_003u32).map(|i| (i / 7 % 251) as u8).collect();
    for codec in CODECS {
        for (typesize, filter_id) in [
            (1, filter::id::SHUFFLE),
            (4, filter::id::SHUFFLE),
            (4, filter::id::BITSHUFFLE),
            (12, 0),
        ] {
            for splitmode in [1, 2, 3, 4] {
                let params = blosc1(codec, typesize)
                    .splitmode(SplitMode(splitmode))
                    .filters(&[Slot { id: filter_id, meta: 0 }]);
                let chunk = compress(params, &data);
                assert_eq!(chunk[0..2], [2, 1], "versions");
                assert_eq!(chunk[2] & 0x08, 0, "no delta");
                assert_ne!(chunk[2] & 0x05, 0x05, "no extended header");
                let mut back = vec![0; data.len()];
                let read = Decompressor::new(DParams::default()).decompress(&chunk, &mut back);
                assert_eq!(read, Ok(data.len()), "{codec} {typesize} {filter_id} {splitmode}");
                assert!(back == data);
            }
        }
    }
}

#[test]
fn snappy_is_available_only_for_blosc_1() {
    let data: Vec<u8> = (0..4000).map(|i| (i / 9) as u8).collect();
    let mut dest = vec![0; 5000];
    let params = CParams::default().codec(id::SNAPPY);
    let result = Compressor::new(params).unwrap().compress(&data, &mut dest);
    assert_eq!(result, Err(Error::CodecSupport));
}

#[test]
fn a_destination_must_be_sixteen_bytes_longer_than_the_data() {
    let mut noise = 1u32;
    let data: Vec<u8> = (0..100_000)
        .map(|_| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        })
        .collect();
    for codec in CODECS {
        let mut compressor = Compressor::new(blosc1(codec, 4)).unwrap();
        let mut dest = vec![0; data.len() + 100];
        let mut size = |destsize: usize| compressor.compress(&data, &mut dest[..destsize]);
        assert_eq!(size(100_015), Ok(0));
        assert_eq!(size(100_016), Ok(100_016));
        assert_eq!(size(100_100), Ok(100_016));
        assert_eq!(size(15), Ok(0));
    }
}
