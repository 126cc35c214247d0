//! Atomic creation of files.
//!
//! A file is written under a temporary name in the same directory and renamed once it is complete.
//! If it replaces another file, it is synced first, so that one of the two survives a crash.
//! Special files, such as pipes and devices, are written directly.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::error::{Error, Result};
use super::incomplete::Incomplete;
use ferroblosc::io::named::{in_io, named};
use ferroblosc::io::{
    FileOps, FileSystem, Stream, WRITE_STEP, journal, open_with_spare_descriptors, temporary,
};
use ferroblosc::os::files::{self, Opening};

/// The suffix of temporary file names.
const SUFFIX: &str = ".tmp";

/// A file that is being created.
pub struct Replacement {
    file: File,
    /// The requested path, for errors.
    path: PathBuf,
    /// `None` for a special file.
    temporary: Option<Temporary>,
}

/// The temporary file of a replacement. It is removed unless it gets its final name.
struct Temporary {
    path: PathBuf,
    target: FinalPath,
    /// The file, which is locked as long as this is open.
    claim: Box<dyn Stream>,
}

/// The path to which a complete file is renamed, and its state before that file was written.
pub(crate) struct FinalPath {
    /// The path without links.
    path: PathBuf,
    /// Whether there was a file.
    replaces: bool,
    /// Whether there was nothing, not even a link without a target.
    is_new: bool,
}

impl FinalPath {
    /// Returns the final path of an output. It is `None` if there is something that is not a regular
    /// file, such as a directory or a FIFO, and for a path with a slash at its end, to which a file
    /// cannot be renamed.
    pub(crate) fn of(path: &Path) -> Option<FinalPath> {
        let last = path.as_os_str().as_encoded_bytes().last();
        if last.is_some_and(|&byte| std::path::is_separator(byte.into())) {
            return None;
        }
        // Follow a symbolic link, so that its target is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&path).ok();
        let is_new = fs::symlink_metadata(&path).is_err();
        let is_regular = existing.as_ref().is_none_or(fs::Metadata::is_file);
        is_regular.then_some(FinalPath { path, replaces: existing.is_some(), is_new })
    }

    /// Returns the path without links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives a file the permissions of the replaced one, if there is one.
    pub(crate) fn copy_permissions(&self, to: &Path) -> io::Result<()> {
        if self.replaces { files::copy_permissions(&self.path, to) } else { Ok(()) }
    }

    /// As [`FinalPath::copy_permissions`] for a file that is written, unless the replaced one is
    /// read-only. Other users cannot read the data then, if they could not read the replaced file.
    pub(crate) fn restrict(&self, to: &Path) -> io::Result<()> {
        match fs::metadata(&self.path) {
            Ok(found) if self.replaces && !found.permissions().readonly() => {
                self.copy_permissions(to)
            }
            _ => Ok(()),
        }
    }

    /// Renames the complete file at `temporary`, which is open as `stream`, to the final path, which
    /// is `shown` in errors. If it replaces another file, it is on the disk after this call. If there
    /// was nothing at this path, a file that another program has created since then is kept.
    ///
    /// # Errors
    /// Returns the error of syncing or renaming, also for a file that is kept. The old file remains,
    /// unless the sync of its directory failed.
    pub(crate) fn publish(
        &self,
        temporary: &Path,
        stream: &dyn Stream,
        shown: &Path,
    ) -> ferroblosc::Result<()> {
        let of_target = |error| temporary::error_of_target(error, temporary, shown);
        if self.replaces {
            stream.sync().map_err(of_target)?;
        }
        let mut incomplete = Incomplete::lock();
        temporary::check(&FileSystem, temporary, stream).map_err(of_target)?;
        let renamed = if self.is_new {
            FileSystem.rename_new(temporary, &self.path)
        } else {
            FileSystem.rename(temporary, &self.path)
        };
        renamed.map_err(|error| temporary::error_of_target(error, &self.path, shown))?;
        incomplete.forget(temporary);
        drop(incomplete);
        // The journals belong to the replaced file.
        journal::discard_all(&self.path);
        if self.replaces {
            sync_entry(&self.path)?;
        }
        Ok(())
    }
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
        let Some(target) = FinalPath::of(path) else {
            // Write-only: a FIFO that is also read needs no other reader, and the data are lost.
            let open = || OpenOptions::new().write(true).open(path);
            let file = open_with_spare_descriptors(open)?;
            return Ok(Replacement { file, path: path.to_owned(), temporary: None });
        };
        let no_name = || io::Error::from(io::ErrorKind::InvalidInput);
        let name = target.path.file_name().ok_or_else(no_name)?;
        let mut hidden = OsString::from(".");
        hidden.push(name);
        let hidden = target.path.with_file_name(hidden);
        let mut incomplete = Incomplete::lock();
        let created = temporary::create(&FileSystem, &hidden, SUFFIX, target.replaces);
        // The caller adds the requested path, which the error of the system does not contain.
        let (temporary, claim) = created.map_err(|error| match error.errno() {
            Some(errno) => io::Error::from_raw_os_error(errno),
            None => in_io(error),
        })?;
        incomplete.add(&temporary);
        drop(incomplete);
        let temporary = Temporary { path: temporary, target, claim };
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let open = || files::open(&mut options, &temporary.path, Opening::Unfollowed);
        let file = open_with_spare_descriptors(open)?;
        temporary.target.copy_permissions(&temporary.path)?;
        Ok(Replacement { file, path: path.to_owned(), temporary: Some(temporary) })
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
        self.temporary.is_some()
    }

    /// Renames the complete file to its final path. If it replaces another file, it is on the disk
    /// after this call. If there was nothing at this path at the start, a file that another program
    /// has created meanwhile is kept.
    ///
    /// # Errors
    /// Returns the error of syncing or renaming, also for a file that is kept. The old file remains,
    /// unless the sync of its directory failed.
    pub fn commit(self) -> Result<()> {
        let Replacement { path, temporary, .. } = self;
        match &temporary {
            Some(Temporary { path: written, target, claim }) => {
                let published = target.publish(written, &**claim, &path);
                published.map_err(|error| in_io(error).into())
            }
            None => Ok(()),
        }
    }
}

