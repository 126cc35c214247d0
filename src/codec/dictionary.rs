//! Dictionaries: bytes that all streams of a chunk may refer to.
//!
//! LZ4 uses them as the window preceding the stream. Zstandard uses a trained dictionary or raw
//! content. Preparing a dictionary costs about as much as compressing a few KiB, so it is done once
//! per chunk.

use zstd_sys::{ZDICT_isError, ZDICT_trainFromBuffer};

use super::lz4::{FastDict, HighDict};
use super::zstd::{DecoderDict, EncoderDict};
use super::{format, id};
use crate::Result;

/// A dictionary prepared for one codec and one direction, shared by all workers of a chunk.
pub struct Dictionary {
    bytes: Box<[u8]>,
    prepared: Prepared,
}

enum Prepared {
    /// The codec needs the bytes only.
    Plain,
    Lz4Encoder(FastDict),
    Lz4HcEncoder(HighDict),
    ZstdEncoder(EncoderDict),
    ZstdDecoder(DecoderDict),
}

impl Dictionary {
    /// Prepares `bytes` for encoding with the codec `compcode` at compression level `level`, which
    /// only LZ4HC uses. Codecs without dictionaries ignore the bytes.
    ///
    /// # Errors
    /// [`Error::CodecDict`](crate::Error::CodecDict) if Zstandard rejects the bytes,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn for_encoding(compcode: u8, level: u8, bytes: Vec<u8>) -> Result<Dictionary> {
        let bytes = bytes.into_boxed_slice();
        let prepared = match compcode {
            id::LZ4 => Prepared::Lz4Encoder(FastDict::new(&bytes)?),
            id::LZ4HC => Prepared::Lz4HcEncoder(HighDict::new(&bytes, level)?),
            id::ZSTD => Prepared::ZstdEncoder(EncoderDict::new(&bytes)?),
            _ => Prepared::Plain,
        };
        Ok(Dictionary { bytes, prepared })
    }

    /// Prepares `bytes` for decoding streams of `format`. Formats without dictionaries ignore them.
    ///
    /// # Errors
    /// [`Error::CodecDict`](crate::Error::CodecDict) if Zstandard rejects the bytes,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn for_decoding(format: u8, bytes: &[u8]) -> Result<Dictionary> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len())?;
        copy.extend_from_slice(bytes);
        let prepared = match format {
            format::ZSTD => Prepared::ZstdDecoder(DecoderDict::new(bytes)?),
            _ => Prepared::Plain,
        };
        Ok(Dictionary {
            bytes: copy.into_boxed_slice(),
            prepared,
        })
    }

    /// Trains a Zstandard dictionary of at most `capacity` bytes. `samples` contains the
    /// concatenated samples and `sample_sizes` their lengths in bytes. Returns `None` if the
    /// lengths add up to more than `samples.len()` or the samples do not yield a dictionary.
    pub fn train_zstd(samples: &[u8], sample_sizes: &[usize], capacity: usize) -> Option<Vec<u8>> {
        let mut total = 0usize;
        for &size in sample_sizes {
            total = total.checked_add(size)?;
        }
        // The trainer learns from the first three quarters of the samples and evaluates the result
        // on the others. It crashes if the former are shorter than 8 bytes in total.
        let learnt = &sample_sizes[..sample_sizes.len() * 3 / 4];
        if total > samples.len() || learnt.iter().sum::<usize>() < size_of::<u64>() {
            return None;
        }
        let count = u32::try_from(sample_sizes.len()).ok()?;
        let mut dict = Vec::new();
        dict.try_reserve_exact(capacity).ok()?;
        dict.resize(capacity, 0);
        // SAFETY: the pointers and lengths come from live slices, and the sizes add up to at most
        // `samples.len()`, as checked above.
        let length = unsafe {
            ZDICT_trainFromBuffer(
                dict.as_mut_ptr().cast(),
                capacity,
                samples.as_ptr().cast(),
                sample_sizes.as_ptr(),
                count,
            )
        };
        // SAFETY: the function only inspects the number.
        if unsafe { ZDICT_isError(length) } != 0 || length == 0 {
            return None;
        }
        dict.truncate(length);
        Some(dict)
    }

    /// Returns the dictionary's bytes, as stored in the chunk.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn lz4_encoder(&self) -> Option<&FastDict> {
        match &self.prepared {
            Prepared::Lz4Encoder(dict) => Some(dict),
            _ => None,
        }
    }

    pub(super) fn lz4hc_encoder(&self) -> Option<&HighDict> {
        match &self.prepared {
            Prepared::Lz4HcEncoder(dict) => Some(dict),
            _ => None,
        }
    }

    pub(super) fn zstd_encoder(&self) -> Option<&EncoderDict> {
        match &self.prepared {
            Prepared::ZstdEncoder(dict) => Some(dict),
            _ => None,
        }
    }

    pub(super) fn zstd_decoder(&self) -> Option<&DecoderDict> {
        match &self.prepared {
            Prepared::ZstdDecoder(dict) => Some(dict),
            _ => None,
        }
    }
}
