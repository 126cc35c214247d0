//! Dictionaries: bytes that all streams of a chunk may refer to.
//!
//! LZ4 uses them as the window preceding the stream. Zstandard uses a trained dictionary or raw
//! content. Preparing a dictionary costs about as much as compressing a few KiB, so it is done once
//! per chunk.

use std::any::Any;

use crate::Result;

/// A dictionary in the representation of one codec.
pub(super) type Prepared = Box<dyn Any + Send + Sync>;

/// A function that trains a dictionary of at most `capacity` bytes on samples of `sizes` bytes.
pub(super) type Train = fn(samples: &[u8], sizes: &[usize], capacity: usize) -> Option<Vec<u8>>;

/// A function that prepares a dictionary.
pub(super) type Prepare = fn(bytes: &[u8]) -> Result<Prepared>;

/// The functions for the dictionaries of a codec.
#[derive(Clone, Copy)]
pub(super) struct Dictionaries {
    /// Trains a dictionary. Without this function the beginning of the data is the dictionary.
    pub train: Option<Train>,
    /// Prepares a dictionary for encoding at a level.
    ///
    /// # Safety
    /// The bytes neither change nor move and are not freed before the result is dropped.
    pub for_encoding: unsafe fn(bytes: &[u8], level: u8) -> Result<Prepared>,
    /// Prepares a dictionary for decoding, if necessary.
    pub for_decoding: Option<Prepare>,
}

/// A dictionary prepared for one codec and one direction, shared by all workers of a chunk.
pub struct Dictionary {
    /// The representation of the codec, which may point to `bytes` and is therefore declared, and
    /// dropped, before them; `None` if it needs the bytes only.
    prepared: Option<Prepared>,
    bytes: Box<[u8]>,
}

impl Dictionary {
    /// Prepares `bytes` for encoding at compression level `level`; without `functions`, the
    /// dictionary consists of the bytes only.
    pub(super) fn new_encoding(
        functions: Option<Dictionaries>,
        level: u8,
        bytes: Vec<u8>,
    ) -> Result<Dictionary> {
        let bytes = bytes.into_boxed_slice();
        // SAFETY: the bytes are on the heap and belong to the result, which never changes them and
        // drops `prepared`, its first field, before them.
        let prepared =
            functions.map(|functions| unsafe { (functions.for_encoding)(&bytes, level) });
        Ok(Dictionary { prepared: prepared.transpose()?, bytes })
    }

    /// Prepares a copy of `bytes` for decoding; without `functions`, the dictionary consists of the
    /// bytes only.
    pub(super) fn new_decoding(
        functions: Option<Dictionaries>,
        bytes: &[u8],
    ) -> Result<Dictionary> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len())?;
        copy.extend_from_slice(bytes);
        let prepare = functions.and_then(|functions| functions.for_decoding);
        Ok(Dictionary {
            prepared: prepare.map(|prepare| prepare(bytes)).transpose()?,
            bytes: copy.into_boxed_slice(),
        })
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
