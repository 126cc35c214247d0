//! The file system as a backend.
//!
//! Streams are plain descriptors with `O_CLOEXEC`. They are read and written at explicit offsets,
//! so that threads can share them, and interrupted system calls are resumed.

use super::ReadAt;
use super::backend::{
    Attributes, Backend, Durability, FileKind, FileOps, Identity, Mode, Stream, WriteGranularity,
};
use super::claim::Claim;
use super::reader::open_with_spare_descriptors;
use super::regular;
use crate::os::files::{self, Details, Opening};
use crate::{Error, Result};
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::path::{Path, PathBuf};

/// Buffer size of a buffered writer, in bytes.
pub const WRITE_STEP: usize = 64 << 10;

/// The files of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileSystem;

impl Backend for FileSystem {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        let mut options = OpenOptions::new();
        match mode {
            Mode::Read => options.read(true),
            Mode::Update => options.read(true).write(true),
            Mode::Create => options.write(true).create(true).truncate(true),
            Mode::Append => options.append(true).create(true),
        };
        let writes = !matches!(mode, Mode::Read);
        let creates = matches!(mode, Mode::Create | Mode::Append);
        let operation = if creates { "create" } else { "open" };
        opened_stream(path, operation, regular::open_with(&mut options, path, writes))
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        Some(self)
    }
}

/// The files of the operating system, with extra protection of the frames in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct DurableFileSystem(pub Durability);

impl Backend for DurableFileSystem {
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>> {
        FileSystem.open(path, mode)
    }

    fn file_ops(&self) -> Option<&dyn FileOps> {
        Some(&FileSystem)
    }

    fn durability(&self) -> Durability {
        self.0
    }
}

impl FileOps for FileSystem {
    fn identify(&self, path: &Path) -> Option<Identity> {
        files::identity_at(path).ok().map(identity)
    }

    fn attributes(&self, path: &Path) -> Option<Attributes> {
        files::attributes_at(path).ok().map(attributes)
    }

    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>> {
        let mut options = OpenOptions::new();
        options.read(true).write(writes);
        let open = || files::open(&mut options, path, Opening::NonBlockingUnfollowed);
        opened_stream(path, "open", open_with_spare_descriptors(open))
    }

    fn create_new(&self, path: &Path, private: bool) -> Result<Box<dyn Stream>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        files::set_private(&mut options, private);
        let create = || files::open(&mut options, path, Opening::Unfollowed);
        opened_stream(path, "create", open_with_spare_descriptors(create))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        files::rename(from, to)
            .map_err(|error| Error::FileWrite.during("rename a file to").at(to).os(error))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        let failed = |error: std::io::Error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                return Error::FileOpen.during("create").at(to).os(error);
            }
            Error::FileWrite.during("rename a file to").at(to).os(error)
        };
        match files::rename_new(from, to) {
            Ok(true) => Ok(()),
            Ok(false) if self.attributes(to).is_none() => self.rename(from, to),
            Ok(false) => Err(failed(files::exists())),
            Err(error) => Err(failed(error)),
        }
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
    }

    fn copy_permissions(&self, from: &Path, to: &Path) -> Result<()> {
        let copy = || files::copy_permissions(from, to);
        open_with_spare_descriptors(copy).map_err(|error| {
            let error = Error::FileWrite.os(error);
            error.during("set the permissions of").at(to)
        })
    }

    fn remove(&self, path: &Path) -> Result<()> {
        std::fs::remove_file(path)
            .map_err(|error| Error::FileRemove.during("remove").at(path).os(error))
    }

    fn make_directory(&self, path: &Path) -> Result<()> {
        std::fs::create_dir(path).map_err(|error| {
            let error = Error::FileOpen.os(error);
            error.during("create the directory").at(path)
        })
    }

    fn remove_directory(&self, path: &Path) -> Result<()> {
        std::fs::remove_dir(path).map_err(|error| {
            let error = Error::FileRemove.os(error);
            error.during("remove the directory").at(path)
        })
    }

    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        open_with_spare_descriptors(|| std::fs::read_dir(directory))
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect())
            .map_err(|error| {
                let error = Error::FileOpen.os(error);
                error.during("read the directory").at(directory)
            })
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        // The parent of a bare name is "", the current directory.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        open_with_spare_descriptors(|| files::sync_directory(directory)).map_err(|error| {
            let error = Error::FileWrite.os(error);
            error.during("write the directory").at(directory)
        })
    }
}

