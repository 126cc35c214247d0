//! Files that appear whole or not at all.
//!
//! A result is written to a temporary file in the folder of its name, and takes the name when it is
//! complete. What is no ordinary file (a pipe, a device) is written to as it is.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use crate::io::named::{in_io, named};
use crate::io::{FileSystem, Stream, WRITE_STEP, journal, temporary};

/// The end of the names of temporary files.
const SUFFIX: &str = ".tmp";

/// A file to be.
pub struct Replacement {
    file: File,
    /// The path that was asked for, for errors.
    path: PathBuf,
    /// The temporary file and the name it gets; none for what is written to directly.
    names: Option<(PathBuf, PathBuf)>,
    /// Keeps the temporary file claimed.
    _claim: Option<Box<dyn Stream>>,
}

impl Replacement {
    /// Begins the file that will be at `path`.
    ///
    /// # Errors
    /// Whatever keeps the file from being made.
    pub fn create(path: &Path) -> Result<Replacement> {
        Replacement::begin(path)
            .map_err(|error| named(error, crate::Error::FileOpen, "create", path).into())
    }

    fn begin(path: &Path) -> io::Result<Replacement> {
        // A link stays, and what it leads to is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&target).ok();
        if existing.as_ref().is_some_and(|there| !there.is_file()) {
            let file = OpenOptions::new().read(true).write(true).open(&target);
            // Not everything that can be written to can be read, too.
            let file = file.or_else(|_| OpenOptions::new().write(true).open(&target))?;
            return Ok(Replacement {
                file,
                path: path.to_owned(),
                names: None,
                _claim: None,
            });
        }
        let no_name = || io::Error::from(io::ErrorKind::InvalidInput);
        let name = target.file_name().ok_or_else(no_name)?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        let hidden = target.with_file_name(hidden);
        let (temporary, claim) =
            temporary::create(&FileSystem, &hidden, SUFFIX, existing.is_some()).map_err(in_io)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&temporary)?;
        let replacement = Replacement {
            file,
            path: path.to_owned(),
            names: Some((temporary, target)),
            _claim: Some(claim),
        };
        if let Some(existing) = existing {
            replacement.file.set_permissions(existing.permissions())?;
        }
        Ok(replacement)
    }

    /// The file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// What writes to it, in parts of a size that the system likes. Flush it in the end.
    pub fn writer(&mut self) -> BufWriter<Steps<'_>> {
        BufWriter::with_capacity(WRITE_STEP, Steps(&mut self.file, &self.path))
    }

    /// Whether positions can be written to again.
    pub fn is_seekable(&self) -> bool {
        self.names.is_some()
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// Whatever keeps it from getting it.
    pub fn commit(mut self) -> Result<()> {
        let Some((temporary, target)) = self.names.take() else {
            return Ok(());
        };
        if let Err(error) = fs::rename(&temporary, &target) {
            let _ = fs::remove_file(temporary);
            let of = crate::Error::FileWrite;
            return Err(named(error, of, "rename a file to", &self.path).into());
        }
        // The file they belonged to is replaced.
        journal::discard_all(&target);
        Ok(())
    }
}

/// A file that never takes much at once, and its path.
pub struct Steps<'f>(&'f mut File, &'f Path);

impl Write for Steps<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(&bytes[..bytes.len().min(WRITE_STEP)]);
        written.map_err(|error| named(error, crate::Error::FileWrite, "write to", self.1))
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
            // Nothing more can be done about a file that can't be removed.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Refuses two paths that lead to one ordinary file.
///
/// # Errors
/// [`Error::SameFile`]
pub fn check_different(input: &Path, output: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    let (Ok(one), Ok(other)) = (fs::metadata(input), fs::metadata(output)) else {
        return Ok(());
    };
    let is_same = one.is_file() && one.dev() == other.dev() && one.ino() == other.ino();
    if is_same {
        Err(Error::SameFile(input.to_owned()))
    } else {
        Ok(())
    }
}
