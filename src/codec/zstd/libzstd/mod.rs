//! The C library: whole frames, with contexts reused between calls.
//!
//! Decoding is one-shot, directly into the destination, so a frame's window needs no memory,
//! whatever size the frame declares.

mod context;
mod dict;
mod segmented;
#[cfg(test)]
mod tests;

use zstd_sys::{ZSTD_cParameter, ZSTD_maxCLevel, ZSTD_strategy};

use self::context::Decoder;
pub(super) use self::context::Encoder;
use self::dict::{DecoderDict, EncoderDict};
use crate::codec::incompressible::{self, Region, Scanner};
use crate::codec::lz4::Lz4;
use crate::codec::{Blosc1Stream, CodecInfo, Dictionary, Shuffled, StreamCodec, get_or_try_make};
use crate::{Result, kernels};

/// The codec's row.
pub(in crate::codec) const INFO: CodecInfo = CodecInfo {
    dictionaries: Some(dict::DICTIONARIES),
    ..super::row(|| Box::new(Zstd::default()))
};

/// The chunk level that maps to the library's highest level.
const MAX_LEVEL: u8 = 9;

#[derive(Default)]
struct Zstd {
    encoder: Option<Encoder>,
    decoder: Option<Decoder>,
    /// The buffer for alternative results; the shortest one is used.
    scratch: Vec<u8>,
    scanner: Scanner,
    /// Detects repetitive streams.
    lz4: Lz4,
}

impl StreamCodec for Zstd {
    fn encode(
        &mut self,
        level: u8,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let encoder = self.encoder()?;
        match dict.and_then(Dictionary::prepared::<EncoderDict>) {
            Some(dict) => encoder.encode_with(dict, src, dest),
            None => encoder.encode(library_level(level), src, dest),
        }
    }

    /// Skips the search in incompressible regions. Unshuffled streams are searched completely,
    /// since such regions may consist of items that repeat in another order.
    fn encode_shuffled(
        &mut self,
        level: u8,
        shuffled: Shuffled,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        if shuffled == Shuffled::No {
            return self.encode(level, None, src, dest);
        }
        let level = library_level(level);
        match self.scan(level, src)? {
            (encoder, []) => encoder.encode(level, src, dest),
            (encoder, regions) => {
                let level = (ZSTD_cParameter::ZSTD_c_compressionLevel, level);
                encoder.encode_segmented(regions, [level], src, dest)
            }
        }
    }

    fn encode_blosc1(
        &mut self,
        level: u8,
        kind: Blosc1Stream,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let level = library_level(level);
        let parser = LibraryParser::of(level, src.len());
        let is_repetitive =
            matches!(parser, LibraryParser::Lazy) && self.detect_repetitive(src, dest)?;
        let shuffled = kind.shuffled != Shuffled::No;
        let (encoder, regions) = if shuffled && !is_repetitive {
            self.scan(level, src)?
        } else {
            (self.encoder()?, [].as_slice())
        };
        let search = match parser {
            LibraryParser::Lazy if is_repetitive || !is_noisy_outside(regions, src) => {
                Search::default()
            }
            LibraryParser::Lazy if shuffled => Search::SHORT_BLOCKS,
            LibraryParser::Lazy => Search::TREE,
            _ => Search::default(),
        };
        let has_regions = !regions.is_empty();
        let len = if has_regions {
            encoder.encode_segmented(regions, search.parameters(level), src, dest)?
        } else {
            encoder.encode_with_parameters(search.parameters(level), src, dest)?
        };
        let retry = match parser {
            _ if has_regions || src.len() > MAX_RETRY_LEN => None,
            LibraryParser::Lazy if is_repetitive => Some(Search::TREE),
            LibraryParser::Optimal => Some(Search::TARGET_8),
            _ => None,
        };
        match retry {
            Some(search) => self.try_shorter(len, level, search, src, dest),
            None => Ok(len),
        }
    }

    /// Accepts any number of frames, including skippable ones.
    fn decode(
        &mut self,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        let dest = &mut dest[..len];
        let decoder = get_or_try_make(&mut self.decoder, Decoder::new)?;
        decoder.decode(dict.and_then(Dictionary::prepared::<DecoderDict>), src, dest)
    }
}

impl Zstd {
    /// Encodes again, with the capacity of `dest`. If the result is shorter than the `len` bytes
    /// (0: none) in `dest`, writes it to `dest`. Returns the length of the stream in `dest`.
    fn try_shorter(
        &mut self,
        len: usize,
        level: i32,
        search: Search,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let capacity = dest.len();
        if scratch.len() < capacity {
            scratch.try_reserve_exact(capacity - scratch.len())?;
            scratch.resize(capacity, 0);
        }
        let result = self.encoder().and_then(|encoder| {
            let parameters = search.parameters(level);
            encoder.encode_with_parameters(parameters, src, &mut scratch[..capacity])
        });
        let len = result.map(|found| {
            if found == 0 || (len > 0 && found >= len) {
                return len;
            }
            kernels::copy::copy(&scratch[..found], &mut dest[..found]);
            found
        });
        self.scratch = scratch;
        len
    }

    /// Whether LZ4 compresses `src` by a factor of at least [`REPETITIVE_RATIO`], which is quick to
    /// test. Overwrites `dest`.
    fn detect_repetitive(&mut self, src: &[u8], dest: &mut [u8]) -> Result<bool> {
        let capacity = dest.len().min(src.len() / REPETITIVE_RATIO);
        let len = self.lz4.encode(MAX_LEVEL, None, src, &mut dest[..capacity])?;
        Ok(len > 0)
    }

