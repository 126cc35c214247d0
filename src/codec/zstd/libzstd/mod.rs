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
use crate::codec::lz4::{self, Lz4};
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
        let shuffled = kind.shuffled != Shuffled::No;
        let noise = match parser {
            LibraryParser::Lazy => Noise::of([src]),
            _ => Noise::None,
        };
        let probe = if noise == Noise::None { None } else { self.probe(src, dest)? };
        let repetitive = probe.filter(|probe| probe.len <= src.len() / REPETITIVE_RATIO);
        let is_scanned = shuffled && repetitive.is_none();
        let (encoder, regions) =
            if is_scanned { self.scan(level, src)? } else { (self.encoder()?, [].as_slice()) };
        let search = match parser {
            LibraryParser::Lazy if repetitive.is_none() && noise != Noise::None => {
                match Noise::of(outside(regions, src)) {
                    Noise::None => Search::DEFAULT,
                    _ if !shuffled => Search::TREE,
                    noise => {
                        let noise = if probe.is_some() { Noise::Little } else { noise };
                        let planes = if kind.split { 1 } else { kind.typesize };
                        Search::of_noise(noise, level, plane_block(planes, src.len()))
                    }
                }
            }
            _ => Search::DEFAULT,
        };
        let has_regions = !regions.is_empty();
        let len = if has_regions {
            encoder.encode_segmented(regions, search.parameters(level), src, dest)?
        } else {
            encoder.encode_with_parameters(search.parameters(level), src, dest)?
        };
        let retry = match parser {
            _ if has_regions || src.len() > MAX_RETRY_LEN => None,
            LibraryParser::Optimal if len > LONG.max(src.len() / PROBE_RATIO) => None,
            LibraryParser::Lazy if repetitive.is_some_and(|probe| probe.unindexed) => {
                Some(Search::TREE)
            }
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

    /// Compresses `src` with LZ4, which is quick. Returns `None` if the ratio is less than
    /// [`PROBE_RATIO`]. Overwrites `dest`.
    fn probe(&mut self, src: &[u8], dest: &mut [u8]) -> Result<Option<Probe>> {
        let capacity = dest.len().min(src.len() / PROBE_RATIO);
        let len = self.lz4.encode(MAX_LEVEL, None, src, &mut dest[..capacity])?;
        let unindexed = || lz4::longest_literals(&dest[..len]) >= UNINDEXED_AFTER;
        Ok((len > 0).then(|| Probe { len, unindexed: unindexed() }))
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
/// The sizes of such chunks are compared with those of library version 1.5.4, and speeds also with
/// those of newer versions. Some parsers have changed: they skip noise faster, and produce larger
/// results, which no parameter reverts. The [`Search`] of each compensates for that: planes with
/// separate entropy codes save what a faster search loses.
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
/// The compressed length in bytes from which on a byte more for each run does not matter, if the
/// ratio is less than [`PROBE_RATIO`].
const LONG: usize = 256;
/// The LZ4 compression ratio from which on a stream has little noise, whatever its bytes are.
const PROBE_RATIO: usize = 8;
/// The LZ4 compression ratio from which on encoding a short stream twice is cheap.
const REPETITIVE_RATIO: usize = 16;

/// The result of LZ4.
#[derive(Clone, Copy)]
struct Probe {
    /// The compressed length.
    len: usize,
    /// Whether a run of bytes without a match is at least [`UNINDEXED_AFTER`] long.
    unindexed: bool,
}

/// The number of bytes without a match after which the library's greedy and lazy parsers index no
/// skipped positions.
const UNINDEXED_AFTER: usize = 2 << 10;

/// Parameters of the match search; 0 selects the default of the level.
#[derive(Clone, Copy)]
struct Search {
    strategy: i32,
    log: i32,
    min_match: i32,
    target_length: i32,
    block: i32,
}

impl Search {
    const DEFAULT: Search =
        Search { strategy: 0, log: 0, min_match: 0, target_length: 0, block: 0 };
    /// A binary tree, which indexes all positions.
    const TREE: Search =
        Search { strategy: ZSTD_strategy::ZSTD_btlazy2 as i32, log: 3, ..Search::DEFAULT };
    /// The cheapest optimal parser, which accepts matches of more than 8 bytes, as in a run.
    const TARGET_8: Search =
        Search { strategy: ZSTD_strategy::ZSTD_btopt as i32, target_length: 8, ..Search::DEFAULT };
    /// Two hash tables: in noise, more than three times as fast as the greedy and lazy parsers.
    const HASHES: Search =
        Search { strategy: ZSTD_strategy::ZSTD_dfast as i32, min_match: 4, ..Search::DEFAULT };
    /// A lazy parser that tests two positions for each match.
    const SHORT_CHAINS: Search = Search {
        strategy: ZSTD_strategy::ZSTD_lazy as i32,
        log: 1,
        min_match: 4,
        ..Search::DEFAULT
    };

    /// Returns the search at a level of the library for shuffled streams with noise, in blocks of
    /// at most `block` bytes. Blocks of single planes have separate entropy codes without block
    /// splitting, and indexing restarts after each block.
    fn of_noise(noise: Noise, level: i32, block: usize) -> Search {
        let search = match (noise, level) {
            (Noise::Much, ..11) | (Noise::Half, ..7) => Search::HASHES,
            (Noise::Much | Noise::Half, _) => Search::SHORT_CHAINS,
            (Noise::Little | Noise::None, _) => Search::DEFAULT,
        };
        Search { block: block as i32, ..search }
    }

    /// Returns the library's parameters, without block splitting: versions before 1.5.7 did not
    /// split, and it makes some data considerably larger.
    fn parameters(self, level: i32) -> [(ZSTD_cParameter, i32); 7] {
        [
            (ZSTD_cParameter::ZSTD_c_compressionLevel, level),
            (ZSTD_cParameter::ZSTD_c_strategy, self.strategy),
            (ZSTD_cParameter::ZSTD_c_searchLog, self.log),
            (ZSTD_cParameter::ZSTD_c_minMatch, self.min_match),
            (ZSTD_cParameter::ZSTD_c_targetLength, self.target_length),
            (MAX_BLOCK_SIZE, self.block),
            (BLOCK_SPLITTER, NO_SPLITTING),
        ]
    }
}

/// Returns the maximum block length for a stream of this many planes: that of one or several whole
/// planes, or an equal fraction of a long one.
fn plane_block(planes: usize, len: usize) -> usize {
    const MIN: usize = 8 << 10;
    const MAX: usize = 64 << 10;
    let plane = (len / planes.max(1)).max(1);
    if plane > MAX {
        plane.div_ceil(plane.div_ceil(MAX))
    } else {
        (MIN.div_ceil(plane) * plane).min(MAX)
    }
}

/// Returns the bytes outside the incompressible regions.
fn outside<'a>(regions: &'a [Region], src: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let starts = [0].into_iter().chain(regions.iter().map(|run| run.bytes.end));
    let ends = regions.iter().map(|run| run.bytes.start).chain([src.len()]);
    starts.zip(ends).map(|(start, end)| &src[start..end])
}

/// The share of noise: bytes that are likely to have no matches, by samples of neighbouring bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Noise {
    /// Unlikely to have 2 KiB without a match.
    None,
    /// At most a quarter.
    Little,
    /// Up to 9/16: of most items with two or four bytes, half of the planes.
    Half,
    Much,
}

