//! Zstandard: whole frames by the C library, with contexts kept between calls.
//!
//! Decoding is one-shot, straight into the destination: a frame's window costs no memory, whatever size
//! it claims.

mod dict;
mod mixed;
#[cfg(test)]
mod tests;
mod tiny;

use std::ptr::NonNull;

use zstd_sys::{
    ZSTD_CCtx, ZSTD_CCtx_reset, ZSTD_CCtx_setParameter, ZSTD_DCtx, ZSTD_ErrorCode,
    ZSTD_ResetDirective, ZSTD_Sequence, ZSTD_cParameter, ZSTD_compress_usingCDict, ZSTD_compress2,
    ZSTD_compressCCtx, ZSTD_compressSequences, ZSTD_createCCtx, ZSTD_createDCtx,
    ZSTD_decompress_usingDDict, ZSTD_decompressDCtx, ZSTD_freeCCtx, ZSTD_freeDCtx,
    ZSTD_getErrorCode, ZSTD_isError, ZSTD_maxCLevel, ZSTD_strategy,
};

pub(super) use self::dict::{DecoderDict, EncoderDict};
use self::tiny::{Counts, Prices};
use super::lz4::Lz4;
use super::noise::{self, Noise, Run};
use super::{Blosc1Stream, Dictionary, Shuffled, StreamCodec};
use crate::{Error, Result};

/// The chunk level that stands for the library's highest level.
const MAX_LEVEL: u8 = 9;

/// Zstandard's contexts.
#[derive(Default)]
pub(super) struct Zstd {
    encoder: Option<Encoder>,
    decoder: Option<Decoder>,
    /// Where the second of two results goes, from which the shorter one is taken.
    second: Vec<u8>,
    /// Parses short streams.
    parser: tiny::Parser,
    noise: Noise,
    /// Tells what is repetitive.
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
        match dict.and_then(Dictionary::zstd_encoder) {
            Some(dict) => encoder.encode_with(dict, src, dest),
            None => encoder.encode(library_level(level), src, dest),
        }
    }

    /// Without a search in noise. Elsewhere what seems to be noise may be whole items that come again in another order.
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
        match self.with_noise(level, src)? {
            (encoder, []) => encoder.encode(level, src, dest),
            (encoder, runs) => {
                let level = (ZSTD_cParameter::ZSTD_c_compressionLevel, level);
                encoder.encode_around(runs, [level], src, dest)
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
        let parser = Parser::of(level, src.len());
        let is_repetitive = matches!(parser, Parser::Lazy) && self.is_repetitive(src, dest)?;
        let shuffled = kind.shuffled != Shuffled::No;
        let (encoder, runs) = if shuffled && !is_repetitive {
            self.with_noise(level, src)?
        } else {
            (self.encoder()?, [].as_slice())
        };
        let search = match parser {
            Parser::Lazy if is_repetitive || !is_noisy_beside(runs, src) => Search::default(),
            Parser::Lazy if shuffled => Search::SHORT_BLOCKS,
            Parser::Lazy => Search::TREE,
            _ => Search::default(),
        };
        let has_noise = !runs.is_empty();
        let len = if has_noise {
            encoder.encode_around(runs, search.parameters(level), src, dest)?
        } else {
            encoder.encode_with_search(level, search, src, dest)?
        };
        let more: &[Search] = match parser {
            _ if has_noise || src.len() > SHORT => &[],
            Parser::Lazy if is_repetitive => &[Search::TREE],
            Parser::Optimal if src.len() > tiny::LONGEST => &[Search::CONTENT_8],
            _ => &[],
        };
        let len = more.iter().try_fold(len, |len, &search| {
            self.shorter(len, dest, |encoder, dest| {
                encoder.encode_with_search(level, search, src, dest)
            })
        })?;
        match parser {
            Parser::Optimal if src.len() <= tiny::LONGEST => self.encode_tiny(len, src, dest),
            _ => Ok(len),
        }
    }

    /// Takes any number of frames, skippable ones among them.
    fn decode(
        &mut self,
        dict: Option<&Dictionary>,
        src: &[u8],
        dest: &mut [u8],
        len: usize,
    ) -> Result<usize> {
        let dest = &mut dest[..len];
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            empty => empty.insert(Decoder::new()?),
        };
        decoder.decode(dict.and_then(Dictionary::zstd_decoder), src, dest)
    }
}

impl Zstd {
    /// Encodes a short stream by parses of our own. `dest` gets the shortest result if it is shorter than the `len`
    /// bytes (0: none) which are there.
    fn encode_tiny(&mut self, len: usize, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let mut parser = std::mem::take(&mut self.parser);
        let result = self.encode_parses(&mut parser, len, src, dest);
        self.parser = parser;
        result
    }