/// Makes the directory entry of a file durable, if the process may read the directory and its file
/// system can sync it.
fn sync_entry(path: &Path) -> ferroblosc::Result<()> {
    let directory = path.parent().unwrap_or(Path::new(""));
    match FileSystem.sync_directory(directory) {
        Err(error) if error.errno().is_some_and(files::is_sync_unsupported) => Ok(()),
        synced => synced,
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

impl Drop for Temporary {
    fn drop(&mut self) {
        let mut incomplete = Incomplete::lock();
        incomplete.forget(&self.path);
        // After the rename the path names no file, or that of another process.
        temporary::discard(&FileSystem, &self.path, &*self.claim);
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

#[cfg(test)]
mod tests {
    use super::*;
    use ferroblosc::io::{Identity, WriteGranularity};

    fn names(folder: &Path) -> Vec<OsString> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<OsString> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_was_created_meanwhile_is_kept() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("out");
        let written = |meanwhile: &[u8]| {
            let mut replacement = Replacement::create(&path).unwrap();
            replacement.file().write_all(b"new").unwrap();
            if !meanwhile.is_empty() {
                fs::write(&path, meanwhile).unwrap();
            }
            replacement.commit()
        };
        let error = written(b"other").unwrap_err().to_string();
        assert!(error.starts_with("cannot create "), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"other");
        assert_eq!(names(folder.path()), ["out"], "the temporary file is removed");
        // One that existed at the start is replaced, in any state.
        written(b"changed").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        fs::remove_file(&path).unwrap();
        written(b"").unwrap();
        assert_eq!(names(folder.path()), ["out"]);
    }

    /// A file that cannot be synced.
    struct Unsynced(Box<dyn Stream>);

    impl Stream for Unsynced {
        fn size(&self) -> ferroblosc::Result<u64> {
            self.0.size()
        }

        fn read_at(&self, position: u64, dest: &mut [u8]) -> ferroblosc::Result<usize> {
            self.0.read_at(position, dest)
        }

        fn write_at(
            &self,
            position: u64,
            bytes: &[u8],
            granularity: WriteGranularity,
        ) -> ferroblosc::Result<()> {
            self.0.write_at(position, bytes, granularity)
        }

        fn truncate(&self, len: u64) -> ferroblosc::Result<()> {
            self.0.truncate(len)
        }

        fn identity(&self) -> Option<Identity> {
            self.0.identity()
        }

        fn close(self: Box<Self>) -> ferroblosc::Result<()> {
            self.0.close()
        }
    }

    #[test]
    fn a_file_that_cannot_be_synced_replaces_nothing() {
        let folder = crate::testing::tempdir();
        let (path, written) = (folder.path().join("out"), folder.path().join("written"));
        fs::write(&path, b"old").unwrap();
        fs::write(&written, b"new").unwrap();
        let stream = Unsynced(FileSystem.open_unfollowed(&written, true).unwrap());
        let publish = || FinalPath::of(&path).unwrap().publish(&written, &stream, &path);
        publish().unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        // A file that replaces nothing is not synced.
        fs::remove_file(&path).unwrap();
        publish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_without_a_target_is_replaced() {
        let folder = crate::testing::tempdir();
        let path = folder.path().join("out");
        std::os::unix::fs::symlink("missing", &path).unwrap();
        let mut replacement = Replacement::create(&path).unwrap();
        replacement.file().write_all(b"new").unwrap();
        replacement.commit().unwrap();
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
    }
}
