//! Where frames are kept: files behind a [`Backend`], so that users can bring their own.
//!
//! A backend opens [`Stream`]s by path; streams are read and written at absolute positions and are opened
//! and closed for each task, several at a time and from several threads.

use super::ReadAt;
use crate::{Error, Result};
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To be read; it must exist.
    Read,
    /// To be read and written; it must exist.
    Update,
    /// To be written from the start; what was there is gone.
    Create,
    /// To be written behind what is there; made when it isn't there.
    Append,
}

impl Mode {
    /// The mode in the terms of `fopen`.
    pub fn c_name(self) -> &'static CStr {
        match self {
            Mode::Read => c"rb",
            Mode::Update => c"rb+",
            Mode::Create => c"wb",
            Mode::Append => c"ab",
        }
    }
}

/// In which portions a callback is told to write, which only those who count see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Portions {
    /// One item of all the bytes.
    Whole,
    /// Items of one byte.
    Bytes,
}

/// What a frame in files is guarded against, beyond what its format asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Care {
    /// Whatever happens in the middle of a change, the frame is afterwards as it was before it or as it was
    /// to become.
    pub durable: bool,
    /// Chunks that are not as they were written are noticed when they are read.
    pub checksums: bool,
}

impl Care {
    /// The variable that asks for [`Care::durable`] in all frames.
    const DURABLE: &str = "FERROBLOSC_DURABLE";
    /// The variable that asks for [`Care::checksums`] in all frames.
    const CHECKSUMS: &str = "FERROBLOSC_CHECKSUMS";

    /// What the environment asks for, with any value but an empty one and `0`.
    pub fn of_environment() -> Care {
        let asked = |variable| {
            std::env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
        };
        Care {
            durable: asked(Care::DURABLE),
            checksums: asked(Care::CHECKSUMS),
        }
    }

    /// Both kinds of care together.
    pub fn and(self, other: Care) -> Care {
        Care {
            durable: self.durable || other.durable,
            checksums: self.checksums || other.checksums,
        }
    }
}

/// Which file a path or a handle stands for, whatever its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

/// Bytes that a backend keeps in memory of its own and lends.
#[derive(Clone, Copy, Debug)]
pub struct View {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the bytes are only read, and stay where they are while they are lent.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// Lends `len` bytes from `start` on.
    ///
    /// # Safety
    /// The bytes are initialised, and stay in place and unchanged until the file they belong to is next
    /// written to or truncated through the same backend, or the backend is destroyed.
    pub unsafe fn new(start: NonNull<u8>, len: usize) -> View {
        View { start, len }
    }

    /// The bytes.
    ///
    /// # Safety
    /// Until the end of `'a` nothing of what ends the loan happens (see [`View::new`]).
    pub unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: `new` was promised initialised bytes, the caller promises that they are still there.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

/// The kind of a file.
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

/// The attributes of a file by which a file beside another one is trusted or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// The kind.
    pub kind: FileKind,
    /// The user who owns it.
    pub owner: u32,
    /// The group that owns it.
    pub group: u32,
    /// The permission bits.
    pub mode: u32,
    /// The number of hard links.
    pub links: u64,
    /// Bytes of the file.
    pub size: u64,
    /// The time of the last modification, in nanoseconds.
    pub modified: i128,
    /// The time at which the file was made, in nanoseconds since 1970; 0 when it is unknown.
    pub born: u64,
    /// The device and the inode.
    pub identity: Identity,
}

/// An open file.
pub trait Stream: Send + Sync {
    /// The bytes in the file.
    ///
    /// # Errors
    /// [`Error::FileRead`] when it can't be told.
    fn size(&self) -> Result<u64>;

    /// Reads into `dest` from `position` on; returns how many bytes there were, fewer than `dest` holds
    /// only at the end.
    ///
    /// # Errors
    /// [`Error::FileRead`] when reading fails.
    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize>;

    /// Lends `len` bytes from `position` on, when the backend keeps its files in memory; otherwise, or
    /// when they aren't all there, none.
    fn view(&self, position: u64, len: usize) -> Option<View> {
        let _ = (position, len);
        None
    }

    /// Writes all of `bytes` from `position` on.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when not all could be written.
    fn write_at(&self, position: u64, bytes: &[u8], portions: Portions) -> Result<()>;

    /// Makes the file `len` bytes long.
    ///
    /// # Errors
    /// [`Error::FileTruncate`] when it can't be.
    fn truncate(&self, len: u64) -> Result<()>;

    /// Waits until what was written is on the disk.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when it can't be told to be there.
    fn sync(&self) -> Result<()> {
        Err(Error::FileWrite)
    }