    fn encode_parses(
        &mut self,
        parser: &mut tiny::Parser,
        len: usize,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        if !parser.start(src) {
            return Ok(len);
        }
        let mut last = tiny::literals(src.len()).to_vec();
        let mut shortest = self.shorter_by_parse(len, &last, src, dest)?;
        let views = [
            (false, Prices::predefined()),
            (false, Prices::runs()),
            (true, Prices::predefined().huffman(src)),
        ];
        for (is_coded, mut prices) in views {
            for pass in 0..PASSES {
                let parse = parser.parse(src, &prices);
                let is_known = tiny::same(&parse, &last);
                if parse.len() == 1 || (is_known && pass > 0) {
                    break;
                }
                if !is_known {
                    shortest = self.shorter_by_parse(shortest, &parse, src, dest)?;
                }
                prices = Prices::adapted(&Counts::of(src, &parse), is_coded);
                last = parse;
            }
        }
        Ok(shortest)
    }

    fn shorter_by_parse(
        &mut self,
        len: usize,
        parse: &[ZSTD_Sequence],
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.shorter(len, dest, |encoder, dest| {
            encoder.encode_parse(parse, src, dest)
        })
    }

    /// Encodes again, with as much room as there is in `dest`, and at least [`LEAST_ROOM`]; `dest` gets the result
    /// if it is shorter than the `len` bytes (0: none) which are there.
    fn shorter(
        &mut self,
        len: usize,
        dest: &mut [u8],
        encode: impl FnOnce(&mut Encoder, &mut [u8]) -> Result<usize>,
    ) -> Result<usize> {
        let mut second = std::mem::take(&mut self.second);
        let room = dest.len().max(LEAST_ROOM);
        if second.len() < room {
            second.try_reserve_exact(room - second.len())?;
            second.resize(room, 0);
        }
        let result = self
            .encoder()
            .and_then(|encoder| encode(encoder, &mut second[..room]));
        let limit = match len {
            0 => dest.len(),
            len => len - 1,
        };
        let found = match result {
            Ok(found @ 1..) if found <= limit => {
                dest[..found].copy_from_slice(&second[..found]);
                Ok(found)
            }
            other => other.map(|_| len),
        };
        self.second = second;
        found
    }

    /// Whether LZ4 packs `src` to a [`REPETITIVE`]th, for which it takes little time. `dest` may have anything in it then.
    fn is_repetitive(&mut self, src: &[u8], dest: &mut [u8]) -> Result<bool> {
        let room = dest.len().min(src.len() / REPETITIVE);
        let len = self.lz4.encode(MAX_LEVEL, None, src, &mut dest[..room])?;
        Ok(len > 0)
    }

    /// The encoder, and the noise in `src`.
    fn with_noise(&mut self, level: i32, src: &[u8]) -> Result<(&mut Encoder, &[Run])> {
        self.encoder()?;
        let runs = self.noise.find(src, noise_search(level));
        Ok((self.encoder.as_mut().expect("made above"), runs))
    }

    fn encoder(&mut self) -> Result<&mut Encoder> {
        match &mut self.encoder {
            Some(encoder) => Ok(encoder),
            empty => Ok(empty.insert(Encoder::new()?)),
        }
    }
}

/// How the library searches at this level of its own.
fn noise_search(level: i32) -> noise::Search {
    match level {
        ..5 => noise::Search::FarQuick,
        5..13 => noise::Search::FarFours,
        13.. => noise::Search::FarThrees,
    }
}

/// The library's parameter for how much it looks for a good place to split blocks, and the value for "not
/// at all". It has no name in the stable interface.
const BLOCK_SPLITTER: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam20;
const NO_SPLITTING: i32 = 1;

/// The library's parameter for the longest block, without a name in the stable interface.
const LONGEST_BLOCK: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam18;

/// The library's parameters for sequences that are given to it, and the values for "with an end of their own" and
/// for "find out which offsets repeat".
const DELIMITERS: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam11;
const EXPLICIT_DELIMITERS: i32 = 1;
const REPEATED_OFFSETS: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam19;
const FIND_REPEATED: i32 = 1;

/// What the library needs in front of sequences, whether or not they take so much: it does not notice when a
/// header does not fit.
const LEAST_ROOM: usize = tiny::LONGEST + 64;

/// How often a short stream is parsed from each point of view, by what the parse before found.
const PASSES: usize = 3;

/// How the library cuts a stream into matches, as far as chunks of Blosc 1.x care.
///
/// Those are measured by version 1.5.4 of the library. Since then the parsers have changed in ways that cost
/// bytes and that no parameter takes back; each needs its own [`Search`] to make up for it.
#[derive(Clone, Copy)]
enum Parser {
    /// Hash tables alone, or a binary tree: as before.
    Unchanged,
    /// Greedy and lazy: behind 2 KiB without a match it no longer notes the positions that it skips, and misses
    /// what repeats later, up to 7 % of a chunk.
    Lazy,
    /// By prices: begins a run with two literals instead of one, which is a byte in each short stream.
    Optimal,
}

