//! Zlib: streams of RFC 1950, window 15, the chunk's level as zlib's.

mod mixed;
mod plain;
mod runs;
#[cfg(test)]
mod tests;

use zlib_rs::{Inflate, InflateFlush, Status};

use self::mixed::{Encoder, Raw};
use super::{Blosc1Stream, Dictionary, StreamCodec};
use crate::{Error, Result};

/// The window of both directions, as a power of two.
const WINDOW_BITS: u8 = 15;

/// The states, reset for each stream: about 300 KiB for an encoder, as much again once it met noise that is not stored, and once it met
/// a stream of runs; 40 KiB for decoding.
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
        self.encoder_at(level).encode(src, dest)
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
        if self
            .plain
            .as_ref()
            .is_some_and(|kept| kept.level() != level)
        {
            self.plain = None;
        }
        match &mut self.plain {
            Some(plain) => Ok(plain),
            none => Ok(none.insert(Encoder::new(plain::Deflate::new(level)?))),
        }
    }

    /// The state of this level of our encoder.
    fn encoder_at(&mut self, level: u8) -> &mut Encoder<Raw> {
        if self
            .encoder
            .as_ref()
            .is_some_and(|kept| kept.level() != level)
        {
            self.encoder = None;
        }
        self.encoder
            .get_or_insert_with(|| Encoder::new(Raw::new(level)))
    }
}

/// Writes `src` as one stream of zlib's own making; returns its length, or 0 when it doesn't fit into `dest`.
pub(crate) fn stream(level: u8, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    Encoder::new(plain::Deflate::new(level)?).encode(src, dest)
}
