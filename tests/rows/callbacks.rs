//! Prefilters and postfilters.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ferroblosc::Error;
use ferroblosc::chunk::{
    CParams, Compressor, DParams, Decompressor, Postfilter, PostfilterCall, Prefilter,
    PrefilterCall, Refused, Source, special,
};
use ferroblosc::filter;

use crate::common::*;

/// Transforms each byte of the input, overwrites its scratch memory, and records its calls.
#[derive(Default)]
struct Maker {
    output_typesize: i32,
    is_disposable: bool,
    refuses: Option<usize>,
    /// The output offsets of the calls for each block.
    calls: Mutex<BTreeMap<usize, Vec<usize>>>,
}

/// Returns the output of [`Maker`] for a byte.
fn made_of(byte: u8) -> u8 {
    byte.wrapping_mul(3) ^ 0x5A
}

fn made(data: &[u8]) -> Vec<u8> {
    data.iter().map(|&byte| made_of(byte)).collect()
}

impl Prefilter for Maker {
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused> {
        let mut calls = self.calls.lock().unwrap();
        calls.entry(call.nblock).or_default().push(call.output_offset);
        if !self.is_disposable {
            assert!(call.output.iter().all(|&byte| byte == 0));
        }
        match call.input {
            Some(input) => {
                for (to, from) in call.output.iter_mut().zip(input) {
                    *to = made_of(*from);
                }
            }
            None => call.output.fill(call.nblock as u8 + 1),
        }
        call.scratch.fill(0xFF);
        if self.refuses == Some(call.nblock) {
            return Err(Refused);
        }
        Ok(())
    }

    fn output_typesize(&self) -> i32 {
        self.output_typesize
    }

    fn is_disposable(&self) -> bool {
        self.is_disposable
    }
}

fn calls(maker: &Maker) -> Vec<(usize, Vec<usize>)> {
    std::mem::take(&mut *maker.calls.lock().unwrap()).into_iter().collect()
}

fn with(params: CParams, maker: &Arc<Maker>) -> CParams {
    params.prefilter(maker.clone())
}

#[test]
fn prefilters_make_the_blocks() {
    let maker = Arc::new(Maker::default());
    let data = mixed(10_300);
    for filters in [vec![], vec![SHUFFLE], vec![SHUFFLE, BITSHUFFLE, SHUFFLE]] {
        for (level, nthreads) in [(5, 1), (5, 3), (0, 1)] {
            let params = lz4(4, &filters).blocksize(1000).level(level).threads(nthreads);
            let chunk = compress(&with(params, &maker), &data).unwrap();
            let expected: Vec<_> = (0..11).map(|i| (i, vec![1000 * i])).collect();
            assert_eq!(calls(&maker), expected, "one call for each block");
            assert!(decompress(&chunk, data.len()) == Ok(made(&data)));
        }
    }
    let tiny = compress(&with(lz4(4, &[]), &maker), &data[..20]).unwrap();
    assert_eq!(decompress(&tiny, 20), Ok(made(&data[..20])));
}

#[test]
fn a_prefilter_needs_no_source() {
    let maker = Arc::new(Maker::default());
    let mut compressor = Compressor::new(with(lz4(1, &[]).blocksize(100), &maker)).unwrap();
    let mut dest = vec![0; 500];
    let size = compressor.compress_source(Source::Absent(250), &mut dest);
    let data = [vec![1; 100], vec![2; 100], vec![3; 50]].concat();
    assert_eq!(decompress(&dest[..size.unwrap()], 250), Ok(data));
    let mut without = Compressor::new(lz4(1, &[])).unwrap();
    assert_eq!(without.compress_source(Source::Absent(250), &mut dest), Err(Error::InvalidParam));
    assert_eq!(without.compress_source(Source::Absent(0), &mut dest), Ok(32));
}

#[test]
fn row_c53_output_items_longer_than_the_chunks_are_refused() {
    for (typesize, output_typesize) in [(4, 5), (1, 2), (255, 256), (300, 2), (4, i32::MAX)] {
        let maker = Arc::new(Maker { output_typesize, ..Maker::default() });
        let params = with(lz4(typesize, &[]), &maker);
        assert_eq!(compress(&params, &ramp(1000)), Err(Error::InvalidParam));
        assert_eq!(calls(&maker), []);
    }
}

#[test]
fn shorter_output_items_fill_the_beginning_of_a_block() {
    let maker = Arc::new(Maker { output_typesize: 1, ..Maker::default() });
    let data = mixed(400);
    let chunk = compress(&with(lz4(4, &[]).blocksize(200), &maker), &data).unwrap();
    let mut expected = vec![0; 400];
    for block in [0, 200] {
        expected[block..block + 50].copy_from_slice(&made(&data[block..block + 50]));
    }
    assert_eq!(decompress(&chunk, 400), Ok(expected));
}