impl Parser {
    /// What the library takes at a level for a stream of `len` bytes.
    fn of(level: i32, len: usize) -> Parser {
        match (level, len) {
            (..=4, _) => Parser::Unchanged,
            (9..=10, ..=16_384) => Parser::Unchanged,
            (11.., ..=16_384) => Parser::Optimal,
            (11..=12, ..=262_144) => Parser::Unchanged,
            (..=12, _) => Parser::Lazy,
            (13.., _) => Parser::Optimal,
        }
    }
}

/// The longest stream that is encoded more than once: what is won adds up in many of them.
const SHORT: usize = 128 << 10;
/// A stream that LZ4 packs better than this is not noisy, whatever its bytes, and trying twice is cheap if it is short.
const REPETITIVE: usize = 16;

/// Parameters of the search for matches; 0 is what the level says.
#[derive(Clone, Copy, Default)]
struct Search {
    strategy: i32,
    log: i32,
    target_length: i32,
    /// The longest block.
    block: i32,
}

impl Search {
    /// A binary tree, which notes all positions.
    const TREE: Search = Search {
        strategy: ZSTD_strategy::ZSTD_btlazy2 as i32,
        log: 3,
        target_length: 0,
        block: 0,
    };
    /// Behind each of which all positions are noted again. Planes have codes of their own, too, for which the library would have
    /// to split blocks.
    const SHORT_BLOCKS: Search = Search {
        strategy: 0,
        log: 0,
        target_length: 0,
        block: 32 << 10,
    };
    /// The cheapest of the optimal parsers, content with matches of more than 8 bytes, as it finds in a run.
    const CONTENT_8: Search = Search {
        strategy: ZSTD_strategy::ZSTD_btopt as i32,
        log: 0,
        target_length: 8,
        block: 0,
    };

    /// What to tell the library, which is not to split blocks: versions before 1.5.7 didn't, and it makes some data a good
    /// deal larger.
    fn parameters(self, level: i32) -> [(ZSTD_cParameter, i32); 6] {
        [
            (ZSTD_cParameter::ZSTD_c_compressionLevel, level),
            (ZSTD_cParameter::ZSTD_c_strategy, self.strategy),
            (ZSTD_cParameter::ZSTD_c_searchLog, self.log),
            (ZSTD_cParameter::ZSTD_c_targetLength, self.target_length),
            (LONGEST_BLOCK, self.block),
            (BLOCK_SPLITTER, NO_SPLITTING),
        ]
    }
}

/// Whether what is no noise [is noisy](is_noisy).
fn is_noisy_beside(noise: &[Run], src: &[u8]) -> bool {
    let starts = [0].into_iter().chain(noise.iter().map(|run| run.bytes.end));
    let ends = noise.iter().map(|run| run.bytes.start).chain([src.len()]);
    starts
        .zip(ends)
        .any(|(start, end)| is_noisy(&src[start..end]))
}

/// Whether a stretch of `src` is likely to hold no match for 2 KiB, by the number of different bytes in
/// samples of it.
fn is_noisy(src: &[u8]) -> bool {
    const SAMPLE: usize = 64;
    const STRIDE: usize = 512;
    /// More different values than text has in a sample; random bytes have 56.
    const DIFFERENT: u32 = 24;
    /// Samples in a row.
    const STRETCH: usize = 3;

    let mut noisy_in_a_row = 0;
    src.chunks(STRIDE)
        .filter_map(|stride| stride.get(..SAMPLE))
        .any(|sample| {
            let mut seen = [0u64; 4];
            for &byte in sample {
                seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
            }
            let different: u32 = seen.iter().map(|word| word.count_ones()).sum();
            noisy_in_a_row = if different > DIFFERENT {
                noisy_in_a_row + 1
            } else {
                0
            };
            noisy_in_a_row == STRETCH
        })
}

/// The library's level for a chunk's level.
fn library_level(level: u8) -> i32 {
    if level >= MAX_LEVEL {
        // SAFETY: returns a constant.
        unsafe { ZSTD_maxCLevel() }
    } else {
        2 * i32::from(level) - 1
    }
}

struct Encoder(NonNull<ZSTD_CCtx>);

// SAFETY: a context is plain memory with no tie to the thread that made it.
unsafe impl Send for Encoder {}

impl Encoder {
    fn new() -> Result<Encoder> {
        // SAFETY: no preconditions; null when out of memory.
        let context = unsafe { ZSTD_createCCtx() };
        NonNull::new(context).map(Encoder).ok_or(Error::MemoryAlloc)
    }

