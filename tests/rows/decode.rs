//! Decoding of chunks of all versions, including unusual hand-made ones.

use ferroblosc::Error;
use ferroblosc::chunk::{
    BasicHeader, CParams, DParams, Decompressor, SplitMode, complib, sizes, validate,
};
use ferroblosc::codec::id;
use ferroblosc::filter;

use crate::common::*;

/// Returns 4000 bytes in four split blocks: 16 streams, some coded by LZ4 and some runs.
fn ordinary() -> (Vec<u8>, Vec<u8>) {
    let data = ramp(4000);
    let params = lz4(4, &[SHUFFLE]).blocksize(1000).splitmode(SplitMode::ALWAYS);
    (compress(&params, &data).unwrap(), data)
}

#[test]
fn row_c9_a_negative_size_in_the_header_is_an_error() {
    let (chunk, _) = ordinary();
    for nbytes in [-1, i32::MIN] {
        let chunk = with_i32(&chunk, at::NBYTES, nbytes);
        assert_eq!(decompress(&chunk, 4000), Err(Error::InvalidHeader));
        assert_eq!(getitem(&chunk, 0, 0, 0), Err(Error::InvalidHeader));
        assert_eq!(sizes(&chunk), Err(Error::InvalidHeader));
        assert_eq!(validate(&chunk), Err(Error::MemoryAlloc));
    }
}

/// Returns lines long enough for any codec, different in each block.
fn old_data(len: usize) -> Vec<u8> {
    text(len + 1)[1..].to_vec()
}

#[test]
fn row_c40_an_old_unsplit_chunk_may_lack_the_flag() {
    for (typesize, blocksize) in [(24, 480), (4, 400), (17, 17 * 200), (16, 16 * 127)] {
        let data = old_data(3 * blocksize + blocksize / 2);
        for shuffle in [false, true] {
            let mut made = Made::old(flags::LZ4, typesize, data.len(), blocksize);
            made.flags |= u8::from(shuffle);
            for block in data.chunks(blocksize) {
                let filtered =
                    if shuffle { shuffled(usize::from(typesize), block) } else { block.to_vec() };
                made = made.block(&[coded_stream(id::LZ4, &filtered)]);
            }
            for version in [1, 2] {
                made.version = version;
                let chunk = made.chunk();
                assert_eq!(decompress(&chunk, data.len()).as_ref(), Ok(&data));
                assert_eq!(
                    getitem(&chunk, 20, 10, 1000).as_deref(),
                    Ok(&data[20 * usize::from(typesize)..30 * usize::from(typesize)])
                );
            }
            made.version = 5;
            assert!(
                decompress(&made.chunk(), data.len()).is_err(),
                "versions with the flag must set it"
            );
        }
    }
}

#[test]
fn row_c40_an_old_chunk_that_was_split_against_the_rule_can_be_read() {
    for (typesize, blocksize) in [(24, 24 * 100), (4, 400), (17, 17 * 200)] {
        let data = old_data(2 * blocksize + blocksize / 3);
        let mut made = Made::old(flags::LZ4 | 1, typesize, data.len(), blocksize);
        for block in data.chunks(blocksize) {
            let filtered = shuffled(usize::from(typesize), block);
            let streams = if block.len() == blocksize {
                filtered.chunks(blocksize / usize::from(typesize)).map(raw_stream).collect()
            } else {
                vec![coded_stream(id::LZ4, &filtered)]
            };
            made = made.block(&streams);
        }
        let chunk = made.chunk();
        assert_eq!(decompress(&chunk, data.len()).as_ref(), Ok(&data));
        assert_eq!(
            getitem(&chunk, 1, 5, 1000).as_deref(),
            Ok(&data[usize::from(typesize)..6 * usize::from(typesize)])
        );
    }
}

#[test]
fn row_c40_old_chunks_within_the_limits_are_split() {
    let data = old_data(16 * 128);
    let made = Made::old(flags::LZ4, 16, data.len(), data.len());
    let streams: Vec<_> = data.chunks(128).map(raw_stream).collect();
    let chunk = made.block(&streams).chunk();
    assert_eq!(decompress(&chunk, data.len()), Ok(data));
}

