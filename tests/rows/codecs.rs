//! User codecs, and the handling of their results.

use std::sync::Arc;

use ferroblosc::chunk::CParams;
use ferroblosc::codec::{self, Codec, CodecCall};
use ferroblosc::{Error, Result};

use crate::common::*;

/// Stores every second byte, since the others are equal, or returns a fixed result.
struct Halves {
    encodes: Option<Result<usize>>,
    decodes: Option<Result<usize>>,
}

impl Codec for Halves {
    fn encode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        assert_eq!((call.level, call.meta), (5, 9));
        assert!(dest.len() <= src.len());
        let Some(half) = dest.get_mut(..src.len() / 2) else {
            return Ok(0);
        };
        for (to, pair) in half.iter_mut().zip(src.chunks(2)) {
            *to = pair[0];
        }
        self.encodes.clone().unwrap_or(Ok(src.len() / 2))
    }

    fn decode(&self, call: &CodecCall<'_>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        assert_eq!((call.level, call.meta), (0, 9));
        for (pair, byte) in dest.chunks_mut(2).zip(src) {
            pair.fill(*byte);
        }
        self.decodes.clone().unwrap_or(Ok(dest.len()))
    }
}

fn register(id: u8, encodes: Option<Result<usize>>, decodes: Option<Result<usize>>) -> CParams {
    let halves = Halves { encodes, decodes };
    codec::register_entry(id, c"halves", id, 3, Some(Arc::new(halves))).unwrap();
    let mut params = lz4(2, &[]).codec(id).blocksize(1000);
    params.compcode_meta = 9;
    params
}

fn pairs(len: usize) -> Vec<u8> {
    noise(len / 2).into_iter().flat_map(|byte| [byte; 2]).collect()
}

#[test]
fn a_user_codec_encodes_and_decodes_streams() {
    let params = register(210, None, None);
    for nthreads in [1, 3] {
        let data = pairs(10_300);
        let chunk = round_trip(&params.clone().threads(nthreads), &data);
        assert_eq!(chunk.len(), 32 + 11 * 8 + 10_300 / 2);
        assert_eq!(chunk[at::FLAGS] >> 5, 6);
        assert_eq!((chunk[1], chunk[at::UDCODEC]), (3, 210));
        assert_eq!(getitem(&chunk, 499, 2, 4).as_deref(), Ok(&data[998..1002]));
    }
}

#[test]
fn the_results_of_a_user_encoder_are_checked() {
    for (id, answer, expected) in [
        (211, Err(Error::Failure), Error::Data),
        (212, Err(Error::from_code(-100)), Error::Data),
        (213, Ok(1001), Error::WriteBuffer),
        (214, Err(Error::CodecSupport), Error::CodecSupport),
        (215, Err(Error::MemoryAlloc), Error::MemoryAlloc),
    ] {
        let params = register(id, Some(answer), None);
        assert_eq!(compress(&params, &pairs(3000)), Err(expected));
    }
    // Both results mean that the block is not compressed.
    for (id, answer) in [(216, 0), (217, 1000)] {
        let params = register(id, Some(Ok(answer)), None);
        let chunk = compress_into(&params, &pairs(3000), 4000).unwrap();
        assert_eq!(chunk.len(), 32 + 3 * (8 + 1000));
        assert_eq!(decompress(&chunk, 3000), Ok(pairs(3000)));
    }
}

#[test]
fn the_results_of_a_user_decoder_are_checked() {
    for (id, answer, expected) in [
        (220, Err(Error::Failure), Error::Data),
        (221, Ok(0), Error::Data),
        (222, Ok(999), Error::Data),
        (223, Ok(1001), Error::Data),
        (224, Err(Error::CodecSupport), Error::CodecSupport),
        (225, Err(Error::MemoryAlloc), Error::MemoryAlloc),
    ] {
        let params = register(id, None, Some(answer));
        let chunk = compress(&params, &pairs(3000)).unwrap();
        assert_eq!(decompress(&chunk, 3000), Err(expected.clone()));
        assert_eq!(getitem(&chunk, 10, 5, 10), Err(expected));
    }
}

#[test]
fn row_c62_a_codec_known_by_name_only_is_not_supported() {
    codec::register_entry(230, c"a name", 230, 1, None).unwrap();
    let params = lz4(2, &[]).codec(230);
    assert_eq!(compress(&params, &pairs(3000)), Err(Error::CodecSupport));
    round_trip(&params, &[7; 3000]);
    let chunk = compress(&register(231, None, None), &pairs(3000)).unwrap();
    for unknown in [230, 232, codec::id::GROK, 41] {
        let chunk = with_byte(&chunk, at::UDCODEC, unknown);
        assert_eq!(decompress(&chunk, 3000), Err(Error::CodecSupport));
    }
}
