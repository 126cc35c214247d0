//! A chunk's dictionary: bytes that all streams of the chunk may refer back to.
//!
//! For LZ4 they act as the window before the stream. For Zstandard they are a trained dictionary or plain
//! content. Preparing one costs about as much as compressing a few KiB, so that is done once a chunk.

use zstd_sys::{ZDICT_isError, ZDICT_trainFromBuffer};

use super::lz4::{FastDict, HighDict};
use super::zstd::{DecoderDict, EncoderDict};
use super::{format, id};
use crate::Result;

/// A dictionary prepared for one codec and one direction, to be shared by all workers of a chunk.
pub struct Dictionary {
    bytes: Box<[u8]>,
    prepared: Prepared,
}

enum Prepared {
    /// The bytes are all that is needed.
    Plain,
    Lz4Encoder(FastDict),
    Lz4HcEncoder(HighDict),
    ZstdEncoder(EncoderDict),
    ZstdDecoder(DecoderDict),
}

impl Dictionary {
    /// Prepares `bytes` for encoding with the codec `compcode` at compression level `level` (which only
    /// LZ4HC looks at); codecs without dictionaries ignore them.
    ///
    /// # Errors
    /// [`Error::CodecDict`](crate::Error::CodecDict) if Zstandard refuses the bytes,
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

    /// Prepares `bytes` for decoding streams of `format`; formats without dictionaries ignore them.
    ///
    /// # Errors
    /// [`Error::CodecDict`](crate::Error::CodecDict) if Zstandard refuses the bytes,
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

    /// Trains a Zstandard dictionary of at most `capacity` bytes. `samples` holds the samples one after
    /// another, `sample_sizes` their lengths in bytes, which must not add up to more than `samples` has.
    /// `None` if the samples don't make a dictionary.
    pub fn train_zstd(samples: &[u8], sample_sizes: &[usize], capacity: usize) -> Option<Vec<u8>> {
        let mut total = 0usize;
        for &size in sample_sizes {
            total = total.checked_add(size)?;
        }
        // The trainer itself learns from the first three quarters of the samples, tries the result on the rest,
        // and crashes if the part it learns from is shorter than a word.
        let learnt = &sample_sizes[..sample_sizes.len() * 3 / 4];
        if total > samples.len() || learnt.iter().sum::<usize>() < size_of::<u64>() {
            return None;
        }
        let count = u32::try_from(sample_sizes.len()).ok()?;
        let mut dict = Vec::new();
        dict.try_reserve_exact(capacity).ok()?;
        dict.resize(capacity, 0);
        // SAFETY: pointers and lengths are those of live slices; the sizes stay inside `samples`, as just
        // checked.
        let length = unsafe {
            ZDICT_trainFromBuffer(
                dict.as_mut_ptr().cast(),
                capacity,
                samples.as_ptr().cast(),
                sample_sizes.as_ptr(),
                count,
            )
        };
        // SAFETY: only looks at the number.
        if unsafe { ZDICT_isError(length) } != 0 || length == 0 {
            return None;
        }
        dict.truncate(length);
        Some(dict)
    }

    /// The dictionary's bytes, as stored in the chunk.
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
