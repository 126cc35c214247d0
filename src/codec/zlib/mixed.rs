//! A stream of RFC 1950 of which the noise is written without matches, and what is all of runs with matches of distance 1.
//!
//! ```text
//! head:2  blocks with matches | blocks of literals or stored | blocks with matches | ...  Adler-32:4
//! ```
//!
//! Each part is a raw deflate stream (RFC 1951). All but the last go on to a whole byte with an
//! empty stored block (`Z_SYNC_FLUSH`). The search begins anew behind noise, with the window before as its dictionary. Noise
//! that no code makes shorter is stored. What lies between noise, or is all of the stream, has no matches but those of distance 1 if it
//! is [of runs](super::runs).

use std::ops::Range;

use super::runs;
use crate::Result;
use crate::codec::noise::{Noise, Run, Search, WINDOW};

/// The head of the stream.
const HEAD: usize = 2;

/// Which matches a stream may have.
pub(super) enum Matches<'a> {
    /// All that are found, in this part of the source before it, too: a window at most.
    Found { window: &'a [u8] },
    /// Those of distance 1.
    Runs,
    /// None.
    None,
}

/// An encoder of raw deflate streams.
pub(super) trait Deflater {
    /// The level, of zlib's.
    fn level(&self) -> u8;

    /// How it searches.
    fn search(&self) -> Search;

    /// Encodes `src` as a stream of its own, up to its end if it is the `last`, or to a whole byte. Returns the length, or `None` if
    /// it doesn't fit into `dest`.
    fn encode(
        &mut self,
        matches: Matches<'_>,
        src: &[u8],
        last: bool,
        dest: &mut [u8],
    ) -> Result<Option<usize>>;
}

/// An encoder and all else that streams need, reset for each.
pub(super) struct Encoder<D> {
    deflater: D,
    noise: Noise,
    seen: Option<Box<runs::Seen>>,
}

impl<D: Deflater> Encoder<D> {
    pub(super) fn new(deflater: D) -> Encoder<D> {
        Encoder {
            deflater,
            noise: Noise::default(),
            seen: None,
        }
    }

    pub(super) fn level(&self) -> u8 {
        self.deflater.level()
    }

    /// Encodes `src` into `dest`; returns the length of the result, or 0 if it doesn't fit.
    pub(super) fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let Some((start, rest)) = dest.split_first_chunk_mut() else {
            return Ok(0);
        };
        *start = head(self.deflater.level());
        // With the room for the checksum, as deflate doesn't say that a stream is whole that leaves none.
        let Some(len) = self.encode_raw(src, rest)? else {
            return Ok(0);
        };
        let Some(end) = rest[len..].first_chunk_mut() else {
            return Ok(0);
        };
        *end = zlib_rs::adler32::adler32(1, src).to_be_bytes();
        Ok(HEAD + len + end.len())
    }

    /// The stream without its head and its checksum.
    fn encode_raw(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>> {
        let deflater = &mut self.deflater;
        let search = deflater.search();
        let found = self.noise.find(src, search);
        let is_last = |bytes: &Range<usize>| bytes.end == src.len();
        let mut with_matches = |deflater: &mut D, bytes: Range<usize>, dest: &mut [u8]| {
            let (here, last) = (&src[bytes.clone()], is_last(&bytes));
            // At the lowest level a search takes no longer.
            let matches = if search != Search::Quick && runs::are_all(here, &mut self.seen) {
                Matches::Runs
            } else {
                let window = window(src, bytes.start);
                Matches::Found { window }
            };
            deflater.encode(matches, here, last, dest)
        };
        let (mut done, mut len) = (0, 0);
        for Run { bytes, flat } in found {
            if done < bytes.start {
                let before = done..bytes.start;
                let Some(more) = with_matches(deflater, before, &mut dest[len..])? else {
                    return Ok(None);
                };
                len += more;
            }
            let (noise, last) = (&src[bytes.clone()], is_last(bytes));
            let written = if *flat {
                store(noise, last, &mut dest[len..])
            } else {
                deflater.encode(Matches::None, noise, last, &mut dest[len..])?
            };
            let Some(more) = written else {
                return Ok(None);
            };
            len += more;
            done = bytes.end;
        }
        if done < src.len() || src.is_empty() {
            let Some(more) = with_matches(deflater, done..src.len(), &mut dest[len..])? else {
                return Ok(None);
            };
            len += more;
        }
        Ok(Some(len))
    }
}

/// Writes `src` in stored blocks; returns their length, or `None` if they don't fit into `dest`.
///
/// ```text
/// 1 for the last block of the stream, or 0:1  length:2  the same with all bits turned:2  bytes
/// ```
fn store(src: &[u8], last: bool, dest: &mut [u8]) -> Option<usize> {
    const BLOCK_HEAD: usize = 5;
    let blocks = src.chunks(usize::from(u16::MAX));
    let count = blocks.len();
    let mut written = 0;
    for (index, block) in blocks.enumerate() {
        let room = dest.get_mut(written..written + BLOCK_HEAD + block.len())?;
        let len = block.len() as u16;
        room[0] = u8::from(last && index + 1 == count);
        room[1..3].copy_from_slice(&len.to_le_bytes());
        room[3..BLOCK_HEAD].copy_from_slice(&(!len).to_le_bytes());
        room[BLOCK_HEAD..].copy_from_slice(block);
        written += BLOCK_HEAD + block.len();
    }
    Some(written)
}

/// What matches from `at` on may refer to.
fn window(src: &[u8], at: usize) -> &[u8] {
    &src[at.saturating_sub(WINDOW)..at]
}

/// The head of a stream: deflate, a window of 32 KiB, and which effort was made.
fn head(level: u8) -> [u8; HEAD] {
    const METHOD: u16 = 0x7800;
    let effort = match level {
        0 | 1 => 0,
        2..=5 => 1,
        6 => 2,
        _ => 3,
    };
    let head = METHOD | effort << 6;
    (head + 31 - head % 31).to_be_bytes()
}
