//! Files that add their path to their errors.

use super::reader::open_with_spare_descriptors;
use super::{ReadAt, regular};
use crate::{Error, Result};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Adds the operation and the path to an error of [`std::io`], keeping its kind.
#[cold]
pub fn named(error: io::Error, of: Error, operation: &'static str, path: &Path) -> io::Error {
    io::Error::new(error.kind(), of.during(operation).at(path).os(error))
}

/// Wraps `error` in an error of [`std::io`] with the kind of the system's error.
#[cold]
pub fn in_io(error: Error) -> io::Error {
    let kind = error
        .errno()
        .map_or(io::ErrorKind::Other, |errno| io::Error::from_raw_os_error(errno).kind());
    io::Error::new(kind, error)
}

/// A file that adds its path and the operation to its [`std::io`] errors: the message names the
/// file, and the inner error keeps its [`Error::errno`].
#[derive(Debug)]
pub struct NamedFile {
    file: File,
    path: PathBuf,
}

impl NamedFile {
    /// Wraps an open file.
    pub fn new(file: File, path: impl Into<PathBuf>) -> NamedFile {
        NamedFile { file, path: path.into() }
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Returns any error of the operating system, with the path.
    pub fn open(path: &Path) -> io::Result<NamedFile> {
        match open_with_spare_descriptors(|| File::open(path)) {
            Ok(file) => Ok(NamedFile::new(file, path)),
            Err(error) => Err(named(error, Error::FileOpen, "open", path)),
        }
    }

    /// Opens a file for reading, under the conditions of [`super::open_regular`].
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for a FIFO, a socket or a character device;
    /// [`io::ErrorKind::IsADirectory`]; any error of the operating system, with the path.
    pub fn open_regular(path: &Path) -> io::Result<NamedFile> {
        match regular::open_regular(path) {
            Ok(file) => Ok(NamedFile::new(file, path)),
            Err(error) => Err(named(error, Error::FileOpen, "open", path)),
        }
    }

    /// Creates or truncates a file for writing.
    ///
    /// # Errors
    /// Returns any error of the operating system, with the path.
    pub fn create(path: &Path) -> io::Result<NamedFile> {
        match open_with_spare_descriptors(|| File::create(path)) {
            Ok(file) => Ok(NamedFile::new(file, path)),
            Err(error) => Err(named(error, Error::FileOpen, "create", path)),
        }
    }

    /// Returns the open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the open file, without its path.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Writes a whole file; an existing one is overwritten.
///
/// # Errors
/// Returns any error of the operating system, with the path.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    NamedFile::create(path)?.write_all(bytes)
}

/// Reads a whole file, under the conditions of [`NamedFile::open_regular`].
///
/// # Errors
/// Returns the errors of [`NamedFile::open_regular`] and of reading.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    NamedFile::open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Read for NamedFile {
    fn read(&mut self, dest: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(dest);
        read.map_err(|error| named(error, Error::FileRead, "read", &self.path))
    }
}

impl Write for NamedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        written.map_err(|error| named(error, Error::FileWrite, "write to", &self.path))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for NamedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        let at = self.file.seek(position);
        at.map_err(|error| named(error, Error::FileRead, "seek in", &self.path))
    }
}

impl ReadAt for NamedFile {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        ReadAt::read_at(&self.file, position, dest).map_err(|error| error.at(&self.path))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::io::testing::TempDir;

    /// Returns the [`Error`] inside a `std::io` error.
    fn inner(error: &io::Error) -> &Error {
        error.get_ref().unwrap().downcast_ref().unwrap()
    }

    #[test]
    fn an_error_names_the_file_and_keeps_its_kind_and_number() {
        let dir = TempDir::new("named");
        let missing = NamedFile::open(&dir.join("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert_eq!(inner(&missing).errno(), Some(libc::ENOENT));
        let directory = NamedFile::open(dir.path()).unwrap().read(&mut [0]);
        assert_eq!(inner(&directory.unwrap_err()).errno(), Some(libc::EISDIR));
        let full = write(Path::new("/dev/full"), b"x").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        let text = "cannot write to /dev/full: No space left on device (os error 28)";
        assert_eq!(full.to_string(), text);
    }
}
