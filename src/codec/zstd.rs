//! Zstandard: whole frames by the C library, with contexts kept between calls.
//!
//! Decoding is one-shot, straight into the destination: a frame's window costs no memory, whatever size
//! it claims.

use std::ptr::NonNull;

use zstd_sys::{
    ZSTD_CCtx, ZSTD_CCtx_setParameter, ZSTD_CDict, ZSTD_DCtx, ZSTD_DDict, ZSTD_ErrorCode,
    ZSTD_cParameter, ZSTD_compress_usingCDict, ZSTD_compress2, ZSTD_compressCCtx, ZSTD_createCCtx,
    ZSTD_createCDict, ZSTD_createDCtx, ZSTD_createDDict, ZSTD_decompress_usingDDict,
    ZSTD_decompressDCtx, ZSTD_freeCCtx, ZSTD_freeCDict, ZSTD_freeDCtx, ZSTD_freeDDict,
    ZSTD_getErrorCode, ZSTD_isError, ZSTD_maxCLevel, ZSTD_strategy,
};

use super::{Dictionary, StreamCodec};
use crate::{Error, Result};

/// The chunk level that stands for the library's highest level.
const MAX_LEVEL: u8 = 9;

/// The level dictionaries are prepared for, whatever level the chunk has: what C-Blosc2 does.
const DICTIONARY_LEVEL: i32 = 1;

/// Zstandard's contexts.
#[derive(Default)]
pub(super) struct Zstd {
    encoder: Option<Encoder>,
    decoder: Option<Decoder>,
    /// Where the second of two results goes, from which the shorter one is taken.
    second: Vec<u8>,
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

    fn encode_blosc1(
        &mut self,
        level: u8,
        _split: bool,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let level = library_level(level);
        let parser = Parser::of(level, src.len());
        let first = match parser {
            Parser::Lazy if is_noisy(src) => Search::TREE,
            _ => Search::default(),
        };
        let len = self
            .encoder()?
            .encode_with_search(level, first, src, dest)?;
        let more: &[Search] = match parser {
            Parser::Lazy if len < src.len() / REPETITIVE => &[Search::TREE],
            Parser::Optimal if src.len() <= TINY => &[Search::CONTENT_8, Search::CONTENT_16],
            Parser::Optimal if src.len() <= SHORT => &[Search::CONTENT_8],
            _ => &[],
        };
        more.iter().try_fold(len, |len, &search| {
            self.shorter(len, level, search, src, dest)
        })
    }

    /// Takes any number of frames, skippable ones among them.
    fn decode(&mut self, dict: Option<&Dictionary>, src: &[u8], dest: &mut [u8]) -> Result<usize> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            empty => empty.insert(Decoder::new()?),
        };
        decoder.decode(dict.and_then(Dictionary::zstd_decoder), src, dest)
    }
}

impl Zstd {
    /// Encodes again with `search`; `dest` gets the result if it is shorter than the `len` bytes (0: none)
    /// which are there.
    fn shorter(
        &mut self,
        len: usize,
        level: i32,
        search: Search,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        if len == 0 {
            return self.encoder()?.encode_with_search(level, search, src, dest);
        }
        let mut second = std::mem::take(&mut self.second);
        if second.len() < dest.len() {
            second.try_reserve_exact(dest.len() - second.len())?;
            second.resize(dest.len(), 0);
        }
        let room = &mut second[..dest.len()];
        let second_len = self.encoder()?.encode_with_search(level, search, src, room);
        if let Ok(shorter @ 1..) = second_len
            && shorter < len
        {
            dest[..shorter].copy_from_slice(&second[..shorter]);
        }
        self.second = second;
        Ok(match second_len? {
            0 => len,
            second_len => second_len.min(len),
        })
    }

    fn encoder(&mut self) -> Result<&mut Encoder> {
        match &mut self.encoder {
            Some(encoder) => Ok(encoder),
            empty => Ok(empty.insert(Encoder::new()?)),
        }
    }
}

/// The library's parameter for how much it looks for a good place to split blocks, and the value for "not
/// at all". It has no name in the stable interface.
const BLOCK_SPLITTER: ZSTD_cParameter = ZSTD_cParameter::ZSTD_c_experimentalParam20;
const NO_SPLITTING: i32 = 1;

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

/// The longest stream in which a single byte is a part that counts.
const TINY: usize = 1 << 10;
/// The longest stream in which such bytes add up.
const SHORT: usize = 128 << 10;
/// A stream packed better than this repeats itself so much that trying twice is cheap, and worth it.
const REPETITIVE: usize = 32;

/// Parameters of the search for matches; 0 is what the level says.
#[derive(Clone, Copy, Default)]
struct Search {
    strategy: i32,
    log: i32,
    target_length: i32,
}

impl Search {
    /// A binary tree, which notes all positions.
    const TREE: Search = Search {
        strategy: ZSTD_strategy::ZSTD_btlazy2 as i32,
        log: 3,
        target_length: 0,
    };
    /// The cheapest of the optimal parsers, content with matches of more than 8 bytes, as it finds in a run.
    const CONTENT_8: Search = Search {
        strategy: ZSTD_strategy::ZSTD_btopt as i32,
        log: 0,
        target_length: 8,
    };
    /// The same with 16 bytes, for runs that are a few times as long.
    const CONTENT_16: Search = Search {
        target_length: 16,
        ..Search::CONTENT_8
    };
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

