//! Leaves to be added to a store.

use std::path::Path;

use ferroblosc::b2nd::Array;
use ferroblosc::schunk::SChunk;

use super::class::Class;
use super::content::{self, Content};
use super::error::Result;
use super::frame;

/// The name of a leaf in errors, before it has a key.
const PLACE: &str = "the new leaf";

/// The suffix of the files of columns of objects and lists in a table. python-blosc2 finds the
/// files of a table in a directory by their names alone.
pub(super) const COLUMN_SUFFIX: &str = ".b2b";

/// A contiguous frame that can be added to a store.
#[derive(Clone, Debug)]
pub struct NewLeaf {
    pub(super) content: Content,
    pub(super) suffix: &'static str,
    /// The uncompressed size, in bytes.
    pub(super) nbytes: u64,
    /// Whether the chunks were decoded.
    is_verified: bool,
}

/// Returns the suffix of the file of a leaf.
pub(super) fn suffix_of(schunk: &SChunk) -> &'static str {
    use ferroblosc::b2nd::meta::{NAME, OLD_NAME};
    if schunk.metalayer(NAME).is_some() || schunk.metalayer(OLD_NAME).is_some() {
        ".b2nd"
    } else if Class::of(schunk) == Class::BatchArray {
        ".b2b"
    } else {
        ".b2f"
    }
}

impl NewLeaf {
    fn new(content: Content, schunk: &SChunk) -> NewLeaf {
        let nbytes = schunk.nbytes().max(0).unsigned_abs();
        NewLeaf { content, suffix: suffix_of(schunk), nbytes, is_verified: false }
    }

    /// Returns the leaf of an array.
    ///
    /// # Errors
    /// - [`super::Error::Frame`] if its chunks cannot be read; [`super::Error::Memory`].
    pub fn array(array: &Array) -> Result<NewLeaf> {
        NewLeaf::schunk(array.schunk())
    }

    /// Returns the leaf of a super-chunk, as a copy in memory.
    ///
    /// # Errors
    /// - [`super::Error::Frame`] if its chunks cannot be read; [`super::Error::Memory`].
    pub fn schunk(schunk: &SChunk) -> Result<NewLeaf> {
        Ok(NewLeaf::new(content::of_schunk(PLACE, schunk)?, schunk))
    }

    /// Returns the leaf of the contiguous frame at the start of `bytes`, which are stored as they
    /// are. Bytes after the frame are left out.
    ///
    /// # Errors
    /// - [`super::Error::Damaged`] or [`super::Error::Frame`] if there is no frame;
    ///   [`super::Error::Memory`].
    pub fn frame(mut bytes: Vec<u8>) -> Result<NewLeaf> {
        let opened = frame::open_bytes(PLACE, &bytes)?;
        bytes.truncate(usize::try_from(bytes.len() as u64 - opened.surplus).unwrap_or(0));
        Ok(NewLeaf::new(bytes.into(), &opened.schunk))
    }

    /// Returns the leaf of the contiguous frame in a file. The file is copied when the store is
    /// committed, and must not change before.
    ///
    /// # Errors
    /// - [`super::Error::Storage`] if it is not a regular file, or cannot be read;
    /// - [`super::Error::Damaged`] or [`super::Error::Frame`] if there is no frame;
    ///   [`super::Error::Memory`].
    pub fn file(path: impl AsRef<Path>) -> Result<NewLeaf> {
        let path = path.as_ref();
        let place = path.display().to_string();
        let content = Content::of_file(&place, path)?;
        NewLeaf::of_content(&place, content)
    }

    /// Returns the leaf of the content of a frame.
    pub(super) fn of_content(key: &str, content: Content) -> Result<NewLeaf> {
        let leaf = content.open(key)?;
        Ok(NewLeaf::new(content, leaf.schunk()))
    }

    /// Decodes all chunks, unless this was done before. `name` is that of the leaf in errors.
    ///
    /// # Errors
    /// - [`super::Error::Damaged`] if a chunk or a metalayer is damaged;
    /// - [`super::Error::Storage`]; [`super::Error::Frame`]; [`super::Error::Memory`].
    pub fn verify(&mut self, name: &str) -> Result<()> {
        if self.is_verified {
            return Ok(());
        }
        self.content.open(name)?.check()?;
        self.is_verified = true;
        Ok(())
    }

    /// Returns the size of the frame, in bytes.
    pub fn stored_size(&self) -> u64 {
        self.content.len()
    }
}
