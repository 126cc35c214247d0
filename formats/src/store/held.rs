//! An open file as the storage of the frames in it.
//!
//! Writers replace zip files by renaming. A super-chunk that opens its file by path would continue
//! in the new file, at the same offset: its chunks, and the leaves of a table, would be those of
//! two files. The frames of a zip file are read from the file that is open.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferroblosc::io::{Backend, Mode, ReadAt, Stream, WriteGranularity};
use ferroblosc::os::files;
use ferroblosc::{Error, Result};

/// The reason for errors of changes.
const READ_ONLY: &str = "members of zip files are not changed in place";

/// An open file, whatever its path names by now. It is only read.
#[derive(Clone)]
pub struct HeldFile {
    file: Arc<File>,
    /// The path by which the file was opened, for errors.
    path: Arc<Path>,
}

impl HeldFile {
    /// Returns the storage of an open file.
    pub fn new(file: Arc<File>, path: PathBuf) -> HeldFile {
        HeldFile { file, path: path.into() }
    }

    /// Fills `dest` with the bytes from `position` on.
    ///
    /// # Errors
    /// The errors of reading, also at the end of the file.
    pub fn read_exact(&self, position: u64, dest: &mut [u8]) -> std::io::Result<()> {
        files::read_exact_at(&self.file, position, dest)
    }

    fn refused(&self, error: Error) -> Error {
        error.because(READ_ONLY).at(&self.path)
    }
}

impl Backend for HeldFile {
    fn open(&self, _path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        if mode == Mode::Read {
            Ok(Box::new(self.clone()))
        } else {
            Err(self.refused(Error::FileOpen))
        }
    }
}

impl Stream for HeldFile {
    fn size(&self) -> Result<u64> {
        let found = self.file.metadata();
        let failed = |error| Error::FileRead.during("get the size of").at(&self.path).os(error);
        found.map(|found| found.len()).map_err(failed)
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        ReadAt::read_at(&*self.file, position, dest).map_err(|error| error.at(&self.path))
    }

    fn write_at(&self, _position: u64, _bytes: &[u8], _: WriteGranularity) -> Result<()> {
        Err(self.refused(Error::FileWrite))
    }

    fn truncate(&self, _len: u64) -> Result<()> {
        Err(self.refused(Error::FileTruncate))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
