//! The interface to the files of frames: a [`Backend`], which programs can implement themselves.
//!
//! A backend opens [`Stream`]s by path. Streams are read and written at absolute offsets; they are
//! opened and closed for each task, several at a time and from several threads.

use super::ReadAt;
use crate::os::files::exists;
use crate::{Error, Result};
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// The mode in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Reading; the file must exist.
    Read,
    /// Reading and writing; the file must exist.
    Update,
    /// Writing; the file is created or truncated.
    Create,
    /// Writing at the end; the file is created if it does not exist.
    Append,
}

impl Mode {
    /// Returns the mode string for `fopen`.
    pub fn c_name(self) -> &'static CStr {
        match self {
            Mode::Read => c"rb",
            Mode::Update => c"rb+",
            Mode::Create => c"wb",
            Mode::Append => c"ab",
        }
    }
}

/// The `(size, nmemb)` split passed to a C write callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteGranularity {
    /// One item of all bytes.
    Whole,
    /// Items of one byte.
    Bytes,
}

/// Protection of a frame in files beyond the requirements of its format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Durability {
    /// Whether a frame is in either the old or the new state after an interrupted change.
    pub durable: bool,
    /// Whether corrupted chunks are detected when they are read.
    pub checksums: bool,
}

impl Durability {
    /// Environment variable that enables [`Durability::durable`] for all frames.
    const DURABLE: &str = "FERROBLOSC_DURABLE";
    /// Environment variable that enables [`Durability::checksums`] for all frames.
    const CHECKSUMS: &str = "FERROBLOSC_CHECKSUMS";

    /// Returns the settings of the environment; a variable enables its setting with any value
    /// except an empty one and `0`.
    pub fn of_environment() -> Durability {
        let asked = |variable| {
            std::env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
        };
        Durability { durable: asked(Durability::DURABLE), checksums: asked(Durability::CHECKSUMS) }
    }

    /// Returns the union of both settings.
    pub fn and(self, other: Durability) -> Durability {
        Durability {
            durable: self.durable || other.durable,
            checksums: self.checksums || other.checksums,
        }
    }
}

/// The identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

/// Bytes in a backend's own memory, borrowed from it.
#[derive(Clone, Copy, Debug)]
pub struct View {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the bytes are only read, and stay valid while they are borrowed.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// Borrows `len` bytes from `start` on.
    ///
    /// # Safety
    /// The bytes are initialised, and stay in place and unchanged until the file they belong to is
    /// next written to or truncated through the same backend, or the backend is destroyed.
    pub unsafe fn new(start: NonNull<u8>, len: usize) -> View {
        View { start, len }
    }

    /// Returns the start with which the view was created, and its length. Unlike the address of
    /// [`View::bytes`], it can be freed.
    pub(crate) fn as_raw(self) -> (NonNull<u8>, usize) {
        (self.start, self.len)
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// Until the end of `'a` nothing that invalidates the view happens (see [`View::new`]).
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: the caller of `new` guarantees initialised bytes, and this caller that they are
        // still valid.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device.
    Special,
}

/// The attributes that determine whether a file beside another one is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The type.
    pub kind: FileKind,
    /// The user id of the owner.
    pub owner: u32,
    /// The group id.
    pub group: u32,
    /// The permission bits.
    pub mode: u32,
    /// The number of hard links.
    pub links: u64,
    /// The size of the file in bytes.
    pub size: u64,
    /// Time of the last modification, in nanoseconds.
    pub modified: i128,
    /// Creation time of the file, in nanoseconds since 1970; 0 if unknown.
    pub created_ns: u64,
    /// The device and the inode.
    pub identity: Identity,
}

/// An open file.
pub trait Stream: Send + Sync {
    /// Returns the size of the file in bytes.
    ///
    /// # Errors
    /// [`Error::FileRead`] when it is not available.
    fn size(&self) -> Result<u64>;

    /// Reads into `dest` from `position` on; returns the number of bytes read, which is less than
    /// `dest.len()` only at the end.
    ///
    /// # Errors
    /// [`Error::FileRead`] when reading fails.
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize>;

    /// Borrows `len` bytes from `position` on, if the backend keeps its files in memory; `None`
    /// otherwise, or if the range exceeds the file.
    fn view(&self, position: u64, len: usize) -> Option<View> {
        let _ = (position, len);
        None
    }

    /// Writes all of `bytes` from `position` on.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when not all bytes could be written.
    fn write_at(&self, position: u64, bytes: &[u8], granularity: WriteGranularity) -> Result<()>;