/// Wraps an open file of the file system; errors name `path`.
pub fn stream_of(file: File, path: &Path) -> Box<dyn Stream> {
    Box::new(FileStream { claim: Claim::of(&file), file, path: path.into() })
}

/// Like [`stream_of`], for a file that the caller keeps. Not all systems can duplicate an open
/// file.
#[cfg(feature = "internals")]
pub fn stream_of_borrowed<'a>(file: &'a File, path: &Path) -> Box<dyn Stream + 'a> {
    Box::new(FileStream { claim: Claim::of(file), file, path: path.into() })
}

/// Wraps the result of opening a file.
fn opened_stream(
    path: &Path,
    operation: &'static str,
    opened: std::io::Result<File>,
) -> Result<Box<dyn Stream>> {
    match opened {
        Ok(file) => Ok(stream_of(file, path)),
        Err(error) => {
            crate::trace_error!("Cannot open the file {}: {error}", path.display());
            Err(Error::FileOpen.during(operation).at(path).os(error))
        }
    }
}

fn attributes((metadata, details): (Metadata, Details)) -> Attributes {
    let kind = metadata.file_type();
    let kind = if kind.is_file() {
        FileKind::Regular
    } else if kind.is_dir() {
        FileKind::Directory
    } else if kind.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Special
    };
    Attributes {
        kind,
        owner: details.owner,
        group: details.group,
        mode: details.mode,
        links: details.links,
        size: metadata.len(),
        modified: details.modified,
        created_ns: details.created_ns,
        identity: identity(details.identity),
    }
}

fn identity((device, inode): (u64, u64)) -> Identity {
    Identity { device, inode }
}

/// An open file of the operating system.
#[derive(Debug)]
struct FileStream<F> {
    /// The lock of the file; declared before the file, so that it is released first.
    claim: Claim,
    file: F,
    /// The path by which the file was opened, for errors.
    path: Box<Path>,
}

/// The file of a stream.
trait Handle: Send + Sync {
    fn file(&self) -> &File;

    /// Closes the file, if it belongs to the stream.
    fn close(self) -> std::io::Result<()>;
}

impl Handle for File {
    fn file(&self) -> &File {
        self
    }

    fn close(self) -> std::io::Result<()> {
        files::close(self)
    }
}

impl Handle for &File {
    fn file(&self) -> &File {
        self
    }

