//! The context of a codec or filter call.
//!
//! The modules of codecs and filters do not depend on those of chunks and super-chunks, but some
//! codecs and filters need their data: the item size of the super-chunk, the shape in one of its
//! metalayers, or the C structures that a C callback expects. [`CallContext`] contains these data.

use std::any::Any;

/// The properties of a super-chunk that codecs and filters can read.
pub trait Parent: Send + Sync {
    /// Returns the item size in bytes.
    fn typesize(&self) -> i32;
    /// Calls `read` with the content of a fixed-length metalayer. Returns whether the metalayer
    /// exists.
    fn with_metalayer(&self, name: &str, read: &mut dyn FnMut(&[u8])) -> bool;
    /// Returns a copy of the content of a fixed-length metalayer.
    fn metalayer(&self, name: &str) -> Option<Vec<u8>> {
        let mut found = None;
        self.with_metalayer(name, &mut |content| found = Some(content.to_vec()));
        found
    }
    /// Returns the index of the chunk being processed.
    fn current_chunk(&self) -> i64;
}

/// Any value that is passed through to the caller's callbacks.
pub type UserData = dyn Any + Send + Sync;

/// The context of a codec or filter call.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct CallContext<'a> {
    /// The super-chunk, if any.
    pub parent: Option<&'a dyn Parent>,
    /// The value that the owner of the context attached to its parameters.
    pub user_data: Option<&'a UserData>,
    /// When encoding, the whole uncompressed source (empty if a prefilter generates it); when
    /// decoding, the compressed chunk.
    pub chunk: &'a [u8],
    /// The item size in bytes as stored in the chunk header (1 for items of more than 255 bytes).
    pub typesize: usize,
    /// The size of a full block of the chunk in bytes.
    pub blocksize: usize,
}

impl CallContext<'_> {
    /// Returns the item size in bytes of the super-chunk, which has no upper limit.
    pub(crate) fn parent_typesize(&self) -> Option<usize> {
        let typesize = self.parent?.typesize();
        usize::try_from(typesize).ok().filter(|&typesize| typesize > 0)
    }
}