/// Returns a chunk of bitshuffled blocks, each with a single stored stream made by `filter`.
fn bitshuffled_chunk(
    version: u8,
    data: &[u8],
    blocksize: usize,
    filter: impl Fn(&[u8]) -> Vec<u8>,
) -> Vec<u8> {
    let mut made = Made::old(4 | flags::NOT_SPLIT, 4, data.len(), blocksize);
    made.version = version;
    for block in data.chunks(blocksize) {
        made = made.block(&[raw_stream(&filter(block))]);
    }
    made.chunk()
}

#[test]
fn row_c41_the_tail_of_an_old_bitshuffled_block_is_copied() {
    // Full blocks of a multiple of 8 items; a last block of 8 items and 3 bytes, or of 3 bytes.
    for nbytes in [4000 + 35, 4000 + 3] {
        let data = noise(nbytes);
        let chunk = bitshuffled_chunk(2, &data, 2000 / 32 * 32, |block| {
            if (block.len() / 4).is_multiple_of(8) { bitshuffled(4, block) } else { block.to_vec() }
        });
        assert_eq!(decompress(&chunk, nbytes), Ok(data));
    }
}

#[test]
fn old_bitshuffle_copies_blocks_that_are_not_a_multiple_of_8_items() {
    let data = noise(3 * 40);
    let plain = bitshuffled_chunk(2, &data, 40, <[u8]>::to_vec);
    assert_eq!(decompress(&plain, 120).as_ref(), Ok(&data));
    for version in [1, 3, 5, 255] {
        let chunk = bitshuffled_chunk(version, &data, 40, |block| bitshuffled(4, block));
        assert_eq!(decompress(&chunk, 120).as_ref(), Ok(&data));
    }
}

/// Returns a Snappy chunk of two streams, one of them longer than its content.
fn snappy_chunk(version: u8, header: u8) -> (Vec<u8>, Vec<u8>) {
    let data = [text(200), noise(200)].concat();
    // A literal of 200 bytes: its length as a varint, and a tag that announces one length byte.
    let literal = [&[0xC8, 0x01, 60 << 2, 199], &data[200..]].concat();
    let mut made = Made::new(1, 400, 200);
    made.version = version;
    made.flags = header | 2 << 5 | flags::NOT_SPLIT;
    let chunk = made
        .block(&[coded_stream(id::SNAPPY, &data[..200])])
        .block(&[raw_stream(&literal)])
        .chunk();
    (chunk, data)
}

#[test]
fn row_c42_snappy_chunks_of_blosc_1_are_decoded() {
    for version in [1, 2] {
        let (chunk, data) = snappy_chunk(version, 0);
        assert_eq!(decompress(&chunk, 400).as_ref(), Ok(&data));
        assert_eq!(getitem(&chunk, 150, 100, 100).as_deref(), Ok(&data[150..250]));
        assert_eq!(complib(&BasicHeader::parse(&chunk).unwrap()), None);
    }
}

#[test]
fn row_c42_snappy_chunks_of_later_versions_are_refused() {
    for (version, header) in [(3, 0), (5, 0), (5, flags::EXTENDED), (6, 0)] {
        let (chunk, _) = snappy_chunk(version, header);
        assert_eq!(decompress(&chunk, 400), Err(Error::CodecSupport));
        assert_eq!(getitem(&chunk, 0, 10, 10), Err(Error::CodecSupport));
    }
}

#[test]
fn a_chunk_without_coded_streams_decodes_with_an_unknown_codec() {
    let data = [vec![9; 64], noise(64)].concat();
    for format in [2, 5, 6, 7] {
        let mut made = Made::new(1, 128, 64);
        made.flags = flags::EXTENDED | flags::NOT_SPLIT | format << 5;
        made.udcodec = 250;
        let run = [&(-9i32).to_le_bytes()[..], &[1]].concat();
        let chunk = made.block(&[run]).block(&[raw_stream(&data[64..])]).chunk();
        assert_eq!(decompress(&chunk, 128).as_ref(), Ok(&data));
    }
}

