//! Atomic creation of files.
//!
//! A file is written under a temporary name in the same directory and renamed once it is complete.
//! Special files, such as pipes and devices, are written directly.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::incomplete::Incomplete;
use ferroblosc::io::named::{in_io, named};
use ferroblosc::io::{
    FileSystem, Stream, WRITE_STEP, journal, open_with_spare_descriptors, temporary,
};
use ferroblosc::os::files::{self, Opening};

/// The suffix of temporary file names.
const SUFFIX: &str = ".tmp";

/// A file that is being created.
pub struct Replacement {
    file: File,
    /// The requested path, for errors.
    path: PathBuf,
    /// The temporary path and the final path; `None` for a special file.
    names: Option<(PathBuf, PathBuf)>,
    /// The lock of the temporary file.
    _claim: Option<Box<dyn Stream>>,
}

impl Replacement {
    /// Begins the creation of the file at `path`.
    ///
    /// # Errors
    /// Returns the error of creating the file.
    pub fn create(path: &Path) -> Result<Replacement> {
        Replacement::open(path)
            .map_err(|error| named(error, ferroblosc::Error::FileOpen, "create", path).into())
    }

    fn open(path: &Path) -> io::Result<Replacement> {
        // Follow a symbolic link, so that its target is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&target).ok();
        if existing.as_ref().is_some_and(|found| !found.is_file()) {
            // Write-only: a FIFO that is also read needs no other reader, and the data are lost.
            let open = || OpenOptions::new().write(true).open(&target);
            let file = open_with_spare_descriptors(open)?;
            return Ok(Replacement { file, path: path.to_owned(), names: None, _claim: None });
        }
        let no_name = || io::Error::from(io::ErrorKind::InvalidInput);
        let name = target.file_name().ok_or_else(no_name)?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        let hidden = target.with_file_name(hidden);
        let mut incomplete = Incomplete::lock();
        let (temporary, claim) =
            temporary::create(&FileSystem, &hidden, SUFFIX, existing.is_some()).map_err(in_io)?;
        incomplete.add(&temporary);
        drop(incomplete);
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let open = || files::open(&mut options, &temporary, Opening::Unfollowed);
        let file = open_with_spare_descriptors(open)?;
        let replacement = Replacement {
            file,
            path: path.to_owned(),
            names: Some((temporary, target)),
            _claim: Some(claim),
        };
        if existing.is_some()
            && let Some((temporary, target)) = &replacement.names
        {
            files::copy_permissions(target, temporary)?;
        }
        Ok(replacement)
    }

    /// Returns the file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Returns a buffered writer that limits the size of each write. The caller must flush it.
    pub fn writer(&mut self) -> BufWriter<Steps<'_>> {
        BufWriter::with_capacity(WRITE_STEP, Steps(&mut self.file, &self.path))
    }

    /// Whether written positions can be overwritten.
    pub fn is_seekable(&self) -> bool {
        self.names.is_some()
    }

    /// Renames the complete file to its final path.
    ///
    /// # Errors
    /// Returns the error of renaming.
    pub fn commit(mut self) -> Result<()> {
        let Some((temporary, target)) = self.names.take() else {
            return Ok(());
        };
        let mut incomplete = Incomplete::lock();
        incomplete.forget(&temporary);
        if let Err(error) = fs::rename(&temporary, &target) {
            let _ = fs::remove_file(temporary);
            let code = ferroblosc::Error::FileWrite;
            return Err(named(error, code, "rename a file to", &self.path).into());
        }
        // The journals belong to the replaced file.
        journal::discard_all(&target);
        Ok(())
    }
}

/// A writer that limits the size of each write, with the path for errors.
pub struct Steps<'f>(&'f mut File, &'f Path);

impl Write for Steps<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(&bytes[..bytes.len().min(WRITE_STEP)]);
        written.map_err(|error| named(error, ferroblosc::Error::FileWrite, "write to", self.1))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Seek for Steps<'_> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.0.seek(position)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.names {
            let mut incomplete = Incomplete::lock();
            incomplete.forget(temporary);
            // Errors of the cleanup are ignored.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Fails if both paths are the same regular file.
///
/// # Errors
/// [`Error::SameFile`]
pub fn check_different(input: &Path, output: &Path) -> Result<()> {
    let (Ok(one), Ok(other)) = (files::identity_at(input), files::identity_at(output)) else {
        return Ok(());
    };
    let is_same = one == other && fs::metadata(input).is_ok_and(|found| found.is_file());
    if is_same { Err(Error::SameFile(input.to_owned())) } else { Ok(()) }
}
