//! Tests of whole calls. The environment is tested through the shared library, in separate
//! processes.

use super::*;
use crate::chunk::SplitMode;
use crate::codec::id;

fn params(call: Call) -> Params {
    Params {
        call,
        compressor: Some(id::LZ4),
        blocksize: 0,
        splitmode: SplitMode::FORWARD_COMPAT,
        nthreads: 1,
    }
}

const CALL: Call = Call { clevel: 5, shuffle: 1, typesize: 4 };

fn ramp(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i / 64) as u8).collect()
}

fn compressed(params: &Params, data: &[u8]) -> Vec<u8> {
    let mut chunk = vec![0; data.len() + HEADER_LENGTH];
    let size = Engine::default().compress(params, data, &mut chunk).expect("it can be compressed");
    chunk.truncate(size);
    chunk
}

fn outcome(params: &Params, data: &[u8]) -> Result<usize> {
    Engine::default().compress(params, data, &mut vec![0; data.len() + HEADER_LENGTH])
}

fn decompressed(chunk: &[u8], destsize: usize) -> Result<Vec<u8>> {
    let mut dest = vec![0; destsize];
    let size = Engine::default().decompress(chunk, 1, &mut dest)?;
    dest.truncate(size);
    Ok(dest)
}

fn items(chunk: &[u8], start: i32, nitems: i32) -> Result<Vec<u8>> {
    let mut dest = vec![0; 4096];
    let size = Engine::default().getitem(chunk, start, nitems, &mut dest)?;
    dest.truncate(size);
    Ok(dest)
}

/// Returns a chunk with bytes replaced at `at`.
fn with<const N: usize>(chunk: &[u8], at: usize, bytes: [u8; N]) -> Vec<u8> {
    let mut chunk = chunk.to_vec();
    chunk[at..at + N].copy_from_slice(&bytes);
    chunk
}

#[test]
fn row_l1_empty_items_are_rejected_and_large_ones_are_bytes() {
    let call = Call { typesize: 0, ..CALL };
    assert_eq!(outcome(&params(call), &ramp(100)), Err(Error::InvalidParam));
    let call = Call { typesize: 256, ..CALL };
    assert_eq!(compressed(&params(call), &ramp(1000))[3], 1);
}

#[test]
fn invalid_levels_and_shuffles_are_rejected() {
    for clevel in [-1, 10, i32::MAX] {
        let call = Call { clevel, ..CALL };
        assert_eq!(outcome(&params(call), &ramp(10)), Err(Error::InvalidParam));
    }
    for shuffle in [-1, 3] {
        let call = Call { shuffle, ..CALL };
        assert_eq!(outcome(&params(call), &ramp(10)), Err(Error::InvalidParam));
    }
    let unknown = Params { compressor: None, ..params(CALL) };
    assert_eq!(outcome(&unknown, &ramp(10)), Err(Error::CodecSupport));
}

#[test]
fn row_l2_a_chunk_uses_a_limited_part_of_the_destination() {
    assert_eq!(usable_destsize(100, 15), None);
    assert_eq!(usable_destsize(100, 16), Some(16));
    assert_eq!(usable_destsize(100, usize::MAX), Some(116));
    assert_eq!(usable_destsize(MAX_BUFFERSIZE, 1 << 31), Some(i32::MAX as usize));
    assert_eq!(usable_destsize(MAX_BUFFERSIZE + 1, usize::MAX), None);
}

#[test]
fn row_l6_a_negative_size_is_rejected() {
    let chunk = compressed(&params(CALL), &ramp(1000));
    let chunk = with(&chunk, 4, (-1000i32).to_le_bytes());
    assert_eq!(decompressed(&chunk, 1000), Err(Error::Failure));
    assert_eq!(items(&chunk, 0, 1), Err(Error::Failure));
}

#[test]
fn row_l7_items_are_counted_in_64_bits() {
    let chunk = compressed(&params(CALL), &ramp(1001));
    assert_eq!(items(&chunk, 10, 5).unwrap(), ramp(1001)[40..60]);
    assert_eq!(items(&chunk, 250, 0), Ok(vec![]));
    assert_eq!(items(&chunk, 249, 1).unwrap(), ramp(1001)[996..1000]);
    for (start, nitems) in [
        (10, -1),
        (10, -10),
        (-1, 1),
        (0, 251),
        (251, 0),
        (1 << 30, 1),
        (i32::MAX, 1),
        (1, i32::MAX),
        (i32::MIN, i32::MIN),
    ] {
        let result = items(&chunk, start, nitems);
        assert_eq!(result, Err(Error::Failure), "{start} {nitems}");
    }
}

