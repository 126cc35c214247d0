//! LZ4 and LZ4HC: two encoders for one format, the raw LZ4 block (no frame, no size prefix).
//!
//! A block is a list of sequences: a token with two 4-bit lengths, literals, and a match with a
//! 2-byte distance. Both encoders are liblz4's. Their states are reused between calls; the
//! output is that of a new state. The fast encoder is skipped for incompressible planes. The
//! decoder is our own, except for blocks with a dictionary, which liblz4 decodes without a copy of
//! the window. Builds without liblz4 have our fast encoder with the same output, without
//! dictionaries, and our decoder for all blocks.

mod decode;
mod encode;
#[cfg(feature = "lz4")]
mod liblz4;
#[cfg(not(feature = "lz4"))]
mod pure;
mod sample;

#[cfg(feature = "lz4")]
pub(super) use liblz4::{INFO, INFO_HC, Lz4};
#[cfg(not(feature = "lz4"))]
pub(super) use pure::INFO;

use super::{CodecInfo, Shuffled, StreamCodec, format, id};

/// Returns the row of the fast encoder without dictionaries. A run grows by 255 bytes per byte.
const fn row(make: fn() -> Box<dyn StreamCodec>) -> CodecInfo {
    CodecInfo {
        title: "LZ4",
        library: c"LZ4",
        library_version: c"1.10.0",
        blosc1_library_version: c"1.10.0",
        max_split_level: CodecInfo::ALL_LEVELS,
        has_large_state: false,
        max_expansion: 255,
        ..CodecInfo::built_in(id::LZ4, c"lz4", format::LZ4, make)
    }
}

/// Returns LZ4's acceleration at a chunk level: the initial step between searched positions, in
/// bytes.
fn acceleration(level: u8) -> u16 {
    10 - u16::from(level.min(9))
}

/// Returns the length of the longest run of literals in a valid block.
#[cfg(feature = "zstd")]
pub(super) fn longest_literals(mut block: &[u8]) -> usize {
    let mut longest = 0;
    while let Some((&token, rest)) = block.split_first() {
        block = rest;
        let literals = length(token >> 4, &mut block);
        longest = longest.max(literals);
        // The distance of a match, which the last sequence lacks.
        block = block.get(literals + 2..).unwrap_or_default();
        length(token & 15, &mut block);
    }
    longest
}

/// Returns a length that starts with these four bits, and removes its other bytes from `block`.
#[cfg(feature = "zstd")]
fn length(nibble: u8, block: &mut &[u8]) -> usize {
    let mut len = usize::from(nibble);
    if nibble == 15 {
        while let Some((&more, rest)) = block.split_first() {
            *block = rest;
            len += usize::from(more);
            if more < 255 {
                break;
            }
        }
    }
    len
}

/// Whether the fast encoder is skipped for a stream, which is then stored raw. Chunks do not depend
/// on the build, because both encoders ask this.
fn is_skipped(level: u8, shuffled: Shuffled, src: &[u8]) -> bool {
    shuffled == Shuffled::Bytes && sample::is_futile(src, acceleration(level))
}

#[cfg(all(test, feature = "zstd"))]
mod tests {
    use super::*;
    use crate::codec::incompressible::tests::noise;

    #[test]
    fn the_longest_run_of_literals_is_found() {
        for literals in [0, 1, 14, 15, 16, 269, 270, 271, 5000] {
            let src = [vec![7; 2000], noise(1, 256, literals), vec![9; 2000]].concat();
            let mut dest = vec![0; 2 * src.len()];
            let len = Lz4::default().encode(9, None, &src, &mut dest).expect("encodes");
            let longest = longest_literals(&dest[..len]);
            // The last five bytes of a block are literals. After many literals the search skips
            // positions, so a run may begin with literals.
            let expected = literals.max(5)..=literals + literals / 64 + 8;
            assert!(expected.contains(&longest), "{literals}: {longest}");
        }
        assert_eq!(longest_literals(&[]), 0);
    }
}
