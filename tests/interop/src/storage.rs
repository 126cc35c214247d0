//! Where super-chunks of the tests lie, and how the library gets at them.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use crate::ffi::{Io, StdioMmap};

/// A directory of a test's own, which goes with it.
pub struct TempDir(PathBuf);

impl TempDir {
    /// A new directory.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn new(name: &str) -> TempDir {
        let name = format!("ferroblosc-interop-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a new directory");
        TempDir(path)
    }

    /// A path inside.
    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A path for C.
///
/// # Panics
/// When there is a NUL in it.
pub fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("no NUL")
}

/// A kind of storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Chunks apart in memory.
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
    pub const ALL: [Kind; 5] = [
        Kind::Sparse,
        Kind::Frame,
        Kind::File,
        Kind::Directory,
        Kind::Mapped,
    ];

    /// Whether it has a path.
    pub fn on_disk(self) -> bool {
        !matches!(self, Kind::Sparse | Kind::Frame)
    }

    /// Whether the chunks are in one piece.
    pub fn contiguous(self) -> bool {
        !matches!(self, Kind::Sparse | Kind::Directory)
    }
}

/// Initial bytes of a mapping. More than the tests write, since the reference keeps a pointer to the index in
/// a mapping that it moves when a metalayer makes it grow.
const INITIAL_MAPPING: usize = 1 << 20;

/// What a handle lends to the library for as long as it lives.
pub(crate) struct Lent {
    pub(crate) io: Io,
    locking: bool,
    map: StdioMmap,
}

/// How a place is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The file system.
    Plain,
    /// The file system, with locks.
    Locked,
    /// A mapping of the file, in this mode.
    Mapped(&'static CStr),
    /// A user's backend, by its id.
    User(u8),
}

impl Lent {
    /// Boxed, as the library keeps pointers into it.
    pub(crate) fn new(access: Access) -> Box<Lent> {
        let mode = match access {
            Access::Mapped(mode) => mode,
            _ => c"r",
        };
        let mut lent = Box::new(Lent {
            io: Io {
                id: 0,
                name: c"filesystem".as_ptr(),
                params: null_mut(),
            },
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