#[test]
fn row_c43_versions_before_the_second_flags_byte_may_contain_junk_there() {
    let data = text(300);
    for version in [3, 4] {
        let mut made = Made::new(1, 300, 300);
        made.version = version;
        made.flags2 = 0xFF;
        let chunk = made.block(&[coded_stream(id::LZ4, &data)]).chunk();
        assert_eq!(decompress(&chunk, 300).as_ref(), Ok(&data));
        assert_eq!(getitem(&chunk, 100, 7, 7).as_deref(), Ok(&data[100..107]));
    }
}

#[test]
fn alpha_chunks_have_five_filter_slots() {
    let data = text(300);
    let mut made = Made::new(1, 300, 300);
    made.version = 3;
    made.filters[5] = slot(filter::id::DELTA, 77);
    let made = made.block(&[coded_stream(id::LZ4, &data)]);
    assert_eq!(decompress(&made.chunk(), 300).as_ref(), Ok(&data));
    let beta = with_byte(&made.chunk(), at::VERSION, 4);
    assert_ne!(decompress(&beta, 300).as_ref(), Ok(&data));
}

#[test]
fn row_c44_any_version_is_read_unless_it_uses_unknown_features() {
    let data = ramp(4000);
    // The first versions of Blosc2 have no sixth filter.
    let filters = [SHUFFLE, slot(0, 0)];
    let params = lz4(4, &filters).splitmode(SplitMode::ALWAYS);
    let chunk = compress(&params, &data).unwrap();
    let short = {
        let made = Made::old(flags::NOT_SPLIT | flags::LZ4, 1, 4000, 4000);
        made.block(&[coded_stream(id::LZ4, &data)]).chunk()
    };
    for version in 0..=255 {
        // Versions up to 2 split by the rule of Blosc 1.x, for which this block is large enough.
        let now = with_byte(&chunk, at::VERSION, version);
        assert_eq!(decompress(&now, 4000).as_ref(), Ok(&data), "{version}");
        assert_eq!(getitem(&now, 3, 2, 8).as_deref(), Ok(&data[12..20]));
        let short = with_byte(&short, at::VERSION, version);
        assert_eq!(decompress(&short, 4000).as_ref(), Ok(&data), "{version}");
        for unknown in [0x02, 0x80, 0xFE] {
            let later = with_byte(&now, at::FLAGS2, unknown);
            if version > 6 {
                assert_eq!(decompress(&later, 4000), Err(Error::VersionSupport));
                assert_eq!(getitem(&later, 0, 1, 4), Err(Error::VersionSupport));
            } else {
                assert_eq!(decompress(&later, 4000).as_ref(), Ok(&data));
            }
        }
    }
}

#[test]
fn row_c49_bytes_after_the_chunk_and_a_low_size_in_the_header_are_harmless() {
    let (chunk, data) = ordinary();
    let longer = [&chunk[..], &[0xAB; 100]].concat();
    assert_eq!(decompress(&longer, 4000).as_ref(), Ok(&data));
    let low = with_i32(&chunk, at::CBYTES, 32);
    assert_eq!(decompress(&low, 4000).as_ref(), Ok(&data));
    assert_eq!(getitem(&low, 500, 500, 2000).as_deref(), Ok(&data[2000..]));
}

#[test]
fn row_c50_no_block_begins_before_the_data() {
    let (chunk, _) = ordinary();
    let len = chunk.len() as i32;
    for start in [i32::MIN, -1, 0, 1, 16, 31, 32, 47, len, i32::MAX] {
        let chunk = with_i32(&chunk, at::STARTS, start);
        assert_eq!(decompress(&chunk, 4000), Err(Error::Data), "{start}");
        assert_eq!(getitem(&chunk, 0, 1, 4), Err(Error::Data), "{start}");
    }
    assert!(decompress(&with_i32(&chunk, at::STARTS, len - 1), 4000).is_err());
}

#[test]
fn row_c50_no_block_begins_in_the_dictionary() {
    let mut made = Made::new(1, 40, 40).block(&[raw_stream(&noise(40))]);
    made.blosc2_flags = flags::USE_DICT;
    // A dictionary that has the form of a stream.
    made.dictionary = Some(raw_stream(&noise(40)));
    let chunk = made.chunk();
    assert_eq!(decompress(&chunk, 40), Ok(noise(40)));
    let inside = with_i32(&chunk, at::STARTS, 40);
    assert_eq!(decompress(&inside, 40), Err(Error::Data));
    assert_eq!(getitem(&inside, 0, 40, 40), Err(Error::Data));
}

