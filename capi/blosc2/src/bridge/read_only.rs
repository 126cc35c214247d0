//! The file system without changes: files are opened for reading, and every change is refused.

use ferroblosc::io::{Attributes, Backend, FileOps, FileSystem, Identity, Mode, Stream};
use ferroblosc::os::files;
use ferroblosc::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The files of the operating system, for reading.
pub struct ReadOnlyFileSystem;

/// Returns the error of a refused change of `path`.
fn refused(error: Error, operation: &'static str, path: &Path) -> Error {
    error.during(operation).at(path).os(files::read_only())
}

impl Backend for ReadOnlyFileSystem {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        match mode {
            Mode::Read => FileSystem.open(path, mode),
            _ => Err(refused(Error::FileOpen, "change", path)),
        }
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        Some(self)
    }
}

impl FileOps for ReadOnlyFileSystem {
    fn identify(&self, path: &Path) -> Option<Identity> {
        FileSystem.identify(path)
    }

    fn attributes(&self, path: &Path) -> Option<Attributes> {
        FileSystem.attributes(path)
    }

    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>> {
        if writes {
            return Err(refused(Error::FileOpen, "change", path));
        }
        FileSystem.open_unfollowed(path, writes)
    }

    fn create_new(&self, path: &Path, _: bool) -> Result<Box<dyn Stream>> {
        Err(refused(Error::FileOpen, "create", path))
    }

    fn rename(&self, _: &Path, to: &Path) -> Result<()> {
        Err(refused(Error::FileWrite, "rename a file to", to))
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        FileSystem.resolve(path)
    }

    fn copy_permissions(&self, _: &Path, to: &Path) -> Result<()> {
        Err(refused(Error::FileWrite, "set the permissions of", to))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        Err(refused(Error::FileRemove, "remove", path))
    }

    fn make_directory(&self, path: &Path) -> Result<()> {
        Err(refused(Error::FileOpen, "create the directory", path))
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        Err(refused(Error::FileRemove, "remove the directory", path))
    }

    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        FileSystem.list(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        Err(refused(Error::FileWrite, "write the directory", directory))
    }
}