#[test]
fn row_c54_variable_length_blocks_are_passed_with_their_indices() {
    let maker = Arc::new(Maker::default());
    let blocks = [text(300), noise(50), ramp(400)];
    let parts: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
    let mut dest = vec![0; 2000];
    for nthreads in [1, 3] {
        let params = with(lz4(1, &[SHUFFLE]).threads(nthreads), &maker);
        let mut compressor = Compressor::new(params).unwrap();
        let size = compressor.vl_compress(&parts, &mut dest).unwrap();
        let expected = (0..3).map(|i| (i, vec![0])).collect::<Vec<_>>();
        assert_eq!(calls(&maker), expected);
        assert_eq!(decompress(&dest[..size], 750), Ok(made(&blocks.concat())));
    }
}

/// Checks that the scratch memory has the documented size.
struct Measures;

impl Prefilter for Measures {
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused> {
        assert_eq!(call.scratch.len(), 4 * (1000 + 4 * 4));
        assert_eq!((call.nchunk, call.output_typesize), (-1, 4));
        call.output.fill(7);
        call.scratch.fill(0xFF);
        assert!(call.output.iter().all(|&byte| byte == 7));
        Ok(())
    }
}

#[test]
fn row_c54_scratch_memory_does_not_overlap_the_output() {
    for level in [0, 5] {
        let params = lz4(4, &[SHUFFLE]).blocksize(1000).level(level);
        let params = params.prefilter(Arc::new(Measures));
        let chunk = compress(&params, &noise(3500)).unwrap();
        assert_eq!(decompress(&chunk, 3500), Ok(vec![7; 3500]));
    }
}

#[test]
fn row_c55_a_stored_chunk_contains_the_prefilter_output() {
    let maker = Arc::new(Maker::default());
    let data = noise(3500);
    for filters in [vec![], vec![SHUFFLE, BITSHUFFLE], vec![DELTA]] {
        let params = with(lz4(4, &filters).blocksize(1000), &maker);
        let chunk = compress(&params, &data).unwrap();
        assert_ne!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
        assert_eq!(calls(&maker).len(), 4);
        assert_eq!(decompress(&chunk, 3500), Ok(made(&data)));
    }
}

#[test]
fn a_prefilter_that_refuses_fails_the_compression() {
    let data = mixed(3500);
    let maker = Arc::new(Maker { refuses: Some(2), ..Maker::default() });
    for (level, nthreads) in [(5, 1), (5, 4), (0, 1)] {
        let params = lz4(4, &[SHUFFLE]).blocksize(1000);
        let params = with(params.level(level).threads(nthreads), &maker);
        assert_eq!(compress(&params, &data), Err(Error::FilterPipeline));
    }
}

#[test]
fn disposable_output_makes_a_chunk_of_zeros() {
    let maker = Arc::new(Maker { refuses: Some(2), is_disposable: true, ..Maker::default() });
    for filters in [vec![], vec![DELTA, SHUFFLE], vec![slot(filter::id::TRUNC_PREC, 5), DELTA]] {
        let params = with(lz4(4, &filters).blocksize(1000), &maker);
        let chunk = compress(&params, &noise(3500)).unwrap();
        assert_eq!(chunk.len(), 32);
        assert_eq!(decompress(&chunk, 3500), Ok(vec![0; 3500]));
        assert_eq!(calls(&maker).len(), 4, "each block has been evaluated");
    }
}

#[test]
fn row_c32_the_delta_reference_is_the_prefilter_output() {
    let maker = Arc::new(Maker::default());
    let data = ramp(7776);
    for filters in [
        vec![DELTA],
        vec![DELTA, SHUFFLE],
        vec![BITSHUFFLE, DELTA],
        vec![slot(filter::id::INT_TRUNC, 32), DELTA],
    ] {
        for nthreads in [1, 4] {
            let params = lz4(4, &filters).blocksize(1000).threads(nthreads);
            let chunk = compress(&with(params, &maker), &data).unwrap();
            assert_eq!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
            assert!(decompress(&chunk, data.len()) == Ok(made(&data)));
        }
    }
}

/// The offset of a block, its length, and its item size in bytes.
type Facts = (usize, usize, usize);

/// Transforms blocks like [`Maker`] and records the arguments.
#[derive(Default)]
struct Finisher {
    refuses: Option<usize>,
    calls: Mutex<BTreeMap<usize, Facts>>,
}

impl Postfilter for Finisher {
    fn apply(&self, call: &mut PostfilterCall<'_>) -> Result<(), Refused> {
        assert_eq!(call.input.len(), call.output.len());
        call.output.copy_from_slice(&made(call.input));
        call.scratch.fill(0xFF);
        let facts = (call.offset, call.input.len(), call.typesize);
        let again = self.calls.lock().unwrap().insert(call.nblock, facts);
        assert!(again.is_none(), "block {} was processed twice", call.nblock);
        if self.refuses == Some(call.nblock) {
            return Err(Refused);
        }
        Ok(())
    }
}

