//! Streams of RFC 1950 in segments: incompressible regions have no matches, and runs only matches
//! of distance 1.
//!
//! ```text
//! header:2  with matches | literals or stored | with matches | ...  Adler-32:4
//! ```
//!
//! Each segment is a raw deflate stream (RFC 1951). All but the last end with an empty stored block
//! (`Z_SYNC_FLUSH`), which pads them to a whole byte. After an incompressible region the search
//! restarts with the preceding window as its dictionary. Uniform regions are stored. Other segments
//! use only matches of distance 1 if they [consist of runs](super::runs).

use std::ffi::c_int;
use std::ops::Range;

use super::runs;
use crate::codec::incompressible::{Region, Scanner, Search, WINDOW};
use crate::{Result, kernels};

/// The base-2 logarithm of the window size, for encoding and decoding.
pub(super) const WINDOW_BITS: u8 = 15;

/// Zlib's default `memLevel`.
pub(super) const MEMORY_LEVEL: c_int = 8;

const HEADER_LEN: usize = 2;

/// The matches that a segment may use.
pub(super) enum Matches<'a> {
    /// All matches, also into `window`, the source before the segment.
    Found {
        window: &'a [u8],
    },
    /// Matches of distance 1.
    Runs,
    None,
}

/// An encoder of raw deflate streams.
pub(super) trait Deflater {
    /// Returns the zlib level.
    fn level(&self) -> u8;

    /// Returns the kind of its match search.
    fn search(&self) -> Search;

    /// Encodes `src` as a raw deflate stream, which ends the whole stream if `last` is set, and
    /// otherwise ends at a byte boundary. Returns its length, or `None` if it does not fit into
    /// `dest`.
    fn encode(
        &mut self,
        matches: Matches<'_>,
        src: &[u8],
        last: bool,
        dest: &mut [u8],
    ) -> Result<Option<usize>>;
}

/// An encoder with all tables that streams need, reset for each.
pub(super) struct Encoder<D> {
    deflater: D,
    scanner: Scanner,
    seen_runs: Option<Box<runs::SeenRuns>>,
}

impl<D: Deflater> Encoder<D> {
    pub(super) fn new(deflater: D) -> Encoder<D> {
        Encoder { deflater, scanner: Scanner::default(), seen_runs: None }
    }

    pub(super) fn level(&self) -> u8 {
        self.deflater.level()
    }

    /// Encodes `src` into `dest`; returns the length of the result, or 0 if it does not fit.
    pub(super) fn encode(&mut self, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let Some((start, rest)) = dest.split_first_chunk_mut() else {
            return Ok(0);
        };
        *start = header(self.deflater.level());
        // Includes the space for the checksum: deflate reports the end of a stream only if output
        // space remains.
        let Some(len) = self.encode_raw(src, rest)? else {
            return Ok(0);
        };
        let Some(end) = rest[len..].first_chunk_mut() else {
            return Ok(0);
        };
        *end = zlib_rs::adler32::adler32(1, src).to_be_bytes();
        Ok(HEADER_LEN + len + end.len())
    }

    /// Encodes the stream without its header and checksum.
    fn encode_raw(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<usize>> {
        let deflater = &mut self.deflater;
        let search = deflater.search();
        let regions = self.scanner.scan(src, search);
        let is_last = |bytes: &Range<usize>| bytes.end == src.len();
        let mut with_matches = |deflater: &mut D, bytes: Range<usize>, dest: &mut [u8]| {
            let (here, last) = (&src[bytes.clone()], is_last(&bytes));
            // At the lowest level a search is as fast.
            let matches = if search != Search::Fast && runs::detect_rle(here, &mut self.seen_runs) {
                Matches::Runs
            } else {
                let window = window(src, bytes.start);
                Matches::Found { window }
            };
            deflater.encode(matches, here, last, dest)
        };
        let (mut done, mut len) = (0, 0);
        for Region { bytes, uniform } in regions {
            if done < bytes.start {
                let before = done..bytes.start;
                let Some(more) = with_matches(deflater, before, &mut dest[len..])? else {
                    return Ok(None);
                };
                len += more;
            }
            let (region, last) = (&src[bytes.clone()], is_last(bytes));
            let written = if *uniform {
                store(region, last, &mut dest[len..])
            } else {
                deflater.encode(Matches::None, region, last, &mut dest[len..])?
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

/// Writes `src` in stored blocks; returns their length, or `None` if they do not fit into `dest`.
///
/// ```text
/// 1 for the last block of the stream, or 0:1  length:2  complement of the length:2  bytes
/// ```
fn store(src: &[u8], last: bool, dest: &mut [u8]) -> Option<usize> {
    const BLOCK_HEADER_LEN: usize = 5;
    let blocks = src.chunks(usize::from(u16::MAX));
    let count = blocks.len();
    let mut written = 0;
    for (index, block) in blocks.enumerate() {
        let out = dest.get_mut(written..written + BLOCK_HEADER_LEN + block.len())?;
        let len = block.len() as u16;
        out[0] = u8::from(last && index + 1 == count);
        out[1..3].copy_from_slice(&len.to_le_bytes());
        out[3..BLOCK_HEADER_LEN].copy_from_slice(&(!len).to_le_bytes());
        kernels::copy::copy(block, &mut out[BLOCK_HEADER_LEN..]);
        written += BLOCK_HEADER_LEN + block.len();
    }
    Some(written)
}

/// Returns the bytes that matches from `at` may refer to.
fn window(src: &[u8], at: usize) -> &[u8] {
    &src[at.saturating_sub(WINDOW)..at]
}

/// Returns the header of a stream: deflate, a window of 32 KiB, and the compression effort.
fn header(level: u8) -> [u8; HEADER_LEN] {
    const METHOD: u16 = 0x7800;
    let effort = match level {
        0 | 1 => 0,
        2..=5 => 1,
        6 => 2,
        _ => 3,
    };
    let header = METHOD | effort << 6;
    (header + 31 - header % 31).to_be_bytes()
}
