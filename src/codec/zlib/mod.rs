//! Zlib: streams of RFC 1950, window 15, the chunk's level as zlib's.

mod plain;

use zlib_rs::{Deflate, DeflateFlush, Inflate, InflateFlush, Status};

use super::{Dictionary, StreamCodec};
use crate::{Error, Result};

/// The window of both directions, as a power of two.
const WINDOW_BITS: u8 = 15;

/// The states, about 300 KiB for encoding and 40 KiB for decoding, reset for each stream.
#[derive(Default)]
pub(super) struct Zlib {
    deflate: Option<(u8, Deflate)>,
    inflate: Option<Inflate>,
    plain: Option<plain::Deflate>,
}

impl StreamCodec for Zlib {
    fn encode(
        &mut self,
        level: u8,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let deflate = self.deflate_at(level);
        match deflate.compress(src, dest, DeflateFlush::Finish) {
            Ok(Status::StreamEnd) => Ok(deflate.total_out() as usize),
            Ok(Status::Ok | Status::BufError) => {
                drain(deflate);
                Ok(0)
            }
            Err(_) => Err(Error::Data),
        }
    }

    fn encode_blosc1(
        &mut self,
        level: u8,
        _split: bool,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.plain_at(level)?.encode(src, dest)
    }

    /// Bytes behind the end of the stream are ignored.
    fn decode(&mut self, _dict: Option<&Dictionary>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
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
    fn plain_at(&mut self, level: u8) -> Result<&mut plain::Deflate> {
        if self
            .plain
            .as_ref()
            .is_some_and(|kept| kept.level() != level)
        {
            self.plain = None;
        }
        match &mut self.plain {
            Some(plain) => Ok(plain),
            none => Ok(none.insert(plain::Deflate::new(level)?)),
        }
    }

    /// A fresh encoder state of this level.
    fn deflate_at(&mut self, level: u8) -> &mut Deflate {
        if self.deflate.as_ref().is_some_and(|kept| kept.0 != level) {
            self.deflate = None;
        }
        let (_, deflate) = self
            .deflate
            .get_or_insert_with(|| (level, Deflate::new(level.into(), true, WINDOW_BITS)));
        deflate.reset();
        deflate
    }
}

/// Brings a stream that didn't fit to its end. zlib-rs 0.6.8 keeps some of its state through a reset: at level 1 the next
/// stream would lack the head of its first block.
fn drain(deflate: &mut Deflate) {
    let mut rest = [0; 4096];
    while let Ok(Status::Ok) = deflate.compress(&[], &mut rest, DeflateFlush::Finish) {}
}

/// Writes `src` as one stream of zlib's own making; returns its length, or 0 when it doesn't fit into `dest`.
pub(crate) fn stream(level: u8, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    plain::Deflate::new(level)?.encode(src, dest)
}