    /// Returns the encoder and the incompressible regions of `src`.
    fn scan(&mut self, level: i32, src: &[u8]) -> Result<(&mut Encoder, &[Region])> {
        self.encoder()?;
        let regions = self.scanner.scan(src, search_kind(level));
        Ok((self.encoder.as_mut().expect("created above"), regions))
    }

    fn encoder(&mut self) -> Result<&mut Encoder> {
        get_or_try_make(&mut self.encoder, Encoder::new)
    }
}

/// Returns the kind of the library's match search at one of its levels.
fn search_kind(level: i32) -> incompressible::Search {
    match level {
        ..5 => incompressible::Search::FarFast,
        5..13 => incompressible::Search::FarMin4,
        13.. => incompressible::Search::FarMin3,
    }
}

/// The library's parameter for the effort of choosing block boundaries, and its value for none. It
/// has no name in the stable interface.
const BLOCK_SPLITTER: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam20;
const NO_SPLITTING: i32 = 1;

/// The library's parameter for the maximum block size. It has no name in the stable interface.
const MAX_BLOCK_SIZE: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam18;

/// Groups of the library's parsers, which matter for Blosc 1.x chunks.
///
/// Sizes of such chunks are compared with those of library version 1.5.4. Some parsers have changed
/// since then and produce larger results, which no parameter reverts; the [`Search`] of each
/// compensates for that.
#[derive(Clone, Copy)]
enum LibraryParser {
    /// Hash tables only, or a binary tree: unchanged.
    Unchanged,
    /// Greedy and lazy: after 2 KiB without a match they no longer index skipped positions, and
    /// miss later repeats, which costs up to 7 % of the size of a chunk.
    Lazy,
    /// Optimal: begins a run with two literals instead of one, which costs a byte in each short
    /// stream.
    Optimal,
}

impl LibraryParser {
    /// Returns the library's parser for a stream of `len` bytes at a level.
    fn of(level: i32, len: usize) -> LibraryParser {
        match (level, len) {
            (..=4, _) => LibraryParser::Unchanged,
            (9..=10, ..=16_384) => LibraryParser::Unchanged,
            (11.., ..=16_384) => LibraryParser::Optimal,
            (11..=12, ..=262_144) => LibraryParser::Unchanged,
            (..=12, _) => LibraryParser::Lazy,
            (13.., _) => LibraryParser::Optimal,
        }
    }
}

/// The maximum length of streams that are encoded more than once; savings add up over many short
/// streams.
const MAX_RETRY_LEN: usize = 128 << 10;
/// The LZ4 compression ratio from which on a stream is not noisy, whatever its bytes are. Encoding
/// such a stream twice is cheap if it is short.
const REPETITIVE_RATIO: usize = 16;

/// Parameters of the match search; 0 selects the default of the level.
#[derive(Clone, Copy, Default)]
struct Search {
    strategy: i32,
    log: i32,
    target_length: i32,
    block: i32,
}

impl Search {
    /// A binary tree, which indexes all positions.
    const TREE: Search =
        Search { strategy: ZSTD_strategy::ZSTD_btlazy2 as i32, log: 3, target_length: 0, block: 0 };
    /// Short blocks: indexing restarts after each block, and each plane has separate entropy codes
    /// without block splitting.
    const SHORT_BLOCKS: Search = Search { strategy: 0, log: 0, target_length: 0, block: 32 << 10 };
    /// The cheapest optimal parser, which accepts matches of more than 8 bytes, as in a run.
    const TARGET_8: Search =
        Search { strategy: ZSTD_strategy::ZSTD_btopt as i32, log: 0, target_length: 8, block: 0 };

    /// Returns the library's parameters, without block splitting: versions before 1.5.7 did not
    /// split, and it makes some data considerably larger.
    fn parameters(self, level: i32) -> [(ZSTD_cParameter, i32); 6] {
        [
            (ZSTD_cParameter::ZSTD_c_compressionLevel, level),
            (ZSTD_cParameter::ZSTD_c_strategy, self.strategy),
            (ZSTD_cParameter::ZSTD_c_searchLog, self.log),
            (ZSTD_cParameter::ZSTD_c_targetLength, self.target_length),
            (MAX_BLOCK_SIZE, self.block),
            (BLOCK_SPLITTER, NO_SPLITTING),
        ]
    }
}

/// Whether the bytes outside the incompressible regions [are noisy](is_noisy).
fn is_noisy_outside(regions: &[Region], src: &[u8]) -> bool {
    let starts = [0].into_iter().chain(regions.iter().map(|run| run.bytes.end));
    let ends = regions.iter().map(|run| run.bytes.start).chain([src.len()]);
    starts.zip(ends).any(|(start, end)| is_noisy(&src[start..end]))
}

/// Whether `src` is likely to have 2 KiB without a match, by the number of distinct bytes in
/// samples.
fn is_noisy(src: &[u8]) -> bool {
    const SAMPLE: usize = 64;
    const STRIDE: usize = 512;
    /// The largest number of distinct values that text has in a sample; random bytes have 56.
    const MIN_DISTINCT: u32 = 24;
    /// The number of consecutive noisy samples.
    const MIN_SAMPLES: usize = 3;

    let mut consecutive = 0;
    src.chunks(STRIDE).filter_map(|stride| stride.get(..SAMPLE)).any(|sample| {
        let mut seen = [0u64; 4];
        for &byte in sample {
            seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
        }
        let distinct: u32 = seen.iter().map(|word| word.count_ones()).sum();
        consecutive = if distinct > MIN_DISTINCT { consecutive + 1 } else { 0 };
        consecutive == MIN_SAMPLES
    })
}

fn library_level(level: u8) -> i32 {
    if level >= MAX_LEVEL {
        // SAFETY: returns a constant.
        unsafe { ZSTD_maxCLevel() }
    } else {
        2 * i32::from(level) - 1
    }
}