    /// Sets the size of the file to `len` bytes.
    ///
    /// # Errors
    /// [`Error::FileTruncate`] on failure.
    fn truncate(&self, len: u64) -> Result<()>;

    /// Waits until all written bytes are on the disk.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when this cannot be confirmed.
    fn sync(&self) -> Result<()> {
        Err(Error::FileWrite)
    }

    /// Acquires the advisory claim on the file until it is closed; returns false if another handle
    /// has it.
    ///
    /// # Errors
    /// [`Error::Lock`] when the state is not available.
    fn claim(&self) -> Result<bool> {
        Ok(true)
    }

    /// Whether another handle has claimed the file.
    ///
    /// # Errors
    /// [`Error::Lock`] when the state is not available.
    fn is_claimed(&self) -> Result<bool> {
        Ok(false)
    }

    /// Returns the identity of the file, if the backend supports it.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Returns the attributes of the file, if the backend has file owners.
    fn attributes(&self) -> Option<Attributes> {
        None
    }

    /// Closes the file. Dropping the stream also closes it, but ignores errors.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when written bytes may be lost.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Whether and how a backend maps files of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// It does not map files.
    No,
    /// It maps files, and changes reach the files.
    Shared,
    /// It maps files, and changes stay in memory.
    Private,
}

/// A storage of files that opens them by path.
pub trait Backend: Send + Sync {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when it cannot be opened in this mode.
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>>;

    /// Returns the kind of mapping if the files are those of [`FileSystem`](super::FileSystem),
    /// mapped into memory, so that journals may exist beside them.
    fn mapped(&self) -> Mapped {
        Mapped::No
    }

    /// Returns the file operations, if the backend supports them. Without them, files are not kept
    /// open, locked, renamed or removed.
    fn file_ops(&self) -> Option<&dyn FileOps> {
        None
    }

    /// Returns the protection of the frames in these files.
    fn durability(&self) -> Durability {
        Durability::default()
    }

    /// Whether the `len` bytes at `start` overlap bytes that a stream may lend ([`Stream::view`]),
    /// so that a write or truncation changes or moves them; `None` if this is unknown. Only
    /// addresses are compared.
    fn lends(&self, start: *const u8, len: usize) -> Option<bool> {
        let _ = (start, len);
        Some(false)
    }

    /// Closes the backend for one frame.
    ///
    /// # Errors
    /// Any, on failure.
    fn destroy(&self) -> Result<()> {
        Ok(())
    }
}

/// Operations on the names of files.
pub trait FileOps: Send + Sync {
    /// Returns the identity of the file at `path`; `None` if there is none.
    fn identify(&self, path: &Path) -> Option<Identity>;

    /// Returns the attributes of the file at `path`; a symbolic link is not followed.
    fn attributes(&self, path: &Path) -> Option<Attributes>;

    /// Opens an existing file for reading, or for reading and writing. Never follows a symbolic
    /// link in the last component of the path, and never waits for the other end of a FIFO.
    ///
    /// # Errors
    /// [`Error::FileOpen`].
    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>>;

    /// Creates a file for reading and writing; fails if the path exists, even as a symbolic link.
    /// Only the owner has access to a private file.
    ///
    /// # Errors
    /// [`Error::FileOpen`].
    fn create_new(&self, path: &Path, private: bool) -> Result<Box<dyn Stream>>;

    /// Atomically renames `from` to `to`, replacing an existing file.
    ///
    /// # Errors
    /// [`Error::FileWrite`] on failure.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// Renames `from` to `to`, which must not exist, even as a symbolic link. The default is not
    /// atomic: it checks first.
    ///
    /// # Errors
    /// [`Error::FileOpen`] if `to` exists, [`Error::FileWrite`] on other failures.
    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        if self.attributes(to).is_some() {
            return Err(Error::FileOpen.during("create").at(to).os(exists()));
        }
        self.rename(from, to)
    }

    /// Resolves the symbolic links of a path.
    fn resolve(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    /// Copies the permissions of `from` to `to`.
    ///
    /// # Errors
    /// [`Error::FileWrite`] on failure.
    fn copy_permissions(&self, from: &Path, to: &Path) -> Result<()> {
        let _ = (from, to);
        Ok(())
    }

    /// Removes the file at `path`.
    ///
    /// # Errors
    /// [`Error::FileRemove`] on failure.
    fn remove(&self, path: &Path) -> Result<()>;

    /// Creates a directory; its parent must exist, and the path itself must not.
    ///
    /// # Errors
    /// [`Error::FileOpen`] on failure.
    fn make_directory(&self, path: &Path) -> Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// [`Error::FileRemove`] on failure.
    fn remove_directory(&self, path: &Path) -> Result<()>;

    /// Returns the file names in a directory.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when it cannot be read.
    fn list(&self, directory: &Path) -> Result<Vec<std::ffi::OsString>>;

    /// Waits until the names in a directory are on the disk.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when this cannot be confirmed.
    fn sync_directory(&self, directory: &Path) -> Result<()>;
}