    /// Sets these parameters, and all others to what they are at first. After this, no compression is under way.
    fn set(&mut self, parameters: impl IntoIterator<Item = (ZSTD_cParameter, i32)>) {
        let context = self.0.as_ptr();
        let all = ZSTD_ResetDirective::ZSTD_reset_session_and_parameters;
        // SAFETY: the context is ours alone.
        unsafe { ZSTD_CCtx_reset(context, all) };
        for (parameter, value) in parameters {
            // SAFETY: the context is ours alone, and no compression is under way.
            unsafe { ZSTD_CCtx_setParameter(context, parameter, value) };
        }
    }

    fn encode(&mut self, level: i32, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // SAFETY: the context is ours alone, pointers and lengths are those of live slices.
        let result = unsafe {
            ZSTD_compressCCtx(
                self.0.as_ptr(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                src.as_ptr().cast(),
                src.len(),
                level,
            )
        };
        encoded(result)
    }

    fn encode_with_search(
        &mut self,
        level: i32,
        search: Search,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.set(search.parameters(level));
        // SAFETY: the context is ours alone; pointers and lengths are those of live slices.
        let result = unsafe {
            ZSTD_compress2(
                self.0.as_ptr(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                src.as_ptr().cast(),
                src.len(),
            )
        };
        encoded(result)
    }

    /// A stream as sequences, of which the last one is the literals at its end. `dest` has [`LEAST_ROOM`].
    fn encode_parse(
        &mut self,
        parse: &[ZSTD_Sequence],
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        self.set([
            // SAFETY: returns a constant.
            (ZSTD_cParameter::ZSTD_c_compressionLevel, unsafe {
                ZSTD_maxCLevel()
            }),
            (DELIMITERS, EXPLICIT_DELIMITERS),
            (REPEATED_OFFSETS, FIND_REPEATED),
        ]);
        // SAFETY: the context is ours alone; pointers and lengths are those of live slices. The sequences
        // add up to the length of `src`, and each copies what is there.
        let result = unsafe {
            ZSTD_compressSequences(
                self.0.as_ptr(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                parse.as_ptr(),
                parse.len(),
                src.as_ptr().cast(),
                src.len(),
            )
        };
        encoded(result)
    }

    fn encode_with(&mut self, dict: &EncoderDict, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        // SAFETY: as in `encode`; the library only reads the dictionary.
        let result = unsafe {
            ZSTD_compress_usingCDict(
                self.0.as_ptr(),
                dest.as_mut_ptr().cast(),
                dest.len(),
                src.as_ptr().cast(),
                src.len(),
                dict.0.as_ptr(),
            )
        };
        encoded(result)
    }
}

impl Drop for Encoder {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ZSTD_freeCCtx(self.0.as_ptr()) };
    }
}

/// What the library's result means: a length, "does not fit" or an error.
fn encoded(result: usize) -> Result<usize> {
    // SAFETY: both functions only look at the number.
    let error = unsafe { (ZSTD_isError(result) != 0).then(|| ZSTD_getErrorCode(result)) };
    match error {
        None => Ok(result),
        Some(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) => Ok(0),
        Some(ZSTD_ErrorCode::ZSTD_error_memory_allocation) => Err(Error::MemoryAlloc),
        Some(_) => Err(Error::Data),
    }
}

struct Decoder(NonNull<ZSTD_DCtx>);

// SAFETY: a context is plain memory with no tie to the thread that made it.
unsafe impl Send for Decoder {}

impl Decoder {
    fn new() -> Result<Decoder> {
        // SAFETY: no preconditions; null when out of memory.
        let context = unsafe { ZSTD_createDCtx() };
        NonNull::new(context).map(Decoder).ok_or(Error::MemoryAlloc)
    }

    fn decode(&mut self, dict: Option<&DecoderDict>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let context = self.0.as_ptr();
        let (out, capacity) = (dest.as_mut_ptr().cast(), dest.len());
        let (input, length) = (src.as_ptr().cast(), src.len());
        // SAFETY: the context is ours alone, pointers and lengths are those of live slices, and the library
        // only reads the dictionary. It checks the input and keeps to the capacity.
        let result = unsafe {
            match dict {
                Some(dict) => {
                    let dict = dict.0.as_ptr();
                    ZSTD_decompress_usingDDict(context, out, capacity, input, length, dict)
                }
                None => ZSTD_decompressDCtx(context, out, capacity, input, length),
            }
        };
        // SAFETY: only looks at the number.
        if unsafe { ZSTD_isError(result) } != 0 {
            return Err(Error::Data);
        }
        Ok(result)
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ZSTD_freeDCtx(self.0.as_ptr()) };
    }
}
