//! Where a super-chunk is stored.

use crate::frame::Files;
use crate::io::lock::Lock;
use crate::io::{Backend, Durability, FileSystem};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The storage of a super-chunk: memory, a file or a directory, and its options.
///
/// ```
/// use ferroblosc::chunk::{CParams, DParams};
/// use ferroblosc::schunk::{SChunk, Storage};
///
/// let path = std::env::temp_dir().join(format!("ledger-{}.b2frame", std::process::id()));
/// let storage = Storage::file(&path).durable().checksums();
/// let mut ledger = SChunk::create(storage, CParams::default(), DParams::default())?;
/// ledger.append(&[1; 8000])?;
/// drop(ledger);
///
/// let ledger = SChunk::open(Storage::file(&path), DParams::default())?;
/// assert_eq!(ledger.nbytes(), 8000);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), ferroblosc::Error>(())
/// ```
///
/// | storage | chunks | survives the process |
/// |---|---|---|
/// | [`Storage::memory`] | separate buffers | no |
/// | [`Storage::frame`] | one buffer, which [`SChunk::to_bytes`] copies without conversion | no |
/// | [`Storage::file`] | one file | yes |
/// | [`Storage::directory`] | one file per chunk, and an index | yes |
///
/// [`Storage::at`], [`Storage::backend`], [`Storage::locking`] and [`Storage::durable`] have no
/// effect in memory. The environment variables `BLOSC_LOCKING`, `FERROBLOSC_DURABLE` and
/// `FERROBLOSC_CHECKSUMS` enable locking, durability and checksums for all super-chunks of the
/// process.
///
/// [`SChunk::to_bytes`]: super::SChunk::to_bytes
#[derive(Clone)]
#[must_use]
pub struct Storage {
    /// Whether the chunks are in one frame.
    pub(super) contiguous: bool,
    /// `None` in memory.
    pub(super) path: Option<PathBuf>,
    start: u64,
    backend: Arc<dyn Backend>,
    locking: bool,
    pub(super) durability: Durability,
}

impl Storage {
    fn new(contiguous: bool, path: Option<&Path>) -> Storage {
        Storage {
            contiguous,
            path: path.map(Path::to_path_buf),
            start: 0,
            backend: Arc::new(FileSystem),
            locking: false,
            durability: Durability::default(),
        }
    }

    /// Returns the storage for separate chunks in memory. The super-chunk owns them.
    pub fn memory() -> Storage {
        Storage::new(false, None)
    }

    /// Returns the storage for one frame in memory. The super-chunk owns the buffer.
    pub fn frame() -> Storage {
        Storage::new(true, None)
    }

    /// Returns the storage for one file. [`SChunk::create`] creates it; [`SChunk::open`] opens it.
    ///
    /// [`SChunk::create`]: super::SChunk::create
    /// [`SChunk::open`]: super::SChunk::open
    pub fn file(path: impl AsRef<Path>) -> Storage {
        Storage::new(true, Some(path.as_ref()))
    }

    /// Returns the storage for a directory with one file per chunk. [`SChunk::create`] creates the
    /// directory; [`SChunk::open`] opens it.
    ///
    /// [`SChunk::create`]: super::SChunk::create
    /// [`SChunk::open`]: super::SChunk::open
    pub fn directory(path: impl AsRef<Path>) -> Storage {
        Storage::new(false, Some(path.as_ref()))
    }

    /// Sets the offset of the frame in its file, in bytes; the default is 0. In a directory it is
    /// the offset in the index file. It is used to open a frame that is embedded in another file.
    pub fn at(mut self, start: u64) -> Storage {
        self.start = start;
        self
    }

    /// Uses the given I/O backend instead of the file system. The storage and the super-chunks that
    /// are created with it share the backend.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Storage {
        self.backend = backend;
        self
    }

    /// Locks the super-chunk against other processes during reads and changes. The lock file is
    /// beside the file, or inside the directory. Backends without file operations
    /// ([`Backend::file_ops`]) are not locked.
    pub fn locking(mut self) -> Storage {
        self.locking = true;
        self
    }

    /// Makes changes atomic and durable: an interrupted change leaves the super-chunk in the state
    /// before or after it, and a completed call survives a crash. This requires the file system;
    /// creating or opening a super-chunk with another backend fails with [`Error::InvalidParam`].
    /// The setting is not recorded: it is needed again when the super-chunk is opened for changes.
    ///
    /// [`Error::InvalidParam`]: crate::Error::InvalidParam
    pub fn durable(mut self) -> Storage {
        self.durability.durable = true;
        self
    }

    /// Adds checksums, which reads verify. Frames that already have checksums keep them regardless.
    /// [`Storage::memory`] has no checksums.
    pub fn checksums(mut self) -> Storage {
        self.durability.checksums = true;
        self
    }

    /// Returns the file or directory of the super-chunk at `path`.
    pub(super) fn files(&self, path: &Path) -> Files {
        let backend = Arc::clone(&self.backend);
        let files = if self.contiguous {
            Files::contiguous(backend, path.to_path_buf(), self.start)
        } else {
            Files::sparse(backend, path.to_path_buf(), self.start)
        };
        files.with_durability(self.durability)
    }

    /// Returns the lock of the super-chunk at `path`; `None` without locking.
    pub(super) fn lock(&self, path: &Path) -> Option<Arc<Lock>> {
        let wanted = self.backend.file_ops().is_some() && Lock::enabled(self.locking);
        wanted.then(|| {
            Arc::new(if self.contiguous { Lock::of_file(path) } else { Lock::of_directory(path) })
        })
    }
}
