//! What a codec or filter may know of the place it is called from.
//!
//! Codecs and filters stand below the chunk and know nothing of it. Some need a fact from above all the
//! same: the item size of the super-chunk, the shape in one of its metalayers, or the C structures a
//! C callback expects to be handed. Such facts come down through [`Surroundings`].

use std::any::Any;

/// The super-chunk a context works for, as the floors below see it.
pub trait Parent: Send + Sync {
    /// Bytes of one item.
    fn typesize(&self) -> i32;
    /// Shows the content of a fixed-length metalayer to `read`. Returns whether there is such a metalayer.
    fn with_metalayer(&self, name: &str, read: &mut dyn FnMut(&[u8])) -> bool;
    /// A copy of the content of a fixed-length metalayer.
    fn metalayer(&self, name: &str) -> Option<Vec<u8>> {
        let mut found = None;
        self.with_metalayer(name, &mut |content| found = Some(content.to_vec()));
        found
    }
    /// Number of the chunk being worked on.
    fn current_chunk(&self) -> i64;
}

/// Anything a caller wants handed back in its callbacks.
pub type Token = dyn Any + Send + Sync;

/// The facts from above that ride along with a codec or filter call.
#[derive(Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The super-chunk, when there is one.
    pub parent: Option<&'a dyn Parent>,
    /// What the owner of the context attached to its parameters.
    pub token: Option<&'a Token>,
    /// When encoding, the whole uncompressed source (empty if a prefilter makes it); when decoding,
    /// the compressed chunk.
    pub chunk: &'a [u8],
    /// Bytes of one item as the chunk header holds it (1 for items of more than 255 bytes).
    pub typesize: usize,
    /// Bytes of a full block of this chunk.
    pub blocksize: usize,
}

impl Surroundings<'_> {
    /// Bytes of one item as the super-chunk says, however large.
    pub(crate) fn parent_typesize(&self) -> Option<usize> {
        let typesize = self.parent?.typesize();
        usize::try_from(typesize)
            .ok()
            .filter(|&typesize| typesize > 0)
    }
}