    fn close(self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<F: Handle> FileStream<F> {
    /// Adds the failed operation and its cause to an error of this file.
    #[cold]
    fn failed(&self, error: Error, operation: &'static str, cause: std::io::Error) -> Error {
        error.during(operation).at(&self.path).os(cause)
    }
}

impl<F: Handle> Stream for FileStream<F> {
    fn size(&self) -> Result<u64> {
        self.file
            .file()
            .metadata()
            .map(|found| found.len())
            .map_err(|error| self.failed(Error::FileRead, "get the size of", error))
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        ReadAt::read_at(self.file.file(), position, dest).map_err(|error| error.at(&self.path))
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: WriteGranularity) -> Result<()> {
        files::write_all_at(self.file.file(), position, bytes).map_err(|error| {
            let path = self.path.display();
            crate::trace_error!("Cannot write to the file {path}: {error}");
            self.failed(Error::FileWrite, "write to", error)
        })
    }

    fn truncate(&self, len: u64) -> Result<()> {
        self.file
            .file()
            .set_len(len)
            .map_err(|error| self.failed(Error::FileTruncate, "set the length of", error))
    }

    fn sync(&self) -> Result<()> {
        let file = self.file.file();
        files::synced(file, file.sync_data())
            .map_err(|error| self.failed(Error::FileWrite, "write out", error))
    }

    fn claim(&self) -> Result<bool> {
        self.claim.lock(self.file.file()).map_err(|error| self.failed(Error::Lock, "lock", error))
    }

    fn is_claimed(&self) -> Result<bool> {
        files::is_claimed(self.file.file()).map_err(|_| Error::Lock)
    }

    fn identity(&self) -> Option<Identity> {
        files::identity_of(self.file.file()).ok().map(identity)
    }

    fn attributes(&self) -> Option<Attributes> {
        files::attributes_of(self.file.file()).ok().map(attributes)
    }

    fn close(self: Box<Self>) -> Result<()> {
        // Some file systems report only on close that written bytes were lost.
        let FileStream { claim, file, path } = *self;
        drop(claim);
        file.close().map_err(|error| Error::FileWrite.during("write to").at(path).os(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::{TempDir, contents};

    #[test]
    fn a_new_name_replaces_nothing() {
        let dir = TempDir::new("new-name");
        let (from, to) = (dir.join("from"), dir.join("to"));
        std::fs::write(&from, b"new").unwrap();
        std::fs::write(&to, b"old").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", dir.join("link")).unwrap();
        #[cfg(not(unix))]
        std::fs::write(dir.join("link"), b"").unwrap();
        std::fs::create_dir(dir.join("empty")).unwrap();
        for existing in ["to", "link", "empty"] {
            let error = FileSystem.rename_new(&from, &dir.join(existing)).unwrap_err();
            assert_eq!(error, Error::FileOpen, "{existing}");
        }
        assert_eq!(std::fs::read(&to).unwrap(), b"old");
        FileSystem.rename_new(&from, &dir.join("free")).unwrap();
        assert_eq!(std::fs::read(dir.join("free")).unwrap(), b"new");
        let error = FileSystem.rename_new(&from, &dir.join("other")).unwrap_err();
        assert_eq!(error, Error::FileWrite);
    }

    #[test]
    fn each_mode_opens_files_as_documented() {
        let dir = TempDir::new("modes");
        let path = dir.join("f");
        for mode in [Mode::Read, Mode::Update] {
            assert_eq!(FileSystem.open(&path, mode).err(), Some(Error::FileOpen));
        }
        let made = FileSystem.open(&path, Mode::Append).unwrap();
        made.write_at(0, b"abc", WriteGranularity::Whole).unwrap();
        made.close().unwrap();
        let appended = FileSystem.open(&path, Mode::Append).unwrap();
        appended.write_at(3, b"def", WriteGranularity::Bytes).unwrap();
        appended.close().unwrap();
        let updated = FileSystem.open(&path, Mode::Update).unwrap();
        updated.write_at(1, b"XY", WriteGranularity::Whole).unwrap();
        assert_eq!(contents(updated.as_ref()), b"aXYdef");
        updated.truncate(2).unwrap();
        updated.sync().unwrap();
        assert_eq!(contents(updated.as_ref()), b"aX");
        updated.close().unwrap();
        let read = FileSystem.open(&path, Mode::Read).unwrap();
        assert_eq!(contents(read.as_ref()), b"aX");
        assert_eq!(read.write_at(0, b"z", WriteGranularity::Whole), Err(Error::FileWrite));
        assert_eq!(read.truncate(0), Err(Error::FileTruncate));
        assert!(read.view(0, 1).is_none());
        let created = FileSystem.open(&path, Mode::Create).unwrap();
        assert_eq!(created.size(), Ok(0));
    }

    #[test]
    fn writing_past_the_end_leaves_a_hole_and_reading_returns_nothing() {
        let dir = TempDir::new("holes");
        let path = dir.join("f");
        let stream = FileSystem.open(&path, Mode::Create).unwrap();
        stream.write_at(3, b"x", WriteGranularity::Whole).unwrap();
        let stream = FileSystem.open(&path, Mode::Read).unwrap();
        assert_eq!(contents(stream.as_ref()), b"\0\0\0x");
        assert_eq!(stream.read_at(9, &mut [0; 4]), Ok(0));
    }

    #[cfg(unix)]
    #[test]
    fn a_full_disk_is_an_error() {
        let full = FileSystem.open(Path::new("/dev/full"), Mode::Update).unwrap();
        let error = full.write_at(0, b"x", WriteGranularity::Whole).unwrap_err();
        assert_eq!(error, Error::FileWrite);
        assert_eq!(error.errno(), Some(libc::ENOSPC));
        let text = "cannot write to /dev/full: No space left on device (os error 28)";
        assert_eq!(error.to_string(), text);
    }

    #[cfg(unix)]
    #[test]
    fn errors_name_the_operation_the_path_and_the_cause() {
        let dir = TempDir::new("causes");
        let path = dir.join("f");
        let missing = dir.join("missing");
        std::fs::write(&path, b"1").unwrap();
        let long = dir.join(&"n".repeat(300));
        let opened = |path: &Path, mode| FileSystem.open(path, mode).err().unwrap();
        let ops = FileSystem.file_ops().unwrap();
        for (error, operation, at, errno) in [
            (opened(&missing, Mode::Read), "open", &*missing, libc::ENOENT),
            (opened(dir.path(), Mode::Update), "open", dir.path(), libc::EISDIR),
            (opened(&path.join("x"), Mode::Read), "open", &path.join("x"), libc::ENOTDIR),
            (opened(&long, Mode::Create), "create", &long, libc::ENAMETOOLONG),
            (opened(dir.path(), Mode::Read), "open", dir.path(), libc::EISDIR),
            (ops.remove(&missing).unwrap_err(), "remove", &missing, libc::ENOENT),
            (ops.rename(&missing, &path).unwrap_err(), "rename a file to", &path, libc::ENOENT),
        ] {
            assert_eq!(error.operation(), Some(operation), "{error}");
            assert_eq!(error.path(), Some(at), "{error}");
            assert_eq!(error.errno(), Some(errno), "{error}");
            assert!(!error.is_corruption(), "{error}");
        }
    }

    #[test]
    fn a_file_is_identified_independently_of_its_name() {
        let dir = TempDir::new("identity");
        let (one, other) = (dir.join("one"), dir.join("other"));
        std::fs::write(&one, b"1").unwrap();
        let ops = FileSystem.file_ops().unwrap();
        let known = ops.identify(&one).unwrap();
        let stream = FileSystem.open(&one, Mode::Read).unwrap();
        assert_eq!(stream.identity(), Some(known));
        ops.rename(&one, &other).unwrap();
        assert_eq!(ops.identify(&one), None);
        assert_eq!(ops.identify(&other), Some(known));
        assert_eq!(ops.list(dir.path()), Ok(vec![OsString::from("other")]));
        ops.sync_directory(dir.path()).unwrap();
        ops.remove(&other).unwrap();
        assert_eq!(ops.remove(&other), Err(Error::FileRemove));
        assert_eq!(ops.rename(&other, &one), Err(Error::FileWrite));
        assert_eq!(ops.list(&other), Err(Error::FileOpen));
        assert_eq!(ops.sync_directory(&other), Err(Error::FileWrite));
        ops.sync_directory(Path::new("")).unwrap();
    }

    /// As on some network file systems.
    #[cfg(target_os = "linux")]
    #[test]
    fn directories_that_cannot_be_synced_are_no_error() {
        let directory = Path::new("/proc/self");
        let error = File::open(directory).unwrap().sync_all().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        FileSystem.sync_directory(directory).unwrap();
    }
}
