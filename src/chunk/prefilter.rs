//! Callbacks that make blocks before the filter pipeline and consume them after it.

use crate::{Parent, UserData};

/// A block about to be compressed.
pub struct PrefilterCall<'a> {
    /// The block's bytes in the source; none when the caller gave no source.
    pub input: Option<&'a [u8]>,
    /// Where the prefilter puts the block: zeros, unless the prefilter's output is disposable.
    pub output: &'a mut [u8],
    /// Bytes of an item in `output`.
    pub output_typesize: i32,
    /// Where the block begins in the chunk, in bytes of the input; 0 for variable-length blocks.
    pub output_offset: usize,
    /// Number of the chunk in its super-chunk, or −1.
    pub nchunk: i64,
    /// Number of the block in its chunk.
    pub nblock: usize,
    /// Number of the worker, 0 to the number of threads − 1.
    pub tid: usize,
    /// Memory to work in, apart from all others.
    pub scratch: &'a mut [u8],
    /// The super-chunk.
    pub parent: Option<&'a dyn Parent>,
    /// What the owner of the context attached to its parameters.
    pub user_data: Option<&'a UserData>,
}

/// The callback refused the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// Makes the blocks that are compressed. Called from several threads at once, and possibly more than
/// once for a block.
pub trait Prefilter: Send + Sync {
    /// Makes one block.
    ///
    /// # Errors
    /// [`Refused`] makes the compression fail with [`crate::Error::FilterPipeline`].
    fn apply(&self, call: &mut PrefilterCall<'_>) -> Result<(), Refused>;

    /// Bytes of an item the prefilter writes; 0 for those of the chunk. It can't be more than those.
    fn output_typesize(&self) -> i32 {
        0
    }

    /// Whether only the prefilter's side effects count: the chunk is stored as zeros, whatever it wrote.
    fn is_disposable(&self) -> bool {
        false
    }
}

/// A block that has been decompressed.
pub struct PostfilterCall<'a> {
    /// The decoded block.
    pub input: &'a [u8],
    /// Where the postfilter puts its result; it must write all of it.
    pub output: &'a mut [u8],
    /// Bytes of an item.
    pub typesize: usize,
    /// Where the block begins in the chunk, in bytes.
    pub offset: usize,
    /// Number of the chunk in its super-chunk, or −1.
    pub nchunk: i64,
    /// Number of the block in its chunk.
    pub nblock: usize,
    /// Number of the worker, 0 to the number of threads − 1.
    pub tid: usize,
    /// Memory to work in, apart from all others.
    pub scratch: &'a mut [u8],
    /// The super-chunk.
    pub parent: Option<&'a dyn Parent>,
    /// What the owner of the context attached to its parameters.
    pub user_data: Option<&'a UserData>,
}

/// Consumes the blocks that were decompressed. Called from several threads at once.
pub trait Postfilter: Send + Sync {
    /// Works on one block.
    ///
    /// # Errors
    /// [`Refused`] makes the decompression fail with [`crate::Error::Postfilter`].
    fn apply(&self, call: &mut PostfilterCall<'_>) -> Result<(), Refused>;
}
