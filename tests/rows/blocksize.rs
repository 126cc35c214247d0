//! Parameters and sizes: block sizes, refused parameters, and destinations.

use std::sync::Arc;

use ferroblosc::chunk::{
    CParams, Compressor, DParams, Decompressor, HeaderForm, MAX_BLOCKSIZE, SplitMode, Tuner,
    TunerCall, sizes, special,
};
use ferroblosc::codec::id;
use ferroblosc::filter;
use ferroblosc::{Error, Result};

use crate::common::*;

fn blocksize_of(chunk: &[u8]) -> i32 {
    get_i32(chunk, at::BLOCKSIZE)
}

#[test]
fn row_c1_the_block_size_is_chosen_for_every_buffer() {
    let mut compressor = Compressor::new(lz4(1, &[])).unwrap();
    assert_eq!(compressor.blocksize(), 0);
    for len in [400, 100, 4000, 300_000, 100] {
        let chunk = compressor.compress_to_vec(&text(len)).unwrap();
        assert_eq!(blocksize_of(&chunk), len.min(128 << 10) as i32);
        assert_eq!(compressor.blocksize(), blocksize_of(&chunk));
    }
}

#[test]
fn row_c2_parameters_are_not_modified() {
    let mut compressor = Compressor::new(lz4(300, &[]).use_dict(true).level(0)).unwrap();
    for _ in 0..2 {
        let chunk = compressor.compress_to_vec(&text(2560)).unwrap();
        assert_eq!(chunk[at::TYPESIZE], 1);
        assert_eq!(blocksize_of(&chunk), 2400, "rounded to the true item size");
    }
    assert_eq!(compressor.params().typesize, 300);
    assert!(compressor.params().use_dict);
}

#[test]
fn row_c2_a_chunk_stored_at_level_0_does_not_disable_dictionaries() {
    let params = lz4(1, &[]).use_dict(true).blocksize(4096);
    let mut compressor = Compressor::new(params.clone().level(0)).unwrap();
    let stored = compressor.compress_to_vec(&text(50_000)).unwrap();
    assert_eq!(stored[at::BLOSC2_FLAGS], 0);
    compressor.set_params(compressor.params().clone().level(5)).unwrap();
    let chunk = compressor.compress_to_vec(&text(50_000)).unwrap();
    assert_eq!(chunk[at::BLOSC2_FLAGS], flags::USE_DICT);
}

#[test]
fn row_c3_the_header_contains_the_block_size_that_was_used() {
    for (typesize, forced, nbytes, used) in [
        (16, 1000, 5000, 992),
        (16, 100_000, 1001, 992),
        (12, 1000, 100_003, 996),
        (8, 1001, 4000, 1000),
        (1000, 50, 200, 1),
    ] {
        for codec in CODECS {
            for splitmode in [SplitMode::ALWAYS, SplitMode::NEVER] {
                let params = CParams::default()
                    .codec(codec)
                    .typesize(typesize)
                    .blocksize(forced)
                    .splitmode(splitmode);
                let data = mixed(nbytes);
                let chunk = compress_into(&params, &data, 2 * nbytes + 5000).unwrap();
                assert_eq!(blocksize_of(&chunk), used);
                assert_eq!(decompress(&chunk, nbytes).as_ref(), Ok(&data));
            }
        }
    }
}

/// Returns a chunk as the reference makes it with a forced block size: its blocks are rounded to
/// whole items, but its header contains the unrounded size.
fn unrounded(params: &CParams, data: &[u8], forced: i32) -> Vec<u8> {
    let chunk = compress(&params.clone().blocksize(forced), data).unwrap();
    assert_eq!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
    assert_ne!(blocksize_of(&chunk), forced.min(data.len() as i32));
    with_i32(&chunk, at::BLOCKSIZE, forced.min(data.len() as i32))
}

#[test]
fn row_c4_chunks_with_an_unrounded_block_size_can_be_read() {
    let data = ramp(10_007);
    for (typesize, forced) in [(16, 1000), (12, 1000), (8, 1001), (4, 4099), (16, 20_000)] {
        for splitmode in [SplitMode::ALWAYS, SplitMode::NEVER] {
            for codec in [id::BLOSCLZ, id::LZ4, id::ZSTD] {
                let params =
                    CParams::default().codec(codec).typesize(typesize).splitmode(splitmode);
                let chunk = unrounded(&params, &data, forced);
                assert_eq!(decompress(&chunk, data.len()).as_ref(), Ok(&data));
                let (start, count) = (100, 300);
                let bytes = start * typesize as usize..(start + count) * typesize as usize;
                assert_eq!(
                    getitem(&chunk, start as i32, count as i32, bytes.len()).as_deref(),
                    Ok(&data[bytes])
                );
                assert_eq!(
                    sizes(&chunk).unwrap().blocksize,
                    forced.min(data.len() as i32),
                    "the block size in the header"
                );
            }
        }
    }
}

