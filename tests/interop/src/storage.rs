//! The storage of the tests' super-chunks, and its access modes.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

use crate::ffi::{Io, StdioMmap};

/// Converts a path for C.
///
/// # Panics
/// Panics if the path contains NUL.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("no NUL")
}

/// A kind of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Separate chunks in memory.
    Sparse,
    /// A contiguous frame in memory.
    Frame,
    /// A contiguous frame in a file.
    File,
    /// A sparse frame in a directory.
    Directory,
    /// A contiguous frame in a mapped file.
    Mapped,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 5] =
        [Kind::Sparse, Kind::Frame, Kind::File, Kind::Directory, Kind::Mapped];

    /// Whether the storage has a path.
    pub fn on_disk(self) -> bool {
        !matches!(self, Kind::Sparse | Kind::Frame)
    }

    /// Whether the chunks are stored contiguously.
    pub fn contiguous(self) -> bool {
        !matches!(self, Kind::Sparse | Kind::Directory)
    }
}

/// The initial size of a mapping in bytes. It exceeds the amount the tests write, because the
/// reference keeps a pointer to the index in a mapping that may move when a metalayer grows it.
const INITIAL_MAPPING: usize = 1 << 20;

/// The data borrowed by the library for the lifetime of a handle.
pub(crate) struct BorrowedIo {
    pub(crate) io: Io,
    locking: bool,
    map: StdioMmap,
}

/// The access to the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Through the file system.
    Plain,
    /// Through the file system, with locks.
    Locked,
    /// Through a mapping of the file, in this mode.
    Mapped(&'static CStr),
    /// Through a user's backend with this id.
    User(u8),
}

impl BorrowedIo {
    /// Creates a value, boxed because the library keeps pointers into it.
    pub(crate) fn new(access: Access) -> Box<BorrowedIo> {
        let mode = match access {
            Access::Mapped(mode) => mode,
            _ => c"r",
        };
        let mut lent = Box::new(BorrowedIo {
            io: Io { id: 0, name: c"filesystem".as_ptr(), params: null_mut() },
            locking: access == Access::Locked,
            map: StdioMmap::new(mode, INITIAL_MAPPING),
        });
        let (id, params): (u8, *mut c_void) = match access {
            Access::Plain | Access::Locked => (0, (&raw mut lent.locking).cast()),
            Access::Mapped(_) => (1, (&raw mut lent.map).cast()),
            Access::User(id) => (id, null_mut()),
        };
        (lent.io.id, lent.io.params) = (id, params);
        lent
    }
}
