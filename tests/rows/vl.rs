//! Chunks with variable-length blocks.

use ferroblosc::chunk::{CParams, Compressor, DParams, Decompressor, vl_nblocks};
use ferroblosc::codec::id;
use ferroblosc::{Error, Result};

use crate::common::*;
use crate::testing::GuardedBuf;

fn vl_compress(params: &CParams, blocks: &[Vec<u8>], destsize: usize) -> Result<Vec<u8>> {
    let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
    let mut dest = GuardedBuf::zeroed(destsize);
    let size = Compressor::new(params.clone())?.vl_compress(&blocks, &mut dest)?;
    Ok(dest[..size].to_vec())
}

/// Reads the chunk with every function.
fn assert_holds(chunk: &[u8], blocks: &[Vec<u8>]) {
    let chunk = GuardedBuf::copy_of(chunk);
    let whole = blocks.concat();
    for nthreads in [1, 3] {
        let mut reader = Decompressor::new(DParams::default().threads(nthreads));
        assert!(reader.vl_decompress(&chunk).unwrap() == blocks);
        let mut dest = GuardedBuf::zeroed(whole.len());
        assert_eq!(reader.decompress(&chunk, &mut dest), Ok(whole.len()));
        assert!(*dest == whole[..]);
        for (i, block) in blocks.iter().enumerate() {
            let mut dest = GuardedBuf::zeroed(block.len());
            reader.vl_decompress_block(&chunk, i, &mut dest).unwrap();
            assert!(*dest == block[..]);
        }
    }
}

fn some_blocks() -> Vec<Vec<u8>> {
    vec![text(700), vec![b'x'], noise(300), vec![0; 500], ramp(1234), vec![9; 40]]
}

#[test]
fn row_c25_no_chunk_is_written_to_a_short_destination() {
    for use_dict in [false, true] {
        for codec in [id::LZ4, id::ZSTD] {
            let mut blocks = some_blocks();
            blocks.extend((0..6).map(|i| text(600 + i)));
            let params = lz4(1, &[]).codec(codec).use_dict(use_dict);
            let whole = vl_compress(&params, &blocks, 20_000).unwrap();
            assert_holds(&whole, &blocks);
            for destsize in (32..whole.len()).step_by(13) {
                assert_eq!(vl_compress(&params, &blocks, destsize), Ok(vec![]));
            }
            assert!(vl_compress(&params, &blocks, whole.len() + 100).unwrap() == whole);
        }
    }
}

#[test]
fn row_c25_the_worst_case_always_fits() {
    for count in [1, 7, 20] {
        let blocks: Vec<Vec<u8>> = (0..count).map(|i| noise(100 + i)).collect();
        let nbytes: usize = blocks.iter().map(Vec::len).sum();
        for codec in CODECS {
            let params = lz4(1, &[]).codec(codec);
            let chunk = vl_compress(&params, &blocks, 32 + 8 * count + nbytes).unwrap();
            assert_holds(&chunk, &blocks);
        }
    }
}

#[test]
fn row_c75_level_0_stores_raw_blocks() {
    for codec in CODECS {
        let params = lz4(1, &[]).codec(codec).level(0);
        let blocks = vec![b"red".to_vec(), b"green".to_vec(), b"b".to_vec()];
        let chunk = vl_compress(&params, &blocks, 100).unwrap();
        assert_eq!(chunk.len(), 65);
        assert_eq!(chunk[..2], [6, 1]);
        assert_eq!(chunk[44..], *b"\x03\0\0\0red\x05\0\0\0green\x01\0\0\0b");
        assert_holds(&chunk, &blocks);
        let chunk = vl_compress(&params, &some_blocks(), 20_000).unwrap();
        assert_holds(&chunk, &some_blocks());
    }
    let blosclz = lz4(1, &[]).codec(id::BLOSCLZ).level(0);
    let chunk = vl_compress(&blosclz, &[vec![7; 1000]], 2000).unwrap();
    assert_eq!(chunk.len(), 32 + 8 + 1000, "raw");
}

#[test]
fn variable_length_blocks_work_with_all_codecs_filters_and_threads() {
    for codec in CODECS {
        for filters in [vec![], vec![SHUFFLE], vec![BITSHUFFLE, DELTA]] {
            for level in [1, 9] {
                let params = lz4(4, &filters).codec(codec).level(level);
                let chunk = vl_compress(&params, &some_blocks(), 20_000).unwrap();
                assert_eq!(chunk[at::VERSION], 6);
                assert_ne!(chunk[at::FLAGS] & flags::NOT_SPLIT, 0);
                assert_eq!(vl_nblocks(&chunk), Ok(6));
                assert_holds(&chunk, &some_blocks());
                for nthreads in 2..4 {
                    let threaded = params.clone().threads(nthreads);
                    assert!(vl_compress(&threaded, &some_blocks(), 20_000).unwrap() == chunk);
                }
            }
        }
    }
}