    /// As versions before 1.5.7 did, which didn't split blocks: that makes some data a good deal larger.
    fn encode_with_search(
        &mut self,
        level: i32,
        search: Search,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let context = self.0.as_ptr();
        let parameters = [
            (ZSTD_cParameter::ZSTD_c_compressionLevel, level),
            (ZSTD_cParameter::ZSTD_c_strategy, search.strategy),
            (ZSTD_cParameter::ZSTD_c_searchLog, search.log),
            (ZSTD_cParameter::ZSTD_c_targetLength, search.target_length),
            (BLOCK_SPLITTER, NO_SPLITTING),
        ];
        for (parameter, value) in parameters {
            // SAFETY: the context is ours alone, and no compression is under way.
            unsafe { ZSTD_CCtx_setParameter(context, parameter, value) };
        }
        // SAFETY: the context is ours alone; pointers and lengths are those of live slices.
        let result = unsafe {
            ZSTD_compress2(
                context,
                dest.as_mut_ptr().cast(),
                dest.len(),
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

/// A dictionary prepared for encoding.
pub(super) struct EncoderDict(NonNull<ZSTD_CDict>);

// SAFETY: immutable after it was made, and not tied to a thread.
unsafe impl Send for EncoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for EncoderDict {}

impl EncoderDict {
    /// Prepares `bytes`, which are copied.
    pub(super) fn new(bytes: &[u8]) -> Result<EncoderDict> {
        // SAFETY: pointer and length are those of a live slice, which the library copies.
        let dict =
            unsafe { ZSTD_createCDict(bytes.as_ptr().cast(), bytes.len(), DICTIONARY_LEVEL) };
        NonNull::new(dict).map(EncoderDict).ok_or(Error::CodecDict)
    }
}

impl Drop for EncoderDict {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ZSTD_freeCDict(self.0.as_ptr()) };
    }
}

/// A dictionary prepared for decoding.
pub(super) struct DecoderDict(NonNull<ZSTD_DDict>);

// SAFETY: immutable after it was made, and not tied to a thread.
unsafe impl Send for DecoderDict {}
// SAFETY: the library documents that threads may share it.
unsafe impl Sync for DecoderDict {}

impl DecoderDict {
    /// Prepares `bytes`, which are copied. Bytes that begin with the dictionary magic must be a whole
    /// dictionary, others are taken as plain content.
    pub(super) fn new(bytes: &[u8]) -> Result<DecoderDict> {
        // SAFETY: pointer and length are those of a live slice, which the library copies.
        let dict = unsafe { ZSTD_createDDict(bytes.as_ptr().cast(), bytes.len()) };
        NonNull::new(dict).map(DecoderDict).ok_or(Error::CodecDict)
    }
}

impl Drop for DecoderDict {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { ZSTD_freeDDict(self.0.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blosc1_size(level: u8, src: &[u8]) -> usize {
        let mut dest = vec![0; src.len()];
        let mut codec = Zstd::default();
        let len = codec.encode_blosc1(level, false, src, &mut dest).unwrap();
        let mut back = vec![0; src.len()];
        assert_eq!(codec.decode(None, &dest[..len], &mut back), Ok(src.len()));
        assert!(back == src);
        len
    }

    #[test]
    fn short_runs_are_no_longer_than_version_1_5_4_makes_them() {
        for (level, len, size) in [
            (7, 32, 16),
            (8, 64, 16),
            (8, 128, 16),
            (8, 256, 18),
            (9, 512, 18),
        ] {
            assert!(
                blosc1_size(level, &vec![0; len]) <= size,
                "{len} zeros at level {level}"
            );
        }
        let runs: Vec<u8> = [0xFF, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0]
            .into_iter()
            .flat_map(|byte| [byte; 16])
            .collect();
        assert!(blosc1_size(8, &runs) <= 22);
    }

    #[test]
    fn what_repeats_behind_noise_is_found() {
        let mut random = 1u32;
        let mut noise = |len: usize| -> Vec<u8> {
            let step = || {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 24) as u8
            };
            std::iter::repeat_with(step).take(len).collect()
        };
        let stretch = noise(20_000);
        let mut src = stretch.clone();
        // Pieces of what the parser skipped, each too short to be found by looking at one position in ten.
        for start in (10_000..19_000).step_by(30) {
            src.extend_from_slice(&stretch[start..start + 9]);
        }
        assert!(is_noisy(&src));
        for level in 3..=5 {
            assert!(
                blosc1_size(level, &src) < src.len() * 95 / 100,
                "level {level}"
            );
        }
    }

    #[test]
    fn text_counters_and_short_streams_are_not_noisy() {
        let text = b"ocean relief and depth, measured at a station in the north. ".repeat(100);
        let counters: Vec<u8> = (0..8000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        assert!(!is_noisy(&text));
        assert!(!is_noisy(&counters));
        assert!(!is_noisy(
            &(0..=255).cycle().take(1000).collect::<Vec<u8>>()
        ));
    }
}
