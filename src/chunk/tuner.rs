//! Callbacks that choose parameters before each compression.

use crate::Result;

/// What a tuner may know of the compression to come.
#[derive(Clone, Copy, Debug)]
pub struct TunerCall {
    /// Bytes to compress.
    pub nbytes: usize,
    /// Bytes of an item.
    pub typesize: usize,
}

/// Chooses block sizes.
pub trait Tuner: Send + Sync {
    /// The block size of the next chunk, or none for the built-in rule.
    ///
    /// # Errors
    /// The error is the compression's; [`crate::Error::Tuner`] is the one callers expect.
    fn next_blocksize(&self, call: &TunerCall) -> Result<Option<usize>>;
}
