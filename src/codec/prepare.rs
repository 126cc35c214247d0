//! Preparation and training of dictionaries with the functions of a codec.

use super::dictionary::Dictionary;
use super::lookup::{info, info_of_format};
use crate::Result;

impl Dictionary {
    /// Prepares `bytes` for encoding with the codec `compcode` at compression level `level`, which
    /// only LZ4HC uses. Codecs without dictionaries ignore the bytes.
    ///
    /// # Errors
    /// [`Error::CodecDict`](crate::Error::CodecDict) if the codec rejects the bytes,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn for_encoding(compcode: u8, level: u8, bytes: Vec<u8>) -> Result<Dictionary> {
        let functions = info(compcode).and_then(|codec| codec.dictionaries);
        Dictionary::new_encoding(functions, level, bytes)
    }

    /// Prepares `bytes` for decoding streams of `format`. Formats without dictionaries ignore them.
    ///
    /// # Errors
    /// [`Error::CodecDict`](crate::Error::CodecDict) if the codec rejects the bytes,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn for_decoding(format: u8, bytes: &[u8]) -> Result<Dictionary> {
        let functions = info_of_format(format).and_then(|codec| codec.dictionaries);
        Dictionary::new_decoding(functions, bytes)
    }

    /// Trains a dictionary of at most `capacity` bytes for the codec `compcode`. `samples` contains
    /// the concatenated samples and `sizes` their lengths in bytes. Returns `None` if the lengths
    /// add up to more than `samples.len()`, the samples do not yield a dictionary, or the codec
    /// does not train dictionaries.
    pub fn train(
        compcode: u8,
        samples: &[u8],
        sizes: &[usize],
        capacity: usize,
    ) -> Option<Vec<u8>> {
        let train = info(compcode)?.dictionaries?.train?;
        train(samples, sizes, capacity)
    }
}
