//! Chunks with a dictionary.

use ferroblosc::Error;
use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor};
use ferroblosc::codec::id;

use crate::common::*;

const CODECS_WITH: [u8; 3] = [id::LZ4, id::LZ4HC, id::ZSTD];

fn with_dict(codec: u8) -> CParams {
    lz4(1, &[]).codec(codec).use_dict(true).blocksize(4096)
}

fn uses_dict(chunk: &[u8]) -> bool {
    chunk[at::BLOSC2_FLAGS] & flags::USE_DICT != 0
}

#[test]
fn row_c19_usedict_is_cleared_on_stored_chunks() {
    for codec in CODECS_WITH {
        let chunk = round_trip(&with_dict(codec), &noise(20_000));
        assert_eq!(chunk.len(), 20_032);
        assert_ne!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
        assert!(!uses_dict(&chunk));
    }
}

#[test]
fn row_c19_usedict_is_ignored_on_stored_and_special_chunks() {
    let data = noise(20_000);
    let stored = round_trip(&with_dict(id::ZSTD), &data);
    let stored = with_byte(&stored, at::BLOSC2_FLAGS, flags::USE_DICT);
    assert_eq!(decompress(&stored, 20_000).as_ref(), Ok(&data));
    assert_eq!(getitem(&stored, 77, 9, 9).as_deref(), Ok(&data[77..86]));
    let zeros = round_trip(&with_dict(id::ZSTD), &[0; 20_000]);
    let zeros = with_byte(&zeros, at::BLOSC2_FLAGS, zeros[at::BLOSC2_FLAGS] | flags::USE_DICT);
    assert_eq!(decompress(&zeros, 20_000), Ok(vec![0; 20_000]));
    assert_eq!(getitem(&zeros, 77, 9, 9), Ok(vec![0; 9]));
}

#[test]
fn row_c20_tiny_buffers_are_stored_without_dictionary() {
    for codec in CODECS_WITH {
        for len in 0..32 {
            let chunk = round_trip(&with_dict(codec), &noise(len));
            assert_eq!(chunk.len(), len + 32);
            assert!(!uses_dict(&chunk));
        }
    }
}

#[test]
fn row_c21_a_short_destination_receives_a_smaller_chunk_or_none() {
    let data = text(20_000);
    for codec in CODECS_WITH {
        let params = with_dict(codec);
        let whole = compress(&params, &data).unwrap();
        assert!(uses_dict(&whole));
        for destsize in [32, 100, 1200, whole.len() / 2, whole.len() + 100, 20_031] {
            let chunk = compress_into(&params, &data, destsize).unwrap();
            // A codec may refuse a destination into which its result would fit exactly.
            if !chunk.is_empty() {
                assert!(decompress(&chunk, data.len()).as_ref() == Ok(&data));
            }
            assert_eq!(chunk.is_empty(), destsize < whole.len(), "{destsize}");
        }
    }
}

#[test]
fn row_c22_zeros_with_a_dictionary_are_a_special_chunk() {
    for codec in CODECS_WITH {
        let chunk = round_trip(&with_dict(codec), &[0; 100_000]);
        assert_eq!(chunk.len(), 32);
        assert_eq!(chunk[at::BLOSC2_FLAGS], 0x10);
    }
}

#[test]
fn row_c23_zstd_with_a_dictionary_is_the_same_at_any_level() {
    let data = text(95_183);
    let at_level = |level| compress(&with_dict(id::ZSTD).level(level), &data).unwrap();
    let chunk = at_level(1);
    assert!(uses_dict(&chunk));
    for level in [2, 5, 9] {
        assert!(at_level(level) == chunk, "level {level}");
    }
}

#[test]
fn row_c24_items_can_be_read_by_a_new_or_a_used_context() {
    let data = text(50_000);
    let other = compress(&with_dict(id::LZ4), &ramp(30_000)).unwrap();
    for codec in CODECS_WITH {
        let chunk = compress(&with_dict(codec), &data).unwrap();
        assert!(uses_dict(&chunk));
        for (start, count) in [(0, 10), (4090, 10), (20_000, 20_000), (49_999, 1)] {
            let expected = &data[start..start + count];
            let found = getitem(&chunk, start as i32, count as i32, count);
            assert_eq!(found.as_deref(), Ok(expected));
            let mut reader = Decompressor::new(DParams::default());
            let mut dest = vec![0; 30_000];
            assert_eq!(reader.decompress(&other, &mut dest), Ok(30_000));
            assert_eq!(reader.getitem(&chunk, start as i32, count as i32, &mut dest), Ok(count));
            assert_eq!(dest[..count], *expected);
        }
    }
}

