//! LZ4 without liblz4.

use super::{acceleration, decode, encode, is_skipped};
use crate::Result;
use crate::codec::{Blosc1Stream, CodecInfo, Dictionary, Shuffled, StreamCodec};

/// The row of the codec.
pub(in crate::codec) const INFO: CodecInfo = super::row(|| Box::new(RustLz4::default()));

/// The codec without liblz4.
#[derive(Default)]
struct RustLz4(encode::Table);

impl StreamCodec for RustLz4 {
    fn encode(
        &mut self,
        level: u8,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        Ok(encode::encode(&mut self.0, acceleration(level), src, dest)?.unwrap_or(0))
    }

    fn encode_shuffled(
        &mut self,
        level: u8,
        shuffled: Shuffled,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        if is_skipped(level, shuffled, src) {
            return Ok(0);
        }
        self.encode(level, None, src, dest)
    }

    fn encode_blosc1(
        &mut self,
        level: u8,
        kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encode_shuffled(level, kind.shuffled, src, dest)
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
