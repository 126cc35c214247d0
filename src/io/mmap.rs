//! Files mapped into memory as a backend.
//!
//! Reading a mapped file copies nothing: frames lend out the file's own bytes.

use super::backend::{Backend, Mode, Portions, Stream, View};
use super::mapping::{Access, Mapping};
use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Bytes that are mapped at first unless another number is asked for.
pub const DEFAULT_INITIAL_SIZE: usize = 1 << 30;

/// How a file is opened and mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapMode {
    /// To be read; it must exist. `r`.
    Read,
    /// To be read and written; it must exist. `r+`.
    Update,
    /// To be read and written, empty at first. `w+`.
    Create,
    /// To be read, and to be changed in memory alone; it must exist. `c`.
    Private,
}

impl MapMode {
    /// What may be done with the mapping.
    pub fn access(self) -> Access {
        match self {
            MapMode::Read => Access::Read,
            MapMode::Update | MapMode::Create => Access::Write,
            MapMode::Private => Access::Private,
        }
    }

    fn open(self, path: &Path) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        match self {
            MapMode::Read | MapMode::Private => {}
            MapMode::Update => {
                options.write(true);
            }
            MapMode::Create => {
                options.write(true).create(true).truncate(true);
            }
        }
        options.open(path)
    }
}

/// One file, mapped into memory when it is first opened and until the backend is destroyed or dropped.
///
/// How it is opened is the backend's matter alone: the modes it is asked for are ignored. Frames in
/// directories can't be kept so.
#[derive(Debug)]
pub struct Mmap {
    mode: MapMode,
    initial: usize,
    file: Arc<RwLock<Option<MappedFile>>>,
}

/// An open file and its mapping.
#[derive(Debug)]
struct MappedFile {
    path: PathBuf,
    mapping: Mapping,
    /// Keeps the mapping's descriptor open.
    _file: File,
}

// SAFETY: the mapping is memory that any thread may use, and what changes it takes `&mut self`.
unsafe impl Send for MappedFile {}
// SAFETY: as above.
unsafe impl Sync for MappedFile {}

impl Mmap {
    /// Files mapped in this mode; those that may grow with `initial` bytes at first, for instance
    /// [`DEFAULT_INITIAL_SIZE`].
    pub fn new(mode: MapMode, initial: usize) -> Mmap {
        Mmap {
            mode,
            initial,
            file: Arc::default(),
        }
    }
}

impl Backend for Mmap {
    fn open(&self, path: &Path, _: Mode) -> Result<Box<dyn Stream>> {
        let mut file = write(&self.file);
        match &*file {
            Some(opened) if opened.path == path => {}
            Some(_) => return Err(Error::FileOpen),
            None => *file = Some(MappedFile::open(path, self.mode, self.initial)?),
        }
        Ok(Box::new(MappedStream(Arc::clone(&self.file))))
    }

    fn destroy(&self) -> Result<()> {
        let file = write(&self.file).take().ok_or(Error::Failure)?;
        file.sync()
    }
}

impl MappedFile {
    fn open(path: &Path, mode: MapMode, initial: usize) -> Result<MappedFile> {
        let file = mode.open(path).map_err(|error| {
            crate::trace_error!("Cannot open the file {}: {error}", path.display());
            Error::FileOpen
        })?;
        Ok(MappedFile {
            path: path.to_owned(),
            mapping: Mapping::new(file.as_raw_fd(), mode.access(), initial)?,
            _file: file,
        })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the file's bytes are mapped, and changed only through `&mut self`.
        unsafe { std::slice::from_raw_parts(self.mapping.start.as_ptr(), self.mapping.file_size) }
    }

    fn sync(&self) -> Result<()> {
        // SAFETY: the file is mapped as long as `self` is there.
        unsafe { self.mapping.sync() }
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: loans end with the backend, and streams find no file any more.
        let unmapped = unsafe { self.mapping.unmap() };
        debug_assert_eq!(unmapped, Ok(()), "pages of our own");
    }
}

/// A stream of an [`Mmap`]; there is nothing in it of its own.
struct MappedStream(Arc<RwLock<Option<MappedFile>>>);

impl Stream for MappedStream {
    fn size(&self) -> Result<u64> {
        let file = read(&self.0);
        let file = file.as_ref().ok_or(Error::FileRead)?;
        Ok(file.mapping.file_size as u64)
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let file = read(&self.0);
        let bytes = file.as_ref().ok_or(Error::FileRead)?.bytes();
        let there = usize::try_from(position)
            .ok()
            .and_then(|position| bytes.get(position..))
            .unwrap_or_default();
        let len = there.len().min(dest.len());
        dest[..len].copy_from_slice(&there[..len]);
        Ok(len)
    }