#[test]
fn dictionaries_do_not_affect_later_chunks() {
    for codec in CODECS_WITH {
        let mut compressor = Compressor::new(with_dict(codec)).unwrap();
        let mut reader = Decompressor::new(DParams::default());
        let first = compressor.compress_to_vec(&text(50_000)).unwrap();
        for (data, has_dict) in [
            (text(50_000), true),
            (text(5119), false),
            (ramp(400).repeat(150), true),
            (text(50_000), true),
        ] {
            let chunk = compressor.compress_to_vec(&data).unwrap();
            assert_eq!(uses_dict(&chunk), has_dict);
            let mut back = vec![0; data.len()];
            assert_eq!(reader.decompress(&chunk, &mut back), Ok(data.len()));
            assert!(back == data);
        }
        let last = compressor.compress_to_vec(&text(50_000)).unwrap();
        assert!(first == last);
    }
}

#[test]
fn dictionaries_are_built_from_5120_bytes_on() {
    for codec in CODECS_WITH {
        let params = with_dict(codec).blocksize(1024);
        assert!(!uses_dict(&round_trip(&params, &text(5119))));
        assert!(uses_dict(&round_trip(&params, &text(5120))));
    }
    let chunk = round_trip(&with_dict(id::LZ4), &text(95_183));
    assert_eq!(get_i32(&chunk, 32 + 4 * 24), 4759, "a twentieth");
    assert_eq!(chunk[132..132 + 4759], text(95_183)[..4759]);
}

#[test]
fn dictionaries_work_with_every_pipeline_and_split_mode() {
    let data = ramp(60_000);
    for codec in CODECS_WITH {
        for filters in [vec![SHUFFLE], vec![DELTA, SHUFFLE], vec![BITSHUFFLE]] {
            let params = with_dict(codec).typesize(4).filters(&filters);
            let chunk = round_trip(&params, &data);
            assert_eq!(getitem(&chunk, 7000, 2000, 8000).as_deref(), Ok(&data[28_000..36_000]));
        }
    }
}

#[test]
fn codecs_without_dictionaries_refuse_them() {
    for codec in [id::BLOSCLZ, id::ZLIB] {
        for level in [0, 5] {
            assert_eq!(
                compress(&with_dict(codec).level(level), &text(1000)),
                Err(Error::CodecParam)
            );
        }
    }
}

/// Returns a chunk with a dictionary of this declared length, to which its block does not refer.
fn with_declared_len(len: i32) -> Vec<u8> {
    let mut made = Made::new(1, 40, 40).block(&[raw_stream(&noise(40))]);
    made.blosc2_flags = flags::USE_DICT;
    made.dictionary = Some(vec![b'x'; 40_000]);
    with_i32(&made.chunk(), 36, len)
}

#[test]
fn the_length_of_a_dictionary_is_checked() {
    for len in [i32::MIN, -1, 0, 32_769, i32::MAX] {
        assert_eq!(decompress(&with_declared_len(len), 40), Err(Error::CodecDict));
        assert_eq!(getitem(&with_declared_len(len), 0, 1, 1), Err(Error::CodecDict));
    }
    for len in [1, 32_768] {
        assert_eq!(decompress(&with_declared_len(len), 40), Ok(noise(40)));
    }
    let mut cut = with_declared_len(32_768);
    cut.truncate(32_800);
    set_i32(&mut cut, at::CBYTES, 32_800);
    assert_eq!(decompress(&cut, 40), Err(Error::ReadBuffer));
}

#[test]
fn codecs_without_dictionaries_skip_them() {
    let data = text(400);
    for (codec, format) in [(id::BLOSCLZ, 0), (id::ZLIB, 3)] {
        let mut made = Made::new(1, 400, 400).block(&[coded_stream(codec, &data)]);
        made.flags = flags::EXTENDED | flags::NOT_SPLIT | format << 5;
        made.blosc2_flags = flags::USE_DICT;
        made.dictionary = Some(noise(300));
        assert_eq!(decompress(&made.chunk(), 400).as_ref(), Ok(&data));
    }
}