impl Noise {
    fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Noise {
        const SAMPLE: usize = 64;
        const STRIDE: usize = 512;
        /// The largest number of distinct values that text has in a sample; random bytes have 56.
        const MAX_OF_TEXT: u32 = 24;
        /// The number of consecutive noisy samples without counters, in which neighbours have few
        /// differences.
        const MIN_SAMPLES: usize = 3;

        let (mut samples, mut noisy, mut longest) = (0, 0, 0);
        for part in parts {
            let mut consecutive = 0;
            for stride in part.chunks(STRIDE) {
                let Some(sample) = stride.first_chunk::<SAMPLE>() else { continue };
                samples += 1;
                if distinct(sample.iter().copied()) <= MAX_OF_TEXT {
                    consecutive = 0;
                    continue;
                }
                noisy += 1;
                if longest < MIN_SAMPLES {
                    let steps = sample.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
                    consecutive = if distinct(steps) > MAX_OF_TEXT { consecutive + 1 } else { 0 };
                    longest = longest.max(consecutive);
                }
            }
        }
        match longest {
            ..MIN_SAMPLES => Noise::None,
            _ if noisy * 16 > samples * 9 => Noise::Much,
            _ if noisy * 4 > samples => Noise::Half,
            _ => Noise::Little,
        }
    }
}

/// Returns the number of distinct values.
fn distinct(bytes: impl Iterator<Item = u8>) -> u32 {
    let mut seen = [0u64; 4];
    for byte in bytes {
        seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    seen.iter().map(|word| word.count_ones()).sum()
}

fn library_level(level: u8) -> i32 {
    if level >= MAX_LEVEL {
        // SAFETY: returns a constant.
        unsafe { ZSTD_maxCLevel() }
    } else {
        2 * i32::from(level) - 1
    }
}
