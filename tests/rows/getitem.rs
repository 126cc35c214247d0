//! Random access to items of a chunk.

use ferroblosc::Error;
use ferroblosc::chunk::{Compressor, DParams, Decompressor, HeaderForm, SplitMode};
use ferroblosc::codec::id;
use ferroblosc::filter;

use crate::common::*;

#[test]
fn items_are_a_slice_of_the_data_for_all_parameters() {
    let mut random = Random::new(4);
    let pipelines = [
        vec![],
        vec![SHUFFLE],
        vec![BITSHUFFLE],
        vec![DELTA],
        vec![DELTA, SHUFFLE],
        vec![SHUFFLE, DELTA],
        vec![DELTA, BITSHUFFLE],
        vec![SHUFFLE, slot(filter::id::BYTEDELTA, 4)],
        vec![slot(filter::id::SHUFFLE, 3)],
        vec![DELTA, SHUFFLE, DELTA],
    ];
    let mut reader = Decompressor::new(DParams::default());
    for round in 0..600 {
        let typesize = random.pick(&[1, 2, 3, 4, 7, 8, 12, 16, 24, 131, 255, 300]);
        let nbytes = random.below(40_000);
        let data = match random.below(4) {
            0 => ramp(nbytes),
            1 => text(nbytes),
            _ => mixed(nbytes),
        };
        let codec = CODECS[round % CODECS.len()];
        let params = lz4(typesize, &pipelines[random.below(pipelines.len())])
            .codec(codec)
            .level(random.below(7) as u8)
            .blocksize(random.pick(&[0, 0, 37, 256, 1000, 4096, 20_000]))
            .splitmode(random.pick(&[SplitMode::ALWAYS, SplitMode::NEVER, SplitMode::AUTO]))
            .use_dict(matches!(codec, id::LZ4 | id::LZ4HC | id::ZSTD) && random.below(3) == 0);
        let chunk = compress_into(&params, &data, 3 * nbytes + 1000).unwrap();
        assert!(decompress(&chunk, nbytes).as_ref() == Ok(&data));
        let item = usize::from(chunk[at::TYPESIZE]);
        let items = nbytes / item;
        for _ in 0..12 {
            let start = random.below(items + 1);
            let most = random.below(items + 1);
            let count = random.below((items - start).min(most) + 1);
            let expected = &data[start * item..(start + count) * item];
            let found = getitem(&chunk, start as i32, count as i32, expected.len());
            assert!(found.as_deref() == Ok(expected), "round {round}");
            let mut dest = vec![UNTOUCHED; expected.len() + 1];
            let (start, len) = ((start * item) as i32, expected.len() as i32);
            let read = reader.getitem_bytes(&chunk, start, len, &mut dest);
            assert_eq!(read, Ok(expected.len()));
            assert!(dest[..expected.len()] == *expected && dest[expected.len()] == UNTOUCHED);
        }
    }
}

#[test]
fn row_c46_a_mask_is_ignored_and_kept() {
    let data = mixed(10_000);
    let chunk = compress(&lz4(4, &[SHUFFLE]).blocksize(1000), &data).unwrap();
    let mut reader = Decompressor::new(DParams::default());
    reader.set_maskout(vec![true; 10]);
    for (start, count) in [(0, 250), (100, 700), (2400, 100)] {
        let mut dest = vec![UNTOUCHED; 4 * count];
        let read = reader.getitem(&chunk, start as i32, count as i32, &mut dest);
        assert_eq!(read, Ok(4 * count));
        assert!(dest == data[4 * start..4 * (start + count)]);
    }
    let mut dest = vec![UNTOUCHED; data.len()];
    assert_eq!(reader.decompress(&chunk, &mut dest), Ok(data.len()));
    assert!(dest.iter().all(|&byte| byte == UNTOUCHED));
    assert_eq!(reader.decompress(&chunk, &mut dest), Ok(data.len()));
    assert!(dest == data, "it counts once");
}

#[test]
fn row_c47_reading_zero_items_succeeds_at_any_start() {
    let regular = compress(&lz4(4, &[SHUFFLE]), &ramp(4000)).unwrap();
    let stored = compress(&lz4(4, &[]).level(0), &ramp(4000)).unwrap();
    for chunk in [regular, stored] {
        for start in [0, 999, 1000, 1001, -1, i32::MIN, i32::MAX] {
            assert_eq!(getitem(&chunk, start, 0, 0), Ok(vec![]));
        }
    }
}

#[test]
fn ranges_beyond_the_chunk_or_the_destination_are_refused() {
    let chunk = compress(&lz4(4, &[SHUFFLE]), &ramp(4003)).unwrap();
    for (start, count, destsize, error) in [
        (0, -1, 4000, Error::InvalidParam),
        (0, i32::MIN, 4000, Error::InvalidParam),
        (0, 10, 39, Error::WriteBuffer),
        (0, i32::MAX, 4000, Error::WriteBuffer),
        (2000, i32::MAX, 4000, Error::WriteBuffer),
        (-1, 1, 4, Error::InvalidParam),
        (i32::MIN, 1, 4, Error::InvalidParam),
        (1000, 1, 4, Error::InvalidParam),
        (999, 2, 8, Error::InvalidParam),
        (i32::MAX, 1, 4, Error::InvalidParam),
    ] {
        assert_eq!(getitem(&chunk, start, count, destsize), Err(error));
    }
    let mut reader = Decompressor::new(DParams::default());
    let mut bytes = |start, count| reader.getitem_bytes(&chunk, start, count, &mut [0; 100]);
    assert_eq!(bytes(4, 96), Ok(96));
    for (start, count) in [(2, 4), (4, 2), (-4, 4), (0, -4), (4000, 4), (4001, 0)] {
        assert_eq!(bytes(start, count), Err(Error::InvalidParam));
    }
    assert_eq!(bytes(0, 104), Err(Error::WriteBuffer));
    assert_eq!(getitem(&chunk[..40], 0, 1, 4), Err(Error::InvalidHeader));
}

#[test]
fn row_c74_stored_chunks_are_read_from_any_item_on() {
    let data = noise(1000 * 7 + 310);
    for blocksize in [0, 1000, 333] {
        let mut params = lz4(1, &[SHUFFLE]).blocksize(blocksize).level(0);
        params.header = HeaderForm::Extended;
        let mut short = params.clone();
        short.header = HeaderForm::Short;
        for params in [params, short] {
            let chunk = Compressor::new(params).unwrap().compress_to_vec(&data).unwrap();
            for count in [333, 1000, 310, 7310 % 333] {
                for start in [0, 1, 500, 999, 1000, 6999, 7310 - count] {
                    if start + count <= data.len() {
                        assert_eq!(
                            getitem(&chunk, start as i32, count as i32, count).as_deref(),
                            Ok(&data[start..start + count])
                        );
                    }
                }
            }
        }
    }
}
