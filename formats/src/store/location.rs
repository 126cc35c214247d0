//! The location of the frame of a leaf, for programs that open it by other means.

use std::path::PathBuf;

use super::container::{Container, FileId};
use super::content::Content;
use super::error::{Error, Result};
use super::file_states::FileStates;
use super::keys;
use super::open::{Source, Store};

/// The location of the frame of a leaf.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Location {
    /// The frame starts at an offset in a file, in bytes.
    File {
        /// The path of the file: the zip file, or the file of the leaf.
        path: PathBuf,
        /// The offset of the frame in the file, in bytes.
        offset: u64,
    },
    /// The frame has one file for each chunk, in a directory.
    Directory(PathBuf),
    /// A copy of the frame, which is embedded, compressed or in memory.
    Memory(Vec<u8>),
}

impl Store {
    /// Returns the states of the files with an object and everything below it.
    pub(super) fn file_states(&self, key: &str) -> FileStates {
        let mut states = FileStates::default();
        if let Container::Frame(path) = &self.container {
            states.add(path);
        }
        let is_in = |other: &str| other == key || keys::is_below(other, key);
        for (_, source) in self.leaves.iter().filter(|(other, _)| is_in(other)) {
            if let Source::File(FileId::Path(path)) = source {
                states.add(path);
            }
        }
        if let Some(FileId::Path(path)) = &self.embed_file {
            states.add(path);
        }
        states
    }

    /// Returns the location of the frame of a leaf with values of its own. The frame starts with a
    /// valid header, and does not exceed its member or file.
    ///
    /// # Errors
    /// - [`Error::WrongClass`] if the object is not a leaf;
    /// - [`Error::NotData`] if it has no values of its own;
    /// - the errors of [`Store::leaf`].
    pub fn location(&self, key: &str) -> Result<Location> {
        self.check_not_root(key, "a leaf")?;
        if let (Container::Frame(path), Some(Source::File(FileId::Only))) =
            (&self.container, self.leaves.get(key))
            && path.is_dir()
        {
            check_values(&self.leaf(key)?)?;
            return Ok(Location::Directory(path.clone()));
        }
        let content = self.content(key, self.options.check_crc)?;
        let leaf = content.open(key);
        // The path was opened a second time and may name another file.
        self.check_unchanged()?;
        check_values(&leaf?)?;
        Ok(match content {
            Content::Bytes(bytes) => Location::Memory(match std::sync::Arc::try_unwrap(bytes) {
                Ok(bytes) => bytes,
                Err(shared) => shared.to_vec(),
            }),
            Content::Range { path, offset, .. } => Location::File { path, offset },
            Content::Path { path, .. } => Location::File { path, offset: 0 },
            content @ Content::Member { .. } => {
                Location::Memory(content.read(key, self.options.max_frame)?)
            }
        })
    }

    /// Returns the frame of a leaf unchanged, of any class.
    ///
    /// # Errors
    /// - [`Error::WrongClass`] if the object is not a leaf;
    /// - [`Error::Limit`] above [`Options::max_frame`](super::Options::max_frame);
    /// - the errors of [`Store::leaf`].
    pub fn frame(&self, key: &str) -> Result<Vec<u8>> {
        self.check_not_root(key, "a leaf")?;
        self.content(key, self.options.check_crc)?.read(key, self.options.max_frame)
    }

    /// Checks that the zip file is still at its path.
    ///
    /// # Errors
    /// [`Error::Changed`] if another file replaced it; [`Error::Storage`].
    pub fn check_unchanged(&self) -> Result<()> {
        match &self.container {
            Container::Zip(archive) => archive.check_unchanged(),
            _ => Ok(()),
        }
    }
}

fn check_values(leaf: &super::leaf::Leaf) -> Result<()> {
    if leaf.class().has_values() {
        return Ok(());
    }
    Err(Error::NotData { key: leaf.key().to_owned(), class: leaf.class().name() })
}
