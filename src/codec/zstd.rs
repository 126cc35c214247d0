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
    ZSTD_getErrorCode, ZSTD_isError, ZSTD_maxCLevel,
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
        self.encoder()?
            .encode_without_splitting(library_level(level), src, dest)
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

    /// As versions before 1.5.7 did: splitting blocks makes some data a good deal larger.
    fn encode_without_splitting(
        &mut self,
        level: i32,
        src: &[u8],
        dest: &mut [u8],
    ) -> Result<usize> {
        let context = self.0.as_ptr();
        // SAFETY: the context is ours alone, and no compression is under way; pointers and lengths are those of
        // live slices.
        let result = unsafe {
            ZSTD_CCtx_setParameter(context, ZSTD_cParameter::ZSTD_c_compressionLevel, level);
            ZSTD_CCtx_setParameter(context, BLOCK_SPLITTER, NO_SPLITTING);
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
