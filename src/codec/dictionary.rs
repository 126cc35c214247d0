//! Dictionaries: bytes that all streams of a chunk may refer to.
//!
//! LZ4 uses them as the window preceding the stream. Zstandard uses a trained dictionary or raw
//! content. Preparing a dictionary costs about as much as compressing a few KiB, so it is done once
//! per chunk.

use std::any::Any;

use super::info::{Prepared, info, info_of_format};
use crate::Result;

/// A dictionary prepared for one codec and one direction, shared by all workers of a chunk.
pub struct Dictionary {
    /// The representation of the codec, which may point to `bytes` and is therefore declared, and
    /// dropped, before them; `None` if it needs the bytes only.
    prepared: Option<Prepared>,
    bytes: Box<[u8]>,
}

impl Dictionary {
    /// Prepares `bytes` for encoding with the codec `compcode` at compression level `level`, which
    /// only LZ4HC uses. Codecs without dictionaries ignore the bytes.
    ///
    /// # Errors
    /// [`Error::CodecDict`](crate::Error::CodecDict) if the codec rejects the bytes,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn for_encoding(compcode: u8, level: u8, bytes: Vec<u8>) -> Result<Dictionary> {
        let bytes = bytes.into_boxed_slice();
        let functions = info(compcode).and_then(|codec| codec.dictionaries);
        // SAFETY: the bytes are on the heap and belong to the result, which never changes them and
        // drops `prepared`, its first field, before them.
        let prepared =
            functions.map(|functions| unsafe { (functions.for_encoding)(&bytes, level) });
        Ok(Dictionary { prepared: prepared.transpose()?, bytes })
    }

    /// Prepares `bytes` for decoding streams of `format`. Formats without dictionaries ignore them.
    ///
    /// # Errors
    /// [`Error::CodecDict`](crate::Error::CodecDict) if the codec rejects the bytes,
    /// [`Error::MemoryAlloc`](crate::Error::MemoryAlloc).
    pub fn for_decoding(format: u8, bytes: &[u8]) -> Result<Dictionary> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len())?;
        copy.extend_from_slice(bytes);
        let functions = info_of_format(format).and_then(|codec| codec.dictionaries);
        let prepare = functions.and_then(|functions| functions.for_decoding);
        Ok(Dictionary {
            prepared: prepare.map(|prepare| prepare(bytes)).transpose()?,
            bytes: copy.into_boxed_slice(),
        })
    }

    /// Trains a dictionary of at most `capacity` bytes for the codec `compcode`. `samples` contains
    /// the concatenated samples and `sizes` their lengths in bytes. Returns `None` if the lengths
    /// add up to more than `samples.len()`, the samples do not yield a dictionary, or the codec does
    /// not train dictionaries.
    pub fn train(
        compcode: u8,
        samples: &[u8],
        sizes: &[usize],
        capacity: usize,
    ) -> Option<Vec<u8>> {
        let train = info(compcode)?.dictionaries?.train?;
        train(samples, sizes, capacity)
    }

    /// Returns the dictionary's bytes, as stored in the chunk.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the representation of a codec, if it has this type.
    pub(super) fn prepared<T: Any>(&self) -> Option<&T> {
        self.prepared.as_ref()?.downcast_ref()
    }
}