#[test]
fn row_l8_an_unknown_compressor_unsets_the_codec() {
    let settings = Settings::new();
    assert_eq!(settings.compressor(), Some(id::BLOSCLZ));
    assert_eq!(settings.set_compressor(b"snappy"), Ok(id::SNAPPY));
    assert_eq!(settings.set_compressor(b"SNAPPY"), Err(Error::Failure));
    assert_eq!(settings.compressor(), None);
}

#[test]
fn row_l9_block_sizes_are_limited() {
    let settings = Settings::new();
    assert_eq!(settings.blocksize(), 0);
    settings.set_blocksize(4096);
    assert_eq!(settings.blocksize(), 4096);
    let of_33_bits = usize::try_from((1_u64 << 32) + 5).unwrap_or(usize::MAX);
    for size in [1 << 31, of_33_bits, usize::MAX] {
        settings.set_blocksize(size);
        assert_eq!(settings.blocksize(), 715_827_542);
    }
}

#[test]
fn row_l10_the_number_of_threads_is_checked_when_needed() {
    let settings = Settings::new();
    for (now, before) in [(0, 1), (-3, 0), (300, -3), (1, 300)] {
        assert_eq!(settings.set_nthreads(now), before);
        assert_eq!(settings.nthreads(), now);
    }
    let (small, large) = (ramp(1000), ramp(3_000_000));
    let chunk = compressed(&params(CALL), &large);
    for nthreads in [0, -3, 257] {
        let params = Params { nthreads, ..params(CALL) };
        assert!(outcome(&params, &small).is_ok_and(|size| size > 0));
        assert_eq!(outcome(&params, &large), Err(Error::Failure));
        let mut dest = vec![0; large.len()];
        let result = Engine::default().decompress(&chunk, nthreads, &mut dest);
        assert_eq!(result, Err(Error::Failure));
    }
}

#[test]
fn row_l11_blocks_split_against_the_rule_are_read() {
    // One block of 400 bytes with four stored streams of 100 bytes.
    let mut chunk = vec![2, 1, 0x20, 4];
    for number in [400, 400, 16 + 4 + 4 * 104, 20] {
        chunk.extend(i32::to_le_bytes(number));
    }
    for stream in 0..4u8 {
        chunk.extend(100i32.to_le_bytes());
        chunk.extend([stream; 100]);
    }
    let data: Vec<u8> = (0..4u8).flat_map(|stream| [stream; 100]).collect();
    assert_eq!(decompressed(&chunk, 400), Ok(data));
}

/// Returns a chunk in blocks of `blocksize` bytes with stored streams.
fn raw_streams(flags: u8, blocksize: usize, streams: usize, data: &[u8]) -> Vec<u8> {
    let nblocks = data.len().div_ceil(blocksize);
    let (mut starts, mut body) = (Vec::new(), Vec::new());
    for block in data.chunks(blocksize) {
        starts.extend((HEADER_LENGTH + 4 * nblocks + body.len()).to_le_bytes()[..4].iter());
        let streams = if block.len() == blocksize { streams } else { 1 };
        for stream in block.chunks(block.len() / streams) {
            body.extend(&stream.len().to_le_bytes()[..4]);
            body.extend(stream);
        }
    }
    let mut chunk = vec![2, 1, flags, 4];
    for number in [data.len(), blocksize, HEADER_LENGTH + starts.len() + body.len()] {
        chunk.extend(&number.to_le_bytes()[..4]);
    }
    [chunk, starts, body].concat()
}

#[test]
fn row_l14_chunks_of_all_versions_since_1_3_are_read() {
    let data = ramp(5_000_000);
    // Versions 1.3 to 1.7 write blocks of 2 MiB with LZ4HC and Zlib, later versions with all
    // codecs. Blocks are split, optionally since 1.11.
    for (flags, blocksize, streams) in [
        (0x00, 262_144, 4),
        (0x20, 2_097_152, 4),
        (0x60, 2_097_152, 4),
        (0x30, 524_288, 1),
        (0x70, 1_048_576, 1),
        (0x90, 1_048_576, 1),
    ] {
        let chunk = raw_streams(flags, blocksize, streams, &data);
        let read = decompressed(&chunk, data.len());
        assert!(read.as_ref() == Ok(&data), "{flags:#x} {blocksize}");
    }
}