#[test]
fn row_c50_a_split_block_that_its_streams_cannot_fill_is_an_error() {
    // The block size exceeds the size of the data, which form the only block.
    let mut made = Made::new(4, 1001, 1024);
    made.flags &= !flags::NOT_SPLIT;
    let chunk = made.block(&vec![raw_stream(&noise(250)); 5]).chunk();
    assert_eq!(decompress(&chunk, 1001), Err(Error::Data));
    assert_eq!(getitem(&chunk, 0, 1, 4), Err(Error::Data));
    // Fewer bytes than streams.
    let mut made = Made::new(7, 10, 5);
    made.flags &= !flags::NOT_SPLIT;
    let chunk = made.block(&[vec![0; 40]]).block(&[vec![0; 40]]).chunk();
    assert_eq!(decompress(&chunk, 10), Err(Error::WriteBuffer));
}

fn instrumented(mut params: CParams) -> CParams {
    params.instrument = true;
    params
}

#[test]
fn row_c52_measurements_are_not_written_past_the_destination() {
    let chunk = compress(&instrumented(lz4(4, &[SHUFFLE])), &ramp(4000)).unwrap();
    assert_eq!(chunk.len(), 116);
    assert_eq!(chunk[at::FLAGS], 0x25);
    assert_eq!(chunk[at::BLOSC2_FLAGS], 0x80);
    assert_eq!(get_i32(&chunk, at::NBYTES), 64);
    assert_eq!(get_i32(&chunk, at::BLOCKSIZE), 64);
    for destsize in [0, 16, 63] {
        assert_eq!(decompress(&chunk, destsize), Err(Error::WriteBuffer));
    }
    let records = decompress(&chunk, 64).unwrap();
    let run = &records[48..];
    assert_eq!(run[..4], 250f32.to_le_bytes());
    assert_eq!(run[12..], [1, 0, 0, 0]);
    let short = with_i32(&chunk, at::NBYTES, 60);
    assert!(decompress(&short, 60).is_err());
}

#[test]
fn a_lazy_chunk_without_its_frame_is_refused() {
    let (chunk, _) = ordinary();
    let stored = compress(&lz4(4, &[]).level(0), &ramp(4000)).unwrap();
    let tiny = compress(&lz4(4, &[]), &ramp(8)).unwrap();
    for chunk in [chunk, stored, tiny] {
        let lazy = with_byte(&chunk, at::BLOSC2_FLAGS, flags::LAZY);
        assert_eq!(decompress(&lazy, 4000), Err(Error::InvalidParam));
        assert_eq!(getitem(&lazy, 0, 1, 4), Err(Error::InvalidParam));
    }
}

