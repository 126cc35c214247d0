//! DELTA: blocks that depend on the first one.

use ferroblosc::Error;
use ferroblosc::chunk::{Compressor, DParams, Decompressor};
use ferroblosc::codec::id;
use ferroblosc::filter;

use crate::common::*;

const BLOCK: usize = 1000;

fn chunk_of(filters: &[filter::Slot], data: &[u8]) -> Vec<u8> {
    let chunk = compress(&lz4(4, filters).blocksize(BLOCK as i32), data).unwrap();
    assert_eq!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
    chunk
}

#[test]
fn row_c26_items_of_later_blocks_are_correct() {
    let data = ramp(7 * BLOCK + 444);
    for filters in [vec![DELTA], vec![DELTA, SHUFFLE], vec![SHUFFLE, DELTA]] {
        let chunk = chunk_of(&filters, &data);
        for start in (0..data.len() / 4).step_by(97) {
            for count in [1, 50, 600] {
                let bytes = 4 * start..(4 * (start + count)).min(data.len());
                let count = bytes.len() / 4;
                assert_eq!(
                    getitem(&chunk, start as i32, count as i32, bytes.len()).as_deref(),
                    Ok(&data[bytes])
                );
            }
        }
    }
}

#[test]
fn row_c26_masked_decompression_decodes_the_reference_block() {
    let data = ramp(7 * BLOCK + 444);
    let chunk = chunk_of(&[DELTA, SHUFFLE], &data);
    for nthreads in [1, 3] {
        let mut reader = Decompressor::new(DParams::default().threads(nthreads));
        for masked in [vec![0], vec![0, 3, 7], vec![1, 2, 3, 4, 5, 6, 7], vec![]] {
            let mask: Vec<bool> = (0..8).map(|i| masked.contains(&i)).collect();
            reader.set_maskout(mask.clone());
            let mut dest = vec![UNTOUCHED; data.len()];
            assert_eq!(reader.decompress(&chunk, &mut dest), Ok(data.len()));
            for (i, block) in dest.chunks(BLOCK).enumerate() {
                if mask[i] {
                    assert!(block.iter().all(|&byte| byte == UNTOUCHED));
                } else {
                    assert!(block == &data[BLOCK * i..BLOCK * i + block.len()]);
                }
            }
        }
    }
}

#[test]
fn row_c27_a_failing_first_block_ends_the_decompression() {
    let data = ramp(40 * BLOCK);
    let chunk = chunk_of(&[DELTA], &data);
    let first = get_i32(&chunk, at::STARTS) as usize;
    let broken = with_i32(&chunk, first, 1_000_000);
    for nthreads in [1, 2, 8] {
        let params = DParams::default().threads(nthreads);
        assert_eq!(decompress_with(params.clone(), &broken, data.len()), Err(Error::ReadBuffer));
        let mut reader = Decompressor::new(params);
        reader.set_maskout((0..40).map(|i| i == 0).collect());
        let mut dest = vec![0; data.len()];
        assert_eq!(reader.decompress(&broken, &mut dest), Err(Error::ReadBuffer));
    }
}

#[test]
fn row_c28_the_reference_is_the_first_block_after_all_inverse_filters() {
    let data = mixed(100 * BLOCK);
    for before in [SHUFFLE, BITSHUFFLE, slot(filter::id::BYTEDELTA, 4)] {
        let chunk = chunk_of(&[before, DELTA], &data);
        for _ in 0..10 {
            let found = decompress_with(DParams::default().threads(4), &chunk, data.len());
            assert!(found.as_ref() == Ok(&data));
        }
    }
}

#[test]
fn row_c29_variable_length_blocks_are_their_own_reference() {
    let blocks = [ramp(700), mixed(300), text(900), ramp(41)];
    let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
    for filters in [vec![DELTA], vec![SHUFFLE, DELTA], vec![DELTA, BITSHUFFLE]] {
        let mut dest = vec![0; 4000];
        let size =
            Compressor::new(lz4(4, &filters)).unwrap().vl_compress(&blocks, &mut dest).unwrap();
        let chunk = &dest[..size];
        let whole = blocks.concat();
        for nthreads in [1, 4] {
            let params = DParams::default().threads(nthreads);
            assert_eq!(decompress_with(params.clone(), chunk, whole.len()).as_ref(), Ok(&whole));
            let mut reader = Decompressor::new(params);
            assert_eq!(reader.vl_decompress(chunk).unwrap(), blocks);
            for (i, block) in blocks.iter().enumerate() {
                let mut dest = vec![0; block.len()];
                reader.vl_decompress_block(chunk, i, &mut dest).unwrap();
                assert_eq!(dest, *block);
            }
        }
    }
}

fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn truncated(zeroed: u32, data: &[u8]) -> Vec<u8> {
    data.chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .flat_map(|word| (word & !((1 << zeroed) - 1)).to_le_bytes())
        .collect()
}

#[test]
fn row_c32_a_lossy_filter_before_delta_does_not_affect_later_blocks() {
    let count = BLOCK / 4;
    let data = floats((0..8 * count).map(|i| if i < count { 1.1 } else { 1.75 + i as f32 / 64.0 }));
    let trunc = slot(filter::id::TRUNC_PREC, 10);
    for filters in [vec![trunc, DELTA], vec![trunc, DELTA, SHUFFLE]] {
        for nthreads in [1, 4] {
            let params = lz4(4, &filters).blocksize(BLOCK as i32).threads(nthreads);
            let chunk = compress(&params, &data).unwrap();
            let found = decompress(&chunk, data.len()).unwrap();
            assert_eq!(found, truncated(13, &data));
        }
    }
}

#[test]
fn row_c32_a_lossy_filter_after_delta_follows_the_format() {
    // The first block, which is the reference of the others, consists of truncated differences. The
    // other blocks are truncated relative to it.
    let data = ramp(4 * BLOCK);
    let chunk = chunk_of(&[DELTA, slot(filter::id::INT_TRUNC, -4i8 as u8)], &data);
    let found = decompress(&chunk, data.len()).unwrap();
    for (i, (found, word)) in found.chunks(4).zip(data.chunks(4)).enumerate().skip(BLOCK / 4) {
        let difference = u32::from_le_bytes(found.try_into().unwrap())
            ^ u32::from_le_bytes(word.try_into().unwrap());
        assert!(difference < 16, "item {i}");
    }
}

#[test]
fn row_c33_three_and_more_filters_round_trip() {
    let choices = [SHUFFLE, BITSHUFFLE, DELTA, slot(filter::id::BYTEDELTA, 3)];
    let data = mixed(5 * BLOCK + 123);
    let mut random = Random::new(33);
    for round in 0..300 {
        let filters: Vec<_> = (0..3 + round % 4).map(|_| random.pick(&choices)).collect();
        let typesize = random.pick(&[1, 3, 4, 8, 16]);
        let use_dict = random.below(2) == 0;
        let params = lz4(typesize, &filters)
            .codec(random.pick(&[id::LZ4, id::ZSTD]))
            .level(1)
            .blocksize(BLOCK as i32)
            .use_dict(use_dict)
            .threads(1 + (round % 2) as i16);
        round_trip(&params, &data);
        // Chunks that fall back to raw storage contain the unfiltered source.
        round_trip(&params, &noise(3 * BLOCK + 7));
    }
}

/// Inverts DELTA by the definition, for 1-byte elements.
fn undelta(bytes: &[u8], reference: Option<&[u8]>) -> Vec<u8> {
    let mut last = 0;
    let undo = |(i, &byte): (usize, &u8)| match reference {
        Some(reference) => byte ^ reference[i],
        None => {
            last ^= byte;
            last
        }
    };
    bytes.iter().enumerate().map(undo).collect()
}

#[test]
fn row_c33_delta_before_and_after_a_shuffle_follows_the_format() {
    // The reference decodes this pipeline incorrectly. Items of 3 bytes: DELTA works on bytes.
    let stored = [noise(300), text(300)];
    let mut made = Made::new(3, 600, 300);
    made.filters[3..].copy_from_slice(&[DELTA, SHUFFLE, DELTA]);
    let made = made.block(&[raw_stream(&stored[0])]).block(&[raw_stream(&stored[1])]);
    let unshuffled =
        |bytes: &[u8]| -> Vec<u8> { (0..300).map(|i| bytes[i % 3 * 100 + i / 3]).collect() };
    let undo = |bytes: &[u8], reference: Option<&[u8]>| {
        undelta(&unshuffled(&undelta(bytes, reference)), reference)
    };
    let first = undo(&stored[0], None);
    let second = undo(&stored[1], Some(&first));
    let data = [first, second].concat();
    assert_eq!(decompress(&made.chunk(), 600).as_ref(), Ok(&data));
    assert_eq!(getitem(&made.chunk(), 150, 20, 60).as_deref(), Ok(&data[450..510]));
}