#[test]
fn row_l13_chunks_of_other_versions_are_rejected() {
    let chunk = compressed(&params(CALL), &ramp(1000));
    for version in [0, 1, 3, 5] {
        let chunk = with(&chunk, 0, [version]);
        assert_eq!(decompressed(&chunk, 1000), Err(Error::Failure));
        assert_eq!(items(&chunk, 0, 1), Err(Error::Version));
        let header = chunk.first_chunk().unwrap();
        assert_eq!(sizes(header), Sizes::default());
        assert_eq!(metainfo(header), (0, 0));
        assert_eq!(versions(header), (version, 1));
        assert_eq!(complib(header), Some(c"LZ4"));
    }
    // A chunk without data is accepted in any version.
    let nothing = with(&compressed(&params(CALL), &[]), 0, [5]);
    assert_eq!(decompressed(&nothing, 0), Ok(vec![]));
}

#[test]
fn headers_are_checked_in_the_documented_order() {
    let data = ramp(1000);
    let chunk = compressed(&params(CALL), &data);
    assert_eq!(decompressed(&chunk, 1000), Ok(data.clone()));
    assert_eq!(decompressed(&chunk, 999), Err(Error::Failure));
    for (at, bytes, expected) in [
        (8, 0i32.to_le_bytes(), Error::Failure),
        (8, 1001i32.to_le_bytes(), Error::Failure),
        (8, i32::MAX.to_le_bytes(), Error::Failure),
        (8, 1i32.to_le_bytes(), Error::Failure),
        (12, 16i32.to_le_bytes(), Error::Failure),
        (12, (-1i32).to_le_bytes(), Error::Failure),
        (16, (-1i32).to_le_bytes(), Error::Failure),
        (16, i32::MAX.to_le_bytes(), Error::Failure),
        (20, (-1i32).to_le_bytes(), Error::Failure),
        (0, [2, 1, 0xA1, 4], Error::CodecSupport),
        (0, [2, 2, 0x21, 4], Error::Version),
        (0, [2, 2, 0xA1, 4], Error::CodecSupport),
        (0, [2, 1, 0x29, 4], Error::Failure),
        (0, [2, 1, 0x21, 0], Error::Failure),
        (0, [2, 1, 0x23, 4], Error::Failure),
    ] {
        let result = decompressed(&with(&chunk, at, bytes), 1000);
        assert_eq!(result, Err(expected), "{bytes:?} at {at}");
    }
}

#[test]
fn unknown_flags_are_ignored() {
    let data = ramp(1000);
    let plain = Call { shuffle: 0, ..CALL };
    let chunk = compressed(&params(plain), &data);
    let delta = with(&chunk, 2, [chunk[2] | 0x08]);
    assert_eq!(items(&delta, 10, 50).unwrap(), data[40..240]);
    let chunk = compressed(&params(CALL), &data);
    let both = with(&chunk, 2, [chunk[2] | 0x05]);
    assert_eq!(decompressed(&both, 1000), Ok(data));
}

#[test]
fn validation_checks_sizes_only() {
    let chunk = compressed(&params(CALL), &ramp(1000));
    let cbytes = chunk.len();
    let valid = |chunk: &[u8], cbytes| validate(chunk.first_chunk().unwrap(), cbytes).is_ok();
    assert!(valid(&chunk, cbytes));
    assert!(!valid(&chunk, cbytes + 1));
    assert!(valid(&with(&chunk, 2, [0xFF, 0]), cbytes));
    assert!(valid(&with(&chunk, 8, [0; 4]), cbytes));
    assert!(!valid(&with(&chunk, 0, [5]), cbytes));
    assert!(!valid(&with(&chunk, 4, (-1i32).to_le_bytes()), cbytes));
    assert!(!valid(&with(&chunk, 4, i32::MAX.to_le_bytes()), cbytes));
    assert!(!valid(&[0; 16], 16));
}

#[test]
fn a_pool_keeps_a_few_engines() {
    let mut pool = EnginePool::new();
    let engines: Vec<Engine> = (0..20).map(|_| pool.take()).collect();
    let rejected = engines.into_iter().filter_map(|engine| pool.put(engine));
    assert_eq!(rejected.count(), 12);
}