#[test]
fn every_kind_of_damage_has_the_error_of_the_reference() {
    let (chunk, data) = ordinary();
    let len = chunk.len();
    let first = get_i32(&chunk, at::STARTS) as usize;
    let mut cases = vec![
        (with_byte(&chunk, at::VERSION, 7), None),
        (with_byte(&chunk, at::FLAGS2, 1), Some(Error::ReadBuffer)),
        (with_byte(&chunk, at::TYPESIZE, 0), Some(Error::InvalidHeader)),
        (with_byte(&chunk, at::TYPESIZE, 2), Some(Error::Data)),
        (with_i32(&chunk, at::NBYTES, 4001), Some(Error::WriteBuffer)),
        (with_i32(&chunk, at::NBYTES, 3999), Some(Error::Data)),
        (with_i32(&chunk, at::BLOCKSIZE, 1), Some(Error::ReadBuffer)),
        (with_byte(&chunk, at::FLAGS, chunk[at::FLAGS] | flags::MEMCPYED), Some(Error::Data)),
        (with_byte(&chunk, at::BLOSC2_FLAGS, 0x30), Some(Error::InvalidHeader)),
        (chunk[..15].to_vec(), Some(Error::ReadBuffer)),
        (chunk[..31].to_vec(), Some(Error::ReadBuffer)),
        (chunk[..32].to_vec(), Some(Error::InvalidHeader)),
        (with_i32(&chunk, first, -256), Some(Error::RunLength)),
        (with_i32(&chunk, first, 1), Some(Error::Data)),
        (with_i32(&chunk, first, 100_000), Some(Error::ReadBuffer)),
    ];
    for blocksize in [0, -1, MAX_BLOCK + 1] {
        let chunk = with_i32(&chunk, at::BLOCKSIZE, blocksize);
        cases.push((chunk, Some(Error::InvalidHeader)));
    }
    for cbytes in [15, 31, len as i32 + 1] {
        let chunk = with_i32(&chunk, at::CBYTES, cbytes);
        cases.push((chunk, Some(Error::InvalidHeader)));
    }
    for format in [2, 5, 6, 7] {
        let flags = chunk[at::FLAGS] & 0x1F | format << 5;
        let mut chunk = with_byte(&chunk, at::FLAGS, flags);
        chunk[at::UDCODEC] = 251;
        cases.push((chunk, Some(Error::CodecSupport)));
    }
    for special in [5, 6, 7] {
        let chunk = with_byte(&chunk, at::BLOSC2_FLAGS, special << 4);
        cases.push((chunk, Some(Error::Data)));
    }
    for (token, error) in [(0, Error::RunLength), (2, Error::RunLength)] {
        let mut chunk = with_i32(&chunk, first, -1);
        chunk[first + 4] = token;
        cases.push((chunk, Some(error)));
    }
    for (ids, error) in [
        (5..=31, Error::Failure),
        (37..=37, Error::FilterPipeline),
        (239..=239, Error::FilterPipeline),
    ] {
        for id in ids {
            cases.push((with_byte(&chunk, at::FILTERS + 5, id), Some(error.clone())));
        }
    }
    for (number, (chunk, error)) in cases.into_iter().enumerate() {
        let expected = error.map_or(Ok(data.clone()), Err);
        assert_eq!(decompress(&chunk, 4000), expected, "case {number}");
    }
}

/// The maximum block size in a header.
const MAX_BLOCK: i32 = 536_866_816;

#[test]
fn measurements_of_items_of_any_size_can_be_read() {
    for typesize in [1, 3, 5, 7, 12, 24] {
        for splitmode in [SplitMode::NEVER, SplitMode::ALWAYS] {
            let params = lz4(typesize, &[SHUFFLE]).splitmode(splitmode).blocksize(24 * 35);
            let chunk = compress(&instrumented(params), &mixed(24 * 35 * 6 + 11)).unwrap();
            let nbytes = get_i32(&chunk, at::NBYTES) as usize;
            let records = decompress(&chunk, nbytes).unwrap();
            for record in records.chunks(16) {
                let ratio = f32::from_le_bytes(record[..4].try_into().unwrap());
                assert!((0.5..10_000.0).contains(&ratio), "{ratio}");
                assert!(record[12] < 2 && record[13..] == [0; 3]);
            }
        }
    }
}

#[test]
fn one_context_reads_chunks_of_any_kind_in_turn() {
    let mut random = Random::new(12);
    let data = ramp(12_000);
    let mut chunks = Vec::new();
    for typesize in [2, 4, 8, 16] {
        for blocksize in [400, 1600, 4000, 0] {
            for splitmode in [SplitMode::ALWAYS, SplitMode::NEVER] {
                let params = lz4(typesize, &[SHUFFLE]).blocksize(blocksize);
                chunks.push(compress(&params.splitmode(splitmode), &data).unwrap());
            }
        }
    }
    let mut reader = Decompressor::new(DParams::default());
    let mut dest = vec![0; data.len()];
    for round in 0..2000 {
        let chunk = &chunks[random.below(chunks.len())];
        if random.below(2) == 0 {
            assert_eq!(reader.decompress(chunk, &mut dest), Ok(data.len()));
            assert!(dest == data, "round {round}");
        } else {
            let start = random.below(700);
            let items = start * 16..start * 16 + random.below(40) * 16;
            let (start, len) = (items.start as i32, items.len() as i32);
            let read = reader.getitem_bytes(chunk, start, len, &mut dest);
            assert_eq!(read, Ok(items.len()));
            assert!(dest[..items.len()] == data[items], "round {round}");
        }
    }
}