impl ReadAt for Box<dyn Stream> {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        Stream::read_at(&**self, position, dest)
    }
}

impl ReadAt for std::sync::Arc<dyn Stream> {
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        Stream::read_at(&**self, position, dest)
    }
}

/// Appends bytes to a file, which is created if it does not exist; returns their offset.
///
/// # Errors
/// [`Error::FileOpen`], [`Error::FileRead`] when the size of the file is not available,
/// [`Error::FileWrite`]. The file then has its old size, as far as possible and if the backend has
/// file operations: the start of a frame after another one would make that one read-only.
pub fn append(backend: &dyn Backend, path: &Path, bytes: &[u8]) -> Result<i64> {
    let stream = match backend.open(path, Mode::Update) {
        Ok(stream) => stream,
        Err(_) => {
            // Only some modes create a file.
            backend.open(path, Mode::Append)?.close()?;
            backend.open(path, Mode::Update)?
        }
    };
    let start = stream.size()?;
    let offset = i64::try_from(start).map_err(|_| Error::FileRead)?;
    let written = stream.write_at(start, bytes, WriteGranularity::Bytes);
    let written = written.and_then(|()| stream.close());
    if written.is_err() && backend.file_ops().is_some() {
        let _ = cut_to(backend, path, start, bytes.len());
    }
    written.map(|()| offset)
}

/// Truncates a file to `size` bytes, unless it has become longer than by `added` bytes.
fn cut_to(backend: &dyn Backend, path: &Path, size: u64, added: usize) -> Result<()> {
    let stream = backend.open(path, Mode::Update)?;
    let added = stream.size()?.checked_sub(size).filter(|&more| more <= added as u64);
    if added.is_some_and(|added| added > 0) {
        stream.truncate(size)?;
    }
    stream.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::fault::{Disk, Fault};

    #[test]
    fn a_failed_append_leaves_the_file_as_it_was() {
        let path = Path::new("f");
        let base = || Disk::holding([("f".into(), b"frame".to_vec())]);
        let disk = base();
        assert_eq!(append(&disk, path, b" and another"), Ok(5));
        assert_eq!(disk.contents()[path], b"frame and another");
        for call in 0..disk.log().len() {
            for fault in [Fault::Fail, Fault::Cut, Fault::Full] {
                let disk = base();
                disk.plan(call, fault);
                let appended = append(&disk, path, b" and another");
                // Bytes that were written before the disk is full remain.
                let expected: &[u8] = match appended {
                    Ok(_) if fault == Fault::Full => b"frame and another",
                    _ => b"frame",
                };
                assert_eq!(disk.contents()[path], expected, "{fault:?} at {call}: {appended:?}");
            }
        }
    }

    #[test]
    fn a_backend_without_its_own_check_renames_only_to_free_names() {
        let disk = Disk::holding([("f".into(), b"1".to_vec()), ("g".into(), b"2".to_vec())]);
        let [f, g, free] = ["f", "g", "h"].map(Path::new);
        assert_eq!(disk.rename_new(f, g), Err(Error::FileOpen));
        assert_eq!(disk.contents()[g], b"2");
        disk.rename_new(f, free).unwrap();
        assert_eq!(disk.contents()[free], b"1");
    }

    #[test]
    fn the_modes_have_the_names_of_c() {
        let modes = [Mode::Read, Mode::Update, Mode::Create, Mode::Append];
        assert_eq!(modes.map(Mode::c_name), [c"rb", c"rb+", c"wb", c"ab"]);
    }

    #[test]
    fn a_file_is_created_by_an_append() {
        let disk = Disk::default();
        assert_eq!(append(&disk, Path::new("f"), b"frame"), Ok(0));
        assert_eq!(disk.contents()[Path::new("f")], b"frame");
        assert_eq!(append(&disk, Path::new("none/f"), b"frame"), Err(Error::FileOpen));
    }
}
