//! Zlib: streams of RFC 1950 with a 32 KiB window; the chunk's level is also the level of zlib.
//!
//! zlib-rs encodes the streams of Blosc2. The C library encodes those of Blosc 1.x, which are larger
//! in builds without it. All streams are decoded by a decoder for whole buffers (`inflate/`).

#[cfg(feature = "zlib")]
mod c_zlib;
mod inflate;
mod runs;
mod segmented;
#[cfg(all(test, feature = "zlib"))]
mod tests;
mod zlib_rs;

#[cfg(feature = "zlib")]
use self::c_zlib::CZlib;
use self::inflate::Inflater;
use self::segmented::{Deflater, Encoder};
use self::zlib_rs::ZlibRs;
use super::{Blosc1Stream, CodecInfo, Dictionary, StreamCodec, format, get_or_try_make, id};
use crate::Result;

/// The codec's row. A match encodes 258 bytes in 2 bits.
pub(super) const INFO: CodecInfo = CodecInfo {
    title: "Zlib",
    library: c"Zlib",
    library_version: c"2.3.3",
    blosc1_library_version: c"1.3.2",
    has_large_blocks: true,
    max_expansion: 1032,
    ..CodecInfo::built_in(id::ZLIB, c"zlib", format::ZLIB, || Box::new(Zlib::default()))
};

/// The states, reset for each stream. An encoder uses about 300 KiB, and the encoder of zlib
/// another 300 KiB after its first incompressible region; the decoder uses 11 KiB.
#[derive(Default)]
struct Zlib {
    zlib_rs: Option<Encoder<ZlibRs>>,
    inflater: Option<Box<Inflater>>,
    #[cfg(feature = "zlib")]
    c_zlib: Option<Encoder<CZlib>>,
}

impl StreamCodec for Zlib {
    fn encode(
        &mut self,
        level: u8,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.zlib_rs_at(level)?.encode(src, dest)
    }

    #[cfg(feature = "zlib")]
    fn encode_blosc1(
        &mut self,
        level: u8,
        _kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.c_zlib_at(level)?.encode(src, dest)
    }

    /// Ignores bytes after the end of the stream.
    fn decode(
        &mut self,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        let inflater = self.inflater.get_or_insert_with(|| Box::new(Inflater::new()));
        inflater.decode(src, dest, len)
    }
}

impl Zlib {
    #[cfg(feature = "zlib")]
    fn c_zlib_at(&mut self, level: u8) -> Result<&mut Encoder<CZlib>> {
        at_level(&mut self.c_zlib, level, CZlib::new)
    }

    fn zlib_rs_at(&mut self, level: u8) -> Result<&mut Encoder<ZlibRs>> {
        at_level(&mut self.zlib_rs, level, ZlibRs::new)
    }
}

/// Returns the cached encoder for this level. Creates it, or replaces one of another level, if
/// necessary.
fn at_level<D: Deflater>(
    cached: &mut Option<Encoder<D>>,
    level: u8,
    make: impl FnOnce(u8) -> Result<D>,
) -> Result<&mut Encoder<D>> {
    drop(cached.take_if(|cached| cached.level() != level));
    get_or_try_make(cached, || make(level).map(Encoder::new))
}

/// Encodes `src` as one stream with zlib; returns its length, or 0 if it does not fit into `dest`.
#[cfg(feature = "zlib")]
pub fn stream(level: u8, src: &[u8], dest: &mut [u8]) -> Result<usize> {
    Encoder::new(CZlib::new(level)?).encode(src, dest)
}