#[test]
fn row_c5_blocks_shorter_than_an_item_are_not_split() {
    for (typesize, forced, nbytes) in [(16, 5, 1000), (255, 100, 1000), (100, 0, 60)] {
        let params = lz4(typesize, &[SHUFFLE]).blocksize(forced).splitmode(SplitMode::ALWAYS);
        let data = mixed(nbytes);
        let chunk = compress_into(&params, &data, 10 * nbytes).unwrap();
        assert_eq!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
        assert_ne!(chunk[at::FLAGS] & flags::NOT_SPLIT, 0);
        assert_eq!(decompress(&chunk, nbytes).as_ref(), Ok(&data));
    }
}

#[test]
fn row_c6_a_forced_block_size_stays_within_the_limit() {
    let mut chunk = [0; 32];
    for (typesize, limit) in [(1, MAX_BLOCKSIZE), (7, MAX_BLOCKSIZE / 7 * 7)] {
        let params = lz4(typesize, &[]).blocksize(1 << 30);
        let nbytes = 1_500_000_000 / typesize * typesize;
        assert_eq!(special::zeros(&params, nbytes, &mut chunk), Ok(32));
        assert_eq!(blocksize_of(&chunk), limit);
        assert_eq!(getitem(&chunk, nbytes / typesize - 1, 1, 7), Ok(vec![0; typesize as usize]));
    }
}

#[test]
fn row_c6_a_negative_block_size_is_refused() {
    let params = lz4(4, &[]).blocksize(-1);
    assert_eq!(compress(&params, &ramp(1000)), Err(Error::InvalidParam));
    assert_eq!(special::zeros(&params, 1000, &mut [0; 32]), Err(Error::InvalidParam));
}

#[test]
fn row_c7_items_of_zero_bytes_are_refused() {
    for typesize in [0, -1, i32::MIN, MAX_BLOCKSIZE + 1] {
        let params = lz4(typesize, &[]);
        assert_eq!(compress(&params, &ramp(1000)), Err(Error::InvalidParam));
        let mut compressor = Compressor::new(params).unwrap();
        let vl = compressor.vl_compress(&[b"a", b"b"], &mut [0; 100]);
        assert_eq!(vl, Err(Error::InvalidParam));
    }
    for typesize in [0, -1] {
        let params = lz4(typesize, &[]);
        let mut dest = [0; 64];
        assert_eq!(special::zeros(&params, 0, &mut dest), Err(Error::InvalidParam));
        assert_eq!(special::nans(&params, 8, &mut dest), Err(Error::InvalidParam));
        assert_eq!(special::uninit(&params, 8, &mut dest), Err(Error::InvalidParam));
        assert_eq!(special::repeatval(&params, 8, &[], &mut dest), Err(Error::InvalidParam));
    }
}

#[test]
fn row_c8_special_chunks_of_negative_size_are_refused() {
    let params = CParams::default();
    let mut dest = [0; 64];
    assert_eq!(special::zeros(&params, -8, &mut dest), Err(Error::InvalidParam));
    assert_eq!(special::nans(&params, -8, &mut dest), Err(Error::InvalidParam));
    assert_eq!(special::uninit(&params, i32::MIN, &mut dest), Err(Error::InvalidParam));
    assert_eq!(special::repeatval(&params, -8, &[1; 8], &mut dest), Err(Error::InvalidParam));
}

#[test]
fn row_c17_a_destination_shorter_than_a_header_is_an_error() {
    for destsize in [0, 16, 31] {
        assert_eq!(compress_into(&lz4(1, &[]), b"x", destsize), Err(Error::MaxBufsizeExceeded));
    }
    assert_eq!(compress_into(&lz4(1, &[]), b"x", 32), Ok(vec![]));
}

#[test]
fn row_c17_a_chunk_is_stored_raw_if_the_destination_has_no_slack() {
    let data = noise(4000);
    let params = lz4(4, &[SHUFFLE]);
    for destsize in [4000, 4031] {
        assert_eq!(compress_into(&params, &data, destsize), Ok(vec![]));
    }
    for destsize in [4032, 4051] {
        let chunk = compress_into(&params, &data, destsize).unwrap();
        assert_eq!((chunk.len(), chunk[at::FLAGS]), (4032, 0x27));
    }
    for destsize in [4052, 10_000] {
        let chunk = compress_into(&params, &data, destsize).unwrap();
        assert_eq!((chunk.len(), chunk[at::FLAGS]), (4052, 0x25));
        assert_eq!(decompress(&chunk, 4000).as_ref(), Ok(&data));
    }
}

#[test]
fn parameters_are_checked_in_the_order_of_the_reference() {
    let data = ramp(1000);
    let wrong = lz4(-1, &[]).codec(id::BLOSCLZ).use_dict(true);
    let with_level = |level| {
        let mut params = wrong.clone();
        params.clevel = level;
        params
    };
    let into = |params: &CParams, destsize| compress_into(params, &data, destsize);
    assert_eq!(into(&with_level(10), 31), Err(Error::MaxBufsizeExceeded));
    assert_eq!(into(&with_level(10), 2000), Err(Error::CodecParam));
    assert_eq!(into(&with_level(-1), 2000), Err(Error::CodecParam));
    assert_eq!(into(&with_level(0), 2000), Err(Error::CodecParam));
    assert_eq!(into(&wrong.use_dict(false), 2000), Err(Error::InvalidParam));
    assert_eq!(into(&lz4(4, &[slot(5, 0)]), 2000), Err(Error::FilterPipeline));
}

