//! BloscLZ: Blosc's own LZ77 format, derived from FastLZ.
//!
//! A stream is a sequence of instructions. The top three bits of the first one are ignored
//! (encoders set bit 5 as a marker), so it is always a literal run:
//!
//! | control byte | meaning |
//! |---|---|
//! | `000nnnnn` | literal run: the next `n + 1` bytes |
//! | `LLLhhhhh`, L = 1…6 | match of `L + 2` bytes |
//! | `111hhhhh` | match of 9 bytes plus the next bytes, through the first below 255 |
//!
//! One byte `d` follows, and the distance is `256·h + d + 1`. If `h` is 31 and `d` is 255, two more
//! bytes follow, and the distance is 8192 plus their big-endian value. A match may overlap its own
//! output. A stream ends after a literal run: a match at the very end is not executed.

mod decode;
mod encode;
mod limits;

use super::{Blosc1Splitting, Blosc1Stream, CodecInfo, Dictionary, StreamCodec, format, id};
use crate::Result;
use encode::Version;

/// The codec's row. A run grows by 255 bytes per byte.
pub(super) const INFO: CodecInfo = CodecInfo {
    title: "BloscLZ",
    library: c"BloscLZ",
    library_version: c"2.5.3",
    blosc1_library_version: c"2.5.1",
    max_split_level: CodecInfo::ALL_LEVELS,
    blosc1_splitting: Blosc1Splitting::Automatic,
    max_expansion: 255,
    has_large_state: false,
    ..CodecInfo::built_in(id::BLOSCLZ, c"blosclz", format::BLOSCLZ, || Box::new(BloscLz::default()))
};

/// The BloscLZ codec with the encoder's hash tables.
#[derive(Default)]
struct BloscLz {
    encoder: encode::Encoder,
}

impl StreamCodec for BloscLz {
    fn encode(
        &mut self,
        level: u8,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encoder.encode(Version::Current, level, src, dest)
    }

    fn encode_blosc1(
        &mut self,
        level: u8,
        Blosc1Stream { split, .. }: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.encoder.encode(Version::Blosc1 { split }, level, src, dest)
    }

    fn decode(
        &mut self,
        _dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        decode::decode(src, dest, len)
    }
}
