//! Zlib: streams of RFC 1950, window 15, the chunk's level as zlib's.

mod mixed;
mod plain;
mod raw;
mod runs;
#[cfg(test)]
mod tests;

use std::ffi::c_int;

use zlib_rs::{Inflate, InflateFlush, Status};

use self::mixed::{Deflater, Encoder};
use self::raw::Raw;
use super::{Blosc1Stream, Dictionary, StreamCodec};
use crate::{Error, Result};

/// The window of both directions, as a power of two.
const WINDOW_BITS: u8 = 15;

/// How much memory an encoder takes, as zlib's own default says.
const MEMORY_LEVEL: c_int = 8;

/// The states, reset for each stream: about 300 KiB for an encoder, as much again for zlib's once it met something that is not
/// searched; 40 KiB for decoding.
#[derive(Default)]
pub(super) struct Zlib {
    encoder: Option<Encoder<Raw>>,
    inflate: Option<Inflate>,
    plain: Option<Encoder<plain::Deflate>>,
}

impl StreamCodec for Zlib {
    fn encode(
        &mut self,
        level: u8,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encoder_at(level)?.encode(src, dest)
    }

    fn encode_blosc1(
        &mut self,
        level: u8,
        _kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.plain_at(level)?.encode(src, dest)
    }

    /// Bytes behind the end of the stream are ignored.
    fn decode(
        &mut self,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        let dest = &mut dest[..len];
        let inflate = self
            .inflate
            .get_or_insert_with(|| Inflate::new(true, WINDOW_BITS));
        inflate.reset(true);
        match inflate.decompress(src, dest, InflateFlush::Finish) {
            Ok(Status::StreamEnd) => Ok(inflate.total_out() as usize),
            _ => Err(Error::Data),
        }
    }
}

impl Zlib {
    /// The state of this level of zlib's own encoder.
    fn plain_at(&mut self, level: u8) -> Result<&mut Encoder<plain::Deflate>> {
        at_level(&mut self.plain, level, plain::Deflate::new)
    }

    /// The state of this level of our encoder.
    fn encoder_at(&mut self, level: u8) -> Result<&mut Encoder<Raw>> {
        at_level(&mut self.encoder, level, Raw::new)
    }
}

/// The encoder that is kept, or one that is made if it is of another level.
fn at_level<D: Deflater>(
    kept: &mut Option<Encoder<D>>,
    level: u8,
    make: impl FnOnce(u8) -> Result<D>,
) -> Result<&mut Encoder<D>> {
    drop(kept.take_if(|kept| kept.level() != level));
    match kept {
        Some(encoder) => Ok(encoder),
        none => Ok(none.insert(Encoder::new(make(level)?))),
    }
}

/// Writes `src` as one stream of zlib's own making; returns its length, or 0 when it doesn't fit into `dest`.
pub(crate) fn stream(level: u8, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    Encoder::new(plain::Deflate::new(level)?).encode(src, dest)
}