fn finish(
    finisher: Finisher,
    nthreads: i16,
    chunk: &[u8],
    nbytes: usize,
) -> (ferroblosc::Result<Vec<u8>>, Vec<(usize, Facts)>) {
    let finisher = Arc::new(finisher);
    let params = DParams::default().threads(nthreads).postfilter(finisher.clone());
    let result = decompress_with(params, chunk, nbytes);
    let calls = std::mem::take(&mut *finisher.calls.lock().unwrap());
    (result, calls.into_iter().collect())
}

#[test]
fn row_c30_delta_uses_the_first_block_before_the_postfilter() {
    let data = ramp(7777);
    for filters in [vec![DELTA], vec![DELTA, SHUFFLE], vec![BITSHUFFLE, DELTA]] {
        let chunk = compress(&lz4(4, &filters).blocksize(1000), &data).unwrap();
        assert_eq!(chunk[at::FLAGS] & flags::MEMCPYED, 0);
        for nthreads in [1, 4] {
            let (found, calls) = finish(Finisher::default(), nthreads, &chunk, data.len());
            assert!(found == Ok(made(&data)));
            assert_eq!(calls.len(), 8);
            let params = DParams::default().postfilter(Arc::new(Finisher::default()));
            let mut dest = vec![0; 4 * 500];
            let read = Decompressor::new(params).getitem(&chunk, 1000, 500, &mut dest);
            assert_eq!(read, Ok(2000));
            assert!(dest == made(&data[4000..6000]));
        }
    }
}

#[test]
fn postfilters_receive_the_offset_of_their_block() {
    let data = mixed(2300);
    let regular = compress(&lz4(4, &[SHUFFLE]).blocksize(1000), &data).unwrap();
    let stored = compress(&lz4(4, &[SHUFFLE]).blocksize(1000).level(0), &data).unwrap();
    for chunk in [regular, stored] {
        for nthreads in [1, 2] {
            let (found, calls) = finish(Finisher::default(), nthreads, &chunk, 2300);
            assert_eq!(found, Ok(made(&data)));
            let expected = [(0, (0, 1000, 4)), (1, (1000, 1000, 4)), (2, (2000, 300, 4))];
            assert_eq!(calls, expected);
        }
    }
}

#[test]
fn postfilters_run_on_special_chunks() {
    let params = lz4(300, &[]).blocksize(600);
    let value: Vec<u8> = (0..300).map(|i| i as u8).collect();
    let mut chunk = vec![0; 400];
    special::repeatval(&params, 1500, &value, &mut chunk).unwrap();
    let (found, calls) = finish(Finisher::default(), 1, &chunk, 1500);
    assert_eq!(found, Ok(made(&value.repeat(5))));
    let expected = [(0, (0, 600, 300)), (1, (600, 600, 300)), (2, (1200, 300, 300))];
    assert_eq!(calls, expected);
    for make in [special::zeros, special::uninit] {
        let mut chunk = [0; 32];
        make(&lz4(4, &[]).blocksize(1000), 2400, &mut chunk).unwrap();
        let (found, calls) = finish(Finisher::default(), 2, &chunk, 2400);
        assert_eq!(found, Ok(made(&[0; 2400])));
        assert_eq!(calls.len(), 3);
    }
    let empty = compress(&lz4(4, &[]), &[]).unwrap();
    assert_eq!(finish(Finisher::default(), 1, &empty, 0), (Ok(vec![]), vec![]));
}

#[test]
fn the_postfilter_is_not_called_for_masked_blocks() {
    let data = mixed(5000);
    for filters in [vec![SHUFFLE], vec![DELTA]] {
        let chunk = compress(&lz4(4, &filters).blocksize(1000), &data).unwrap();
        let finisher = Arc::new(Finisher::default());
        let mut reader = Decompressor::new(DParams::default().postfilter(finisher.clone()));
        reader.set_maskout(vec![true, false, true, true, false]);
        let mut dest = vec![UNTOUCHED; 5000];
        assert_eq!(reader.decompress(&chunk, &mut dest), Ok(5000));
        let called: Vec<_> = finisher.calls.lock().unwrap().keys().copied().collect();
        assert_eq!(called, [1, 4]);
        assert_eq!(dest[1000..2000], made(&data[1000..2000]));
        assert_eq!(dest[..1000], [UNTOUCHED; 1000]);
    }
}

#[test]
fn a_postfilter_that_refuses_fails_the_decompression() {
    let data = mixed(5000);
    for filters in [vec![SHUFFLE], vec![DELTA]] {
        let chunk = compress(&lz4(4, &filters).blocksize(1000), &data).unwrap();
        for block in [0, 3] {
            for nthreads in [1, 3] {
                let refusing = Finisher { refuses: Some(block), ..Finisher::default() };
                let (found, _) = finish(refusing, nthreads, &chunk, 5000);
                assert_eq!(found, Err(Error::Postfilter));
            }
        }
    }
}
