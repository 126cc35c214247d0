//! Callbacks that choose parameters before each compression.

use crate::Result;

/// The compression for which a tuner is called.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TunerCall {
    /// The number of bytes to compress.
    pub nbytes: usize,
    /// The item size in bytes.
    pub typesize: usize,
}

/// Chooses block sizes.
pub trait Tuner: Send + Sync {
    /// Returns the block size of the next chunk, or `None` to apply the built-in rule.
    ///
    /// # Errors
    /// The compression fails with the returned error; callers expect [`crate::Error::Tuner`].
    fn next_blocksize(&self, call: &TunerCall) -> Result<Option<usize>>;
}