#[test]
fn row_c62_an_unknown_codec_fails_only_when_it_is_needed() {
    for compcode in [3, 6, 31, 200] {
        let params = lz4(4, &[SHUFFLE]).codec(compcode);
        assert_eq!(compress(&params, &noise(1000)), Err(Error::CodecSupport));
        round_trip(&params, &noise(31));
        round_trip(&params, &[7; 400]);
        round_trip(&params.clone().level(0), &noise(1000));
        let zeros = round_trip(&params, &[0; 1000]);
        assert_eq!(zeros.len(), 32);
        assert_eq!(zeros[..3], [5, 0xFF, 0xD5]);
        assert_eq!(zeros[at::UDCODEC], compcode);
    }
}

/// A tuner with a fixed result.
struct FixedTuner(Result<Option<usize>>);

impl Tuner for FixedTuner {
    fn next_blocksize(&self, call: &TunerCall) -> Result<Option<usize>> {
        assert_eq!((call.nbytes, call.typesize), (200_000, 4));
        self.0.clone()
    }
}

#[test]
fn row_c70_a_tuner_without_a_block_size_keeps_the_built_in_one() {
    let data = ramp(200_000);
    let tuned = |answer| {
        let mut params = lz4(4, &[]);
        params.tuner = Some(Arc::new(FixedTuner(answer)));
        params
    };
    let untuned = compress(&lz4(4, &[]), &data).unwrap();
    for silent in [Ok(None), Ok(Some(0))] {
        assert_eq!(compress(&tuned(silent), &data).as_ref(), Ok(&untuned));
    }
    let chunk = round_trip(&tuned(Ok(Some(4096))), &data);
    assert_eq!(blocksize_of(&chunk), 4096);
    for error in [Error::Tuner, Error::InvalidParam] {
        assert_eq!(compress(&tuned(Err(error.clone())), &data), Err(error));
    }
}

#[test]
fn row_d9_a_failed_call_does_not_poison_a_context() {
    let data = mixed(10_000);
    let mut compressor = Compressor::new(lz4(4, &[SHUFFLE]).threads(2)).unwrap();
    let mut decompressor = Decompressor::new(DParams::default().threads(2));
    let mut dest = vec![0; 10_032];
    for _ in 0..3 {
        assert_eq!(compressor.compress(&data, &mut dest[..31]), Err(Error::MaxBufsizeExceeded));
        assert_eq!(compressor.compress(&data, &mut dest[..100]), Ok(0));
        let size = compressor.compress(&data, &mut dest).unwrap();
        let mut back = vec![0; data.len()];
        assert_eq!(decompressor.decompress(&dest[..40], &mut back), Err(Error::InvalidHeader));
        assert_eq!(decompressor.decompress(&dest[..size], &mut back[1..]), Err(Error::WriteBuffer));
        assert_eq!(decompressor.decompress(&dest[..size], &mut back), Ok(data.len()));
        assert_eq!(back, data);
    }
}

#[test]
fn short_headers_are_written_if_they_can_represent_the_chunk() {
    let short = |filters: &[_]| {
        let mut params = lz4(4, filters);
        params.header = HeaderForm::Short;
        params
    };
    let data = ramp(5001);
    for filters in
        [vec![], vec![SHUFFLE], vec![BITSHUFFLE], vec![DELTA, SHUFFLE], vec![DELTA, slot(0, 0)]]
    {
        for blocksize in [0, 1000] {
            let chunk = round_trip(&short(&filters).blocksize(blocksize), &data);
            assert_eq!(chunk[at::VERSION], 5);
            assert_ne!(chunk[at::FLAGS] & flags::EXTENDED, flags::EXTENDED);
            assert_eq!(getitem(&chunk, 7, 900, 3600).as_deref(), Ok(&data[28..3628]));
        }
    }
    let stored = compress_into(&short(&[]), &noise(1000), 1016).unwrap();
    assert_eq!(stored.len(), 1016);
    assert_eq!(decompress(&stored, 1000), Ok(noise(1000)));
    assert_eq!(round_trip(&short(&[]), &[]).len(), 16);

    let refused = [
        short(&[DELTA]),
        short(&[SHUFFLE, DELTA]),
        short(&[SHUFFLE, BITSHUFFLE]),
        short(&[SHUFFLE, slot(0, 0)]),
        short(&[slot(filter::id::SHUFFLE, 2)]),
        short(&[slot(filter::id::BYTEDELTA, 4)]),
        short(&[]).use_dict(true),
        short(&[]).codec(id::NDLZ),
        {
            let mut params = short(&[]);
            params.instrument = true;
            params
        },
    ];
    for params in refused {
        assert_eq!(compress(&params, &data), Err(Error::InvalidParam));
    }
    let mut compressor = Compressor::new(short(&[])).unwrap();
    let vl = compressor.vl_compress(&[b"a", b"b"], &mut [0; 100]);
    assert_eq!(vl, Err(Error::InvalidParam));
}
