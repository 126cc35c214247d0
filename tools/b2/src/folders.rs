//! The directories that a command creates for its outputs.
//!
//! The name of a new directory is on the disk only after its parent was synced.

use crate::error::Outcome;
use ferroblosc::Error;
use ferroblosc::io::named::named;
use std::fs;
use std::path::{Path, PathBuf};

/// The directories that a command created.
#[derive(Default)]
pub struct Folders {
    /// All directories, each one after its parent.
    made: Vec<PathBuf>,
    /// Those whose names were not written to the disk.
    unsynced: Vec<PathBuf>,
}

impl Folders {
    /// Creates the missing directories of an output.
    pub fn make_parents(&mut self, output: &Path) -> Outcome {
        output.parent().map_or(Ok(()), |parent| self.make(parent))
    }

    /// Creates a directory, if it is missing, and the missing ones in its path.
    pub fn make(&mut self, folder: &Path) -> Outcome {
        let folders = folder.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let missing: Vec<&Path> = folders.take_while(|folder| !folder.is_dir()).collect();
        for &folder in missing.iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => {
                    self.made.push(folder.to_owned());
                    self.unsynced.push(folder.to_owned());
                }
                // Another program created it, which may not have written it to the disk.
                Err(error)
                    if error.kind() == std::io::ErrorKind::AlreadyExists && folder.is_dir() =>
                {
                    self.unsynced.push(folder.to_owned());
                }
                Err(error) => return Err(named(error, Error::FileOpen, "create", folder).into()),
            }
        }
        Ok(())
    }

    /// Writes the names of the directories of an output to the disk with `sync`. Those of other
    /// outputs, and those that failed, remain to be written.
    pub fn sync_parents(
        &mut self,
        output: &Path,
        mut sync: impl FnMut(&Path) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let mut result = Ok(());
        self.unsynced.retain(|folder| {
            if result.is_err() || !output.starts_with(folder) {
                return true;
            }
            result = sync(folder);
            result.is_err()
        });
        result
    }

    /// Removes the empty directories that the command created.
    pub fn remove_empty(&mut self) {
        let made = std::mem::take(&mut self.made);
        let mut kept: Vec<PathBuf> =
            made.into_iter().rev().filter(|folder| fs::remove_dir(folder).is_err()).collect();
        kept.reverse();
        self.made = kept;
        self.unsynced.retain(|folder| folder.is_dir());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc_tools_common::staging::Folder;

    #[test]
    fn directories_stay_unsynced_until_their_sync_succeeds() {
        let folder = Folder::temporary("b2-folders").unwrap();
        let (one, two) = (folder.path("a/b/one"), folder.path("a/b/two"));
        let mut folders = Folders::default();
        folders.make_parents(&one).unwrap();
        // The first file fails, and another one is in the same directory.
        fs::write(folder.path("a/b/other"), b"").unwrap();
        folders.remove_empty();
        folders.make_parents(&two).unwrap();
        folders.make_parents(&folder.path("c/three")).unwrap();
        let mut synced = Vec::new();
        let failed = folders.sync_parents(&two, |path| {
            synced.push(path.to_owned());
            if path.ends_with("b") { Err(std::io::ErrorKind::Other.into()) } else { Ok(()) }
        });
        assert!(failed.is_err());
        assert_eq!(synced, [folder.path("a"), folder.path("a/b")]);
        synced.clear();
        let mut sync = |path: &Path| {
            synced.push(path.to_owned());
            Ok(())
        };
        folders.sync_parents(&two, &mut sync).unwrap();
        folders.sync_parents(&two, &mut sync).unwrap();
        assert_eq!(synced, [folder.path("a/b")]);
        assert_eq!(folders.unsynced, [folder.path("c")]);
        folders.remove_empty();
        assert!(!folder.path("c").exists() && folder.path("a/b/other").exists());
        assert!(folders.unsynced.is_empty());
    }
}
