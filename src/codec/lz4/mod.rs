//! LZ4 and LZ4HC: two encoders for one format, the raw LZ4 block (no frame, no size prefix).
//!
//! A block is a list of sequences: a token with two 4-bit lengths, literals, and a match with a
//! 2-byte distance. Both encoders are liblz4's. Their states are reused between calls; the
//! output is that of a new state. The fast encoder is skipped for incompressible planes. The
//! decoder is our own, except for blocks with a dictionary, which liblz4 decodes without a copy of
//! the window. Builds without liblz4 have only the decoder, for all blocks.

mod decode;
#[cfg(feature = "lz4")]
mod liblz4;

#[cfg(feature = "lz4")]
pub(super) use liblz4::{INFO, INFO_HC, Lz4};

use super::{CodecInfo, Dictionary, StreamCodec, format, id};
use crate::{Error, Result};

/// The row of a build without encoders.
#[cfg(not(feature = "lz4"))]
pub(super) const INFO: CodecInfo = COMMON;

/// The properties that both encoders share. A run grows by 255 bytes per byte.
const COMMON: CodecInfo = CodecInfo {
    title: "LZ4",
    library: c"LZ4",
    library_version: c"1.10.0",
    blosc1_library_version: c"1.10.0",
    can_encode: false,
    max_expansion: 255,
    ..CodecInfo::built_in(id::LZ4, c"lz4", format::LZ4, || Box::new(Decoder))
};

/// The codec without encoders.
struct Decoder;

impl StreamCodec for Decoder {
    fn encode(&mut self, _: u8, _: Option<&Dictionary>, _: &[u8], _: &mut [u8]) -> Result<usize> {
        Err(Error::CodecSupport)
    }

    fn decode(
        &mut self,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        match dict {
            Some(dict) => decode::decode_after(dict.bytes(), src, &mut dest[..len]),
            None => decode::decode(src, dest, len),
        }
    }
}
