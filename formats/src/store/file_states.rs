//! The states of files, to find changes by other programs.

use std::path::{Path, PathBuf};

use ferroblosc::io::{Attributes, FileOps, FileSystem};

use super::error::{Error, Result};

/// The files of an object, and their attributes before it is read. Without files, as those of a zip
/// file, which stays open, nothing changes.
#[derive(Debug, Default)]
pub struct FileStates(Vec<(PathBuf, Option<Attributes>)>);

impl FileStates {
    /// Adds a file in its current state.
    pub fn add(&mut self, path: &Path) {
        self.0.push((path.to_owned(), FileSystem.attributes(path)));
    }

    /// Checks that no file was changed or replaced.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub fn check(&self) -> Result<()> {
        let is_changed = |(path, before): &&(PathBuf, Option<Attributes>)| {
            FileSystem.attributes(path) != *before
        };
        match self.0.iter().find(is_changed) {
            Some((path, _)) => Err(Error::Changed(path.clone())),
            None => Ok(()),
        }
    }
}
