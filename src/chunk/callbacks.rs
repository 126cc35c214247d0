//! Callbacks: they generate blocks before the filter pipeline, process them after it, and choose
//! block sizes.

use crate::{Parent, UserData};

/// A block to be compressed.
#[non_exhaustive]
pub struct PrefilterCall<'a> {
    /// The block's bytes in the source, if there is one.
    pub input: Option<&'a [u8]>,
    /// The destination of the block, initially zero unless the output is disposable.
    pub output: &'a mut [u8],
    /// The item size in `output`, in bytes.
    pub output_typesize: i32,
    /// The offset of the block in the input, in bytes; 0 for variable-length blocks.
    pub output_offset: usize,
    /// The index of the chunk in its super-chunk, or −1.
    pub nchunk: i64,
    /// The index of the block in its chunk.
    pub nblock: usize,
    /// The index of the thread, `0..nthreads`.
    pub tid: usize,
    /// Scratch memory for this thread.
    pub scratch: &'a mut [u8],
    /// The super-chunk.
    pub parent: Option<&'a dyn Parent>,
    /// User data from the parameters.
    pub user_data: Option<&'a UserData>,
}

/// The error of a callback that refuses a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the callback refuses the block")
    }
}

impl std::error::Error for Refused {}

/// Generates the blocks to compress. Called concurrently from several threads, and possibly more
/// than once for a block.
pub trait Prefilter: Send + Sync {
    /// Generates one block.
    ///
    /// # Errors
    /// [`Refused`] makes the compression fail with [`crate::Error::FilterPipeline`].
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused>;

    /// Returns the size of an output item in bytes, at most that of the chunk's items; 0 means
    /// equal to it.
    fn output_typesize(&self) -> i32 {
        0
    }

    /// Whether the output is ignored and the chunk stored as zeros, so that only side effects
    /// matter.
    fn is_disposable(&self) -> bool {
        false
    }
}

/// A block that has been decompressed.
#[non_exhaustive]
pub struct PostfilterCall<'a> {
    /// The decoded block.
    pub input: &'a [u8],
    /// The destination of the result; the postfilter must write all of it.
    pub output: &'a mut [u8],
    /// The item size in bytes.
    pub typesize: usize,
    /// The offset of the block in the chunk, in bytes.
    pub offset: usize,
    /// The index of the chunk in its super-chunk, or −1.
    pub nchunk: i64,
    /// The index of the block in its chunk.
    pub nblock: usize,
    /// The index of the thread, `0..nthreads`.
    pub tid: usize,
    /// Scratch memory for this thread.
    pub scratch: &'a mut [u8],
    /// The super-chunk.
    pub parent: Option<&'a dyn Parent>,
    /// User data from the parameters.
    pub user_data: Option<&'a UserData>,
}

/// Processes decompressed blocks. Called concurrently from several threads.
pub trait Postfilter: Send + Sync {
    /// Processes one block.
    ///
    /// # Errors
    /// [`Refused`] makes the decompression fail with [`crate::Error::Postfilter`].
    fn apply(&self, call: &mut PostfilterCall<'_>) -> Result<(), Refused>;
}

/// Returns the size of the scratch memory of prefilters and postfilters, in bytes.
pub(crate) fn scratch_len(blocksize: usize, typesize: usize) -> usize {
    4 * (blocksize + 4 * typesize)
}

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
    fn next_blocksize(&self, call: &TunerCall) -> crate::Result<Option<usize>>;
}