    fn view(&self, position: u64, len: usize) -> Option<View> {
        let file = read(&self.0);
        // SAFETY: the file is mapped as long as it is there, and its bytes stay where they are until the
        // next write, truncation or the end of the backend.
        unsafe { Some(View::new(file.as_ref()?.mapping.at(position, len)?, len)) }
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: Portions) -> Result<()> {
        let mut file = write(&self.0);
        let mapping = &mut file.as_mut().ok_or(Error::FileWrite)?.mapping;
        // SAFETY: the file is mapped, the lock keeps others away, and no view outlasts a write.
        unsafe { mapping.write(position, bytes.as_ptr(), bytes.len()) }
    }

    fn truncate(&self, len: u64) -> Result<()> {
        let mut file = write(&self.0);
        let mapping = &mut file.as_mut().ok_or(Error::FileTruncate)?.mapping;
        // SAFETY: as in `write_at`.
        unsafe { mapping.truncate(len) }
    }

    fn sync(&self) -> Result<()> {
        read(&self.0).as_ref().ok_or(Error::FileWrite)?.sync()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

// The file's size is what changes last, so a panic inside leaves a mapping that is right.
fn read(file: &RwLock<Option<MappedFile>>) -> RwLockReadGuard<'_, Option<MappedFile>> {
    file.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(file: &RwLock<Option<MappedFile>>) -> RwLockWriteGuard<'_, Option<MappedFile>> {
    file.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::{TempDir, contents};

    const INITIAL: usize = 4096;

    #[test]
    fn streams_of_one_file_see_each_others_writes() {
        let dir = TempDir::new("streams");
        let path = dir.join("f");
        let backend = Mmap::new(MapMode::Create, INITIAL);
        let writing = backend.open(&path, Mode::Create).unwrap();
        let reading = backend.open(&path, Mode::Read).unwrap();
        writing.write_at(0, b"abcdef", Portions::Whole).unwrap();
        writing.write_at(1, b"BC", Portions::Whole).unwrap();
        writing.close().unwrap();
        assert_eq!(contents(reading.as_ref()), b"aBCdef");
        let view = reading.view(1, 2).unwrap();
        // SAFETY: nothing writes the file meanwhile.
        assert_eq!(unsafe { view.bytes() }, b"BC");
        assert!(reading.view(5, 2).is_none());
        reading.truncate(3).unwrap();
        reading.sync().unwrap();
        assert_eq!(reading.read_at(9, &mut [0]), Ok(0));
        assert_eq!(std::fs::read(&path).unwrap(), b"aBC");
    }

    #[test]
    fn a_backend_is_of_one_file_until_it_is_destroyed() {
        let dir = TempDir::new("one-file");
        let (path, other) = (dir.join("f"), dir.join("other"));
        std::fs::write(&path, b"1").unwrap();
        std::fs::write(&other, b"2").unwrap();
        let backend = Mmap::new(MapMode::Update, INITIAL);
        assert_eq!(backend.destroy(), Err(Error::Failure));
        let stream = backend.open(&path, Mode::Read).unwrap();
        assert_eq!(
            backend.open(&other, Mode::Read).err(),
            Some(Error::FileOpen)
        );
        assert_eq!(backend.destroy(), Ok(()));
        assert_eq!(stream.size(), Err(Error::FileRead));
        assert_eq!(stream.read_at(0, &mut [0]), Err(Error::FileRead));
        assert_eq!(
            stream.write_at(0, b"x", Portions::Whole),
            Err(Error::FileWrite)
        );
        assert_eq!(stream.truncate(0), Err(Error::FileTruncate));
        assert_eq!(stream.sync(), Err(Error::FileWrite));
        assert!(stream.view(0, 1).is_none());
        let stream = backend.open(&other, Mode::Read).unwrap();
        assert_eq!(contents(stream.as_ref()), b"2");
    }

    #[test]
    fn each_mode_opens_and_changes_what_it_says() {
        let dir = TempDir::new("map-modes");
        let path = dir.join("f");
        for mode in [MapMode::Read, MapMode::Update, MapMode::Private] {
            let missing = Mmap::new(mode, INITIAL).open(&path, Mode::Create);
            assert_eq!(missing.err(), Some(Error::FileOpen));
        }
        for (mode, there, seen, left) in [
            (MapMode::Create, "", "x", "x"),
            (MapMode::Update, "ab", "xb", "xb"),
            (MapMode::Read, "ab", "ab", "ab"),
            (MapMode::Private, "ab", "xb", "ab"),
        ] {
            std::fs::write(&path, "ab").unwrap();
            let backend = Mmap::new(mode, INITIAL);
            let stream = backend.open(&path, Mode::Read).unwrap();
            assert_eq!(contents(stream.as_ref()), there.as_bytes(), "{mode:?}");
            let written = stream.write_at(0, b"x", Portions::Whole);
            assert_eq!(written.is_ok(), mode != MapMode::Read);
            assert_eq!(contents(stream.as_ref()), seen.as_bytes(), "{mode:?}");
            drop(backend);
            drop(stream);
            assert_eq!(std::fs::read(&path).unwrap(), left.as_bytes(), "{mode:?}");
        }
    }
}
