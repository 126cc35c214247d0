//! A stream of RFC 1950 of which the noise is written without matches, and what is all of runs with matches of distance 1.
//!
//! ```text
//! head:2  blocks with matches | blocks of literals or stored | blocks with matches | ...  Adler-32:4
//! ```
//!
//! Encoders of raw deflate streams (RFC 1951) take turns. Where one leaves off, it goes on to a whole byte with an
//! empty stored block (`Z_SYNC_FLUSH`). The search begins anew behind noise, with the window before as its dictionary. Noise
//! that no code makes shorter is stored. What lies between noise, or is all of the stream, has no matches but those of distance 1 if it
//! is [of runs](super::runs).

use std::ops::Range;

use zlib_rs::{Deflate, DeflateConfig, DeflateFlush, Status, Strategy};

use super::{WINDOW_BITS, runs};
use crate::codec::noise::{Noise, Run, Search, WINDOW};
use crate::{Error, Result};

/// The head of the stream.
const HEAD: usize = 2;

/// An encoder of raw deflate streams that searches for matches.
pub(super) trait Deflater {
    /// The level, of zlib's.
    fn level(&self) -> u8;

    /// How it searches.
    fn search(&self) -> Search;

    /// Begins a new stream whose matches may lie in `dictionary`, a window at most.
    fn begin(&mut self, dictionary: &[u8]) -> Result<()>;

    /// Encodes `src`, up to the end of the stream if it is the `last` of it, or to a whole byte. Returns the length, or `None` if
    /// it doesn't fit into `dest`; then the stream can't go on.
    fn append(&mut self, src: &[u8], last: bool, dest: &mut [u8]) -> Result<Option<usize>>;
}

/// An encoder and all else that streams need, reset for each.
pub(super) struct Encoder<D> {
    deflater: D,
    /// `None` until there is noise.
    literals: Option<Raw>,
    noise: Noise,
    /// `None` until there are runs.
    repeater: Option<Raw>,
    seen: Option<Box<runs::Seen>>,
}

impl<D: Deflater> Encoder<D> {
    pub(super) fn new(deflater: D) -> Encoder<D> {
        Encoder {
            deflater,
            literals: None,
            noise: Noise::default(),
            repeater: None,
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
        let found = self.noise.find(src, deflater.search());
        let is_last = |bytes: &Range<usize>| bytes.end == src.len();
        let mut with_matches = |bytes: Range<usize>, dest: &mut [u8]| {
            let (here, last) = (&src[bytes.clone()], is_last(&bytes));
            // At the lowest level a search takes no longer.
            if deflater.search() != Search::Quick && runs::are_all(here, &mut self.seen) {
                let repeater = self.repeater.get_or_insert_with(Raw::repeater);
                repeater.begin(&[])?;
                return repeater.append(here, last, dest);
            }
            deflater.begin(window(src, bytes.start))?;
            deflater.append(here, last, dest)
        };
        let (mut done, mut len) = (0, 0);
        for Run { bytes, flat } in found {
            if done < bytes.start {
                let Some(more) = with_matches(done..bytes.start, &mut dest[len..])? else {
                    return Ok(None);
                };
                len += more;
            }
            let (noise, last) = (&src[bytes.clone()], is_last(bytes));
            let written = if *flat {
                store(noise, last, &mut dest[len..])
            } else {
                let literals = self.literals.get_or_insert_with(Raw::literals);
                literals.begin(&[])?;
                literals.append(noise, last, &mut dest[len..])?
            };
            let Some(more) = written else {
                return Ok(None);
            };
            len += more;
            done = bytes.end;
        }
        if done < src.len() || src.is_empty() {
            let Some(more) = with_matches(done..src.len(), &mut dest[len..])? else {
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

/// zlib-rs's encoder, for streams without head and checksum.
pub(super) struct Raw {
    deflate: Deflate,
    level: u8,
}

impl Raw {
    /// One that searches.
    pub(super) fn new(level: u8) -> Raw {
        Raw::with(DeflateConfig::new(level.into()))
    }

    /// One that writes no matches, each block of which has 8 Ki literals instead of the usual 16: bytes change on the way.
    fn literals() -> Raw {
        const ANY_LEVEL: u8 = 1;
        const SHORT_BLOCKS: i32 = 7;
        let mut config = DeflateConfig::new(ANY_LEVEL.into());
        config.strategy = Strategy::HuffmanOnly;
        config.mem_level = SHORT_BLOCKS;
        Raw::with(config)
    }

    /// One that finds no matches but those of the byte before.
    fn repeater() -> Raw {
        Raw::with(DeflateConfig {
            strategy: Strategy::Rle,
            ..DeflateConfig::default()
        })
    }

    fn with(config: DeflateConfig) -> Raw {
        let deflate = Deflate::new_with_config(DeflateConfig {
            window_bits: -i32::from(WINDOW_BITS),
            ..config
        });
        let level = config.level as u8;
        Raw { deflate, level }
    }

    /// Brings a stream that didn't fit to its end. zlib-rs 0.6.8 keeps some of its state through a reset: at level 1 the next
    /// stream would lack the head of its first block.
    fn drain(&mut self) {
        let mut rest = [0; 4096];
        while let Ok(Status::Ok) = self.deflate.compress(&[], &mut rest, DeflateFlush::Finish) {}
    }
}

impl Deflater for Raw {
    fn level(&self) -> u8 {
        self.level
    }

    fn search(&self) -> Search {
        match self.level {
            0 | 1 => Search::Quick,
            2..=8 => Search::Fours,
            _ => Search::Threes,
        }
    }

    fn begin(&mut self, dictionary: &[u8]) -> Result<()> {
        self.deflate.reset();
        if dictionary.is_empty() {
            return Ok(());
        }
        let checksum = self.deflate.set_dictionary(dictionary);
        checksum.map(|_| ()).map_err(|_| Error::Data)
    }

    fn append(&mut self, src: &[u8], last: bool, dest: &mut [u8]) -> Result<Option<usize>> {
        let (flush, done) = if last {
            (DeflateFlush::Finish, Status::StreamEnd)
        } else {
            (DeflateFlush::SyncFlush, Status::Ok)
        };
        let status = self
            .deflate
            .compress(src, dest, flush)
            .map_err(|_| Error::Data)?;
        let len = self.deflate.total_out() as usize;
        // A flush that fills all the room may have more to say.
        if status == done && (last || len < dest.len()) {
            return Ok(Some(len));
        }
        self.drain();
        Ok(None)
    }
}