#[test]
fn variable_length_blocks_may_be_masked() {
    let blocks = some_blocks();
    let chunk = vl_compress(&lz4(1, &[DELTA]), &blocks, 20_000).unwrap();
    let mut reader = Decompressor::new(DParams::default());
    reader.set_maskout(vec![true, false, true, false, false, true]);
    let mut dest = vec![UNTOUCHED; blocks.concat().len()];
    assert_eq!(reader.decompress(&chunk, &mut dest), Ok(dest.len()));
    let mut expected = blocks.clone();
    for masked in [0, 2, 5] {
        expected[masked].fill(UNTOUCHED);
    }
    assert_eq!(dest, expected.concat());
    reader.set_maskout(vec![false; 5]);
    assert_eq!(reader.decompress(&chunk, &mut dest), Err(Error::Data));
}

#[test]
fn row_c77_measurements_of_variable_length_blocks_can_be_read() {
    const RECORD_LEN: usize = 16;
    let blocks = some_blocks();
    for filters in [vec![], vec![SHUFFLE], vec![BITSHUFFLE, DELTA]] {
        for nthreads in [1, 3] {
            let mut params = lz4(4, &filters).threads(nthreads);
            params.instrument = true;
            let chunk = vl_compress(&params, &blocks, 20_000).unwrap();
            assert_eq!(vl_nblocks(&chunk), Ok(blocks.len() as i32));
            let mut reader = Decompressor::new(DParams::default());
            let records = reader.vl_decompress(&chunk).unwrap();
            assert_eq!(decompress(&chunk, records.concat().len()), Ok(records.concat()));
            for (record, block) in records.iter().zip(&blocks) {
                assert_eq!(record.len(), RECORD_LEN);
                // The compression ratio, and whether the block is a run.
                let ratio = f32::from_ne_bytes(record[..4].try_into().unwrap());
                assert!(ratio > 0.1 && ratio <= block.len() as f32, "{ratio}");
                assert!(record[12] <= 1 && record[13..] == [0; 3], "{record:?}");
            }
            assert_eq!(records[3][12], 1, "a block of zeros");
        }
    }
}

#[test]
fn empty_blocks_are_refused() {
    let params = lz4(1, &[]);
    assert_eq!(vl_compress(&params, &[], 100), Err(Error::InvalidParam));
    assert_eq!(vl_compress(&params, &[text(9), vec![]], 100), Err(Error::InvalidParam));
    assert_eq!(vl_compress(&params, &[text(9)], 31), Err(Error::MaxBufsizeExceeded));
}

#[test]
fn regular_chunks_have_no_variable_length_blocks() {
    let chunk = compress(&lz4(1, &[]), &text(1000)).unwrap();
    let mut reader = Decompressor::new(DParams::default());
    assert_eq!(vl_nblocks(&chunk), Err(Error::InvalidParam));
    assert_eq!(vl_nblocks(&chunk[..31]), Err(Error::ReadBuffer));
    assert_eq!(reader.vl_block_len(&chunk, 0), Err(Error::InvalidParam));
    assert_eq!(reader.vl_decompress(&chunk), Err(Error::InvalidParam));
    let vl = vl_compress(&lz4(1, &[]), &some_blocks(), 20_000).unwrap();
    assert_eq!(reader.vl_block_sizes(&vl, 5), Err(Error::InvalidParam));
    assert_eq!(reader.vl_block_len(&vl, 6), Err(Error::InvalidParam));
    assert_eq!(getitem(&vl, 0, 1, 1), Err(Error::InvalidParam));
}

#[test]
fn tables_of_variable_length_blocks_are_checked() {
    let blocks = [text(90), noise(50), text(70)];
    let chunk = vl_compress(&lz4(1, &[]), &blocks, 1000).unwrap();
    let starts = [0, 1, 2].map(|i| get_i32(&chunk, at::STARTS + 4 * i));
    let end = chunk.len() as i32;
    let mut wrong = vec![
        with_byte(&chunk, at::FLAGS, chunk[at::FLAGS] | flags::MEMCPYED),
        with_i32(&chunk, at::NBYTES, 209),
        with_i32(&chunk, at::NBYTES, 211),
        with_i32(&chunk, at::STARTS, starts[0] - 4),
        with_i32(&chunk, at::STARTS, starts[1]),
        with_i32(&chunk, at::STARTS + 4, starts[0] + 3),
        with_i32(&chunk, at::STARTS + 4, starts[2]),
        with_i32(&chunk, at::STARTS + 8, end),
        with_i32(&chunk, at::STARTS + 8, end - 3),
        with_i32(&chunk, at::STARTS + 8, -1),
    ];
    for (block, size) in [(0, 0), (0, -1), (1, 51), (2, i32::MAX), (2, i32::MIN)] {
        wrong.push(with_i32(&chunk, starts[block] as usize, size));
    }
    let mut reader = Decompressor::new(DParams::default());
    for (number, chunk) in wrong.into_iter().enumerate() {
        let error = Err(Error::InvalidHeader);
        assert_eq!(decompress(&chunk, 211), error, "case {number}");
        assert_eq!(reader.vl_decompress(&chunk).map(|_| vec![]), error);
        assert_eq!(reader.vl_block_len(&chunk, 0).map(|_| vec![]), error);
    }
    let cut = with_i32(&chunk, at::CBYTES, starts[2] + 3);
    assert_eq!(decompress(&cut, 210), Err(Error::Data), "no space for the size");
    let mut many = chunk.clone();
    set_i32(&mut many, at::BLOCKSIZE, 500_000_000);
    assert_eq!(decompress(&many, 210), Err(Error::ReadBuffer));
}