    /// Claims the file until it is closed, by agreement with others who claim; returns whether nobody else
    /// has.
    ///
    /// # Errors
    /// [`Error::Lock`] when it can't be told.
    fn claim(&self) -> Result<bool> {
        Ok(true)
    }

    /// Whether another handle has claimed the file.
    ///
    /// # Errors
    /// [`Error::Lock`] when this can't be found out.
    fn is_claimed(&self) -> Result<bool> {
        Ok(false)
    }

    /// Which file this is, for backends that can tell.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// The attributes of the file, for backends whose files have owners.
    fn attributes(&self) -> Option<Attributes> {
        None
    }

    /// Ends the use of the file, which dropping it does too, but without telling whether it worked.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when something written may be lost.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Whether a backend maps files of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// It does not.
    No,
    /// It does, and changes reach the files.
    Shared,
    /// It does, and changes stay in memory.
    Private,
}

/// What opens files.
pub trait Backend: Send + Sync {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when it can't be opened so.
    fn open(&self, path: &Path, mode: Mode) -> Result<Box<dyn Stream>>;

    /// Whether the files are those of [`FileSystem`](super::FileSystem), mapped into memory, so that
    /// journals may be beside them.
    fn mapped(&self) -> Mapped {
        Mapped::No
    }

    /// The part of a backend that only the file system has, on which handles are kept open, locks taken,
    /// and files renamed and removed.
    fn names(&self) -> Option<&dyn Names> {
        None
    }

    /// What the frames in these files are guarded against.
    fn care(&self) -> Care {
        Care::default()
    }

    /// Whether one of the `len` bytes at `start` may be one that a stream lends ([`Stream::view`]), so that
    /// a write or truncation changes it or moves it. Only addresses are compared.
    fn may_lend(&self, start: *const u8, len: usize) -> bool {
        let _ = (start, len);
        false
    }

    /// Ends the use of the backend by one frame.
    ///
    /// # Errors
    /// Any, when it didn't work.
    fn destroy(&self) -> Result<()> {
        Ok(())
    }
}

/// What can be done with the names of files, not their contents.
pub trait Names: Send + Sync {
    /// Which file is at `path`; none when there is none.
    fn identify(&self, path: &Path) -> Option<Identity>;

    /// The attributes of the file at `path`; a link is not followed.
    fn attributes(&self, path: &Path) -> Option<Attributes>;

    /// Opens an existing file for reading, or for reading and writing. Never follows a link in the
    /// last component of the path, and never waits for the other end of a FIFO.
    ///
    /// # Errors
    /// [`Error::FileOpen`].
    fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>>;

    /// Makes a file for reading and writing; it is an error if anything is at the path, a link
    /// among it. A private file can be used by its owner alone.
    ///
    /// # Errors
    /// [`Error::FileOpen`].
    fn create_new(&self, path: &Path, private: bool) -> Result<Box<dyn Stream>>;

    /// Gives the file at `from` the name `to`; a file of that name is replaced, at once.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when it can't be done.
    fn rename(&self, from: &Path, to: &Path) -> Result<()>;

    /// The path of the file itself, for one that leads to it.
    fn resolve(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    /// Lets those use the file at `to` who may use the one at `from`.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when it can't be done.
    fn copy_permissions(&self, from: &Path, to: &Path) -> Result<()> {
        let _ = (from, to);
        Ok(())
    }

    /// Removes the file at `path`.
    ///
    /// # Errors
    /// [`Error::FileRemove`] when it can't be done.
    fn remove(&self, path: &Path) -> Result<()>;

    /// Makes a directory; its parent must be there, and nothing at its own path.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when it can't be made.
    fn make_directory(&self, path: &Path) -> Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// [`Error::FileRemove`] when it can't be done.
    fn remove_directory(&self, path: &Path) -> Result<()>;

    /// The names of the files in a directory.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when it can't be read.
    fn list(&self, directory: &Path) -> Result<Vec<std::ffi::OsString>>;

    /// Waits until the names in a directory are on the disk.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when it can't be told.
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

/// Writes bytes behind what is in a file, which is made if it isn't there; gives where they begin.
///
/// # Errors
/// [`Error::FileOpen`], [`Error::FileRead`] when the size of the file can't be told, [`Error::FileWrite`].
pub fn append(backend: &dyn Backend, path: &Path, bytes: &[u8]) -> Result<i64> {
    let stream = match backend.open(path, Mode::Update) {
        Ok(stream) => stream,
        Err(_) => {
            // Some modes only make a file.
            backend.open(path, Mode::Append)?.close()?;
            backend.open(path, Mode::Update)?
        }
    };
    let start = stream.size()?;
    stream.write_at(start, bytes, Portions::Bytes)?;
    stream.close()?;
    i64::try_from(start).map_err(|_| Error::FileRead)
}
