//! Files mapped into memory as a backend.
//!
//! Reading a mapped file copies nothing: frames lend out the file's own bytes.

use super::backend::{Backend, Identity, Mapped, Mode, Portions, Stream, View};
use super::filesystem::FileSystem;
use super::mapping::{Access, Mapping, Pages, identity_of};
use crate::{Error, ErrorKind, Result};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
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

    /// Returns the name of the mode.
    pub fn name(self) -> &'static str {
        match self {
            MapMode::Read => "r",
            MapMode::Update => "r+",
            MapMode::Create => "w+",
            MapMode::Private => "c",
        }
    }

    /// Writes the line about a file that was mapped, if `BLOSC_INFO` asks for it. Programs of C-Blosc2
    /// search for its words.
    pub fn inform(self, path: &dyn std::fmt::Display, mapping: &Mapping) {
        crate::trace::inform(format_args!(
            "Opened memory-mapped file {path} in mode {} with an mapping size of {} bytes.",
            self.name(),
            mapping.mapping_size
        ));
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
        super::regular::open_with(&mut options, path, false)
    }
}

/// One file, mapped into memory when it is first opened and until the backend is destroyed or dropped.
///
/// How it is opened is the backend's matter alone: the modes it is asked for are ignored. Frames in
/// directories can't be kept so. A file that others make longer or shorter, or that another one replaces, is
/// mapped again when it is next opened or read.
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
    /// Pages of earlier mappings, of which bytes may be lent.
    old: Vec<Pages>,
    /// Keeps the mapping's descriptor open.
    file: File,
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
        match &mut *file {
            Some(opened) if opened.path == path => opened.follow_name(self.mode, self.initial),
            Some(_) => {
                let error = Error::FileOpen.during("map").at(path);
                return Err(error.because("the backend maps another file"));
            }
            None => *file = Some(MappedFile::open(path, self.mode, self.initial)?),
        }
        Ok(Box::new(MappedStream(Arc::clone(&self.file))))
    }

    fn may_lend(&self, start: *const u8, len: usize) -> bool {
        let file = read(&self.file);
        file.as_ref()
            .is_some_and(|file| file.mapping.has(start, len))
    }

    fn mapped(&self) -> Mapped {
        if self.mode == MapMode::Private {
            Mapped::Private
        } else {
            Mapped::Shared
        }
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
            Error::FileOpen.during("open").at(path).os(error)
        })?;
        let mapping = Mapping::new(file.as_raw_fd(), mode.access(), initial)
            .map_err(|error| error.at(path))?;
        mode.inform(&path.display(), &mapping);
        Ok(MappedFile {
            path: path.to_owned(),
            mapping,
            old: Vec::new(),
            file,
        })
    }

    /// Maps the file that the path names now, when it is another one. One that can't be mapped leaves the old.
    fn follow_name(&mut self, mode: MapMode, initial: usize) {
        let named = FileSystem
            .names()
            .and_then(|names| names.identify(&self.path));
        if named.is_none() || named == self.identity() || self.mapping.is_private_and_changed() {
            return;
        }
        let mode = match mode {
            MapMode::Create => MapMode::Update,
            other => other,
        };
        if let Ok(new) = MappedFile::open(&self.path, mode, initial) {
            let mut new = std::mem::ManuallyDrop::new(new);
            // SAFETY: both files are mapped; the new mapping is this value's from now on.
            self.old.push(unsafe { self.mapping.replace(new.mapping) });
            // SAFETY: the value isn't used or dropped any more.
            self.file = unsafe { std::ptr::read(&raw mut new.file) };
        }
    }

    /// Takes up the size that others have given the file.
    fn follow(&mut self) -> Result<()> {
        // SAFETY: the file is mapped as long as `self` is there.
        self.old.extend(unsafe { self.mapping.follow() }?);
        Ok(())
    }

    fn identity(&self) -> Option<Identity> {
        identity_of(self.file.as_raw_fd())
    }

    fn sync(&self) -> Result<()> {
        // SAFETY: the file is mapped as long as `self` is there.
        unsafe { self.mapping.sync() }.map_err(|error| error.at(&self.path))
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
        let file = self.current()?;
        Ok(file.as_ref().ok_or(Error::FileRead)?.mapping.file_size as u64)
    }

    fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
        let file = self.current()?;
        let mapping = &file.as_ref().ok_or(Error::FileRead)?.mapping;
        let there = (mapping.file_size as u64).saturating_sub(position);
        let len = usize::try_from(there).map_or(dest.len(), |there| there.min(dest.len()));
        if len > 0 {
            // SAFETY: the file is mapped as long as `file` is borrowed, and is written to through `&mut` alone.
            unsafe {
                let bytes = mapping.at(position, len).ok_or(Error::FileRead)?;
                bytes.copy_to_nonoverlapping(NonNull::from(&mut dest[0]), len);
            }
        }
        Ok(len)
    }

    fn view(&self, position: u64, len: usize) -> Option<View> {
        let file = self.current().ok()?;
        // SAFETY: the pages are mapped until the end of the backend, also when the file is mapped elsewhere by
        // then, and their bytes stay until the next write or truncation.
        unsafe { Some(View::new(file.as_ref()?.mapping.at(position, len)?, len)) }
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: Portions) -> Result<()> {
        let mut file = write(&self.0);
        let file = file.as_mut().ok_or(Error::FileWrite)?;
        file.follow()
            .map_err(|error| error.recast(ErrorKind::FileWrite))?;
        // SAFETY: the file is mapped, the lock keeps others away, and no view outlasts a write.
        let written = unsafe { file.mapping.write(position, bytes.as_ptr(), bytes.len()) };
        written.map_err(|error| error.at(&file.path))
    }

    fn truncate(&self, len: u64) -> Result<()> {
        let mut file = write(&self.0);
        let file = file.as_mut().ok_or(Error::FileTruncate)?;
        file.follow()
            .map_err(|error| error.recast(ErrorKind::FileTruncate))?;
        // SAFETY: as in `write_at`.
        unsafe { file.mapping.truncate(len) }.map_err(|error| error.at(&file.path))
    }

    fn sync(&self) -> Result<()> {
        read(&self.0).as_ref().ok_or(Error::FileWrite)?.sync()
    }

    fn identity(&self) -> Option<Identity> {
        read(&self.0).as_ref()?.identity()
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl MappedStream {
    /// The file, mapped as far as it goes now.
    fn current(&self) -> Result<RwLockReadGuard<'_, Option<MappedFile>>> {
        loop {
            let file = read(&self.0);
            if file.as_ref().is_none_or(|file| file.mapping.is_current()) {
                return Ok(file);
            }
            drop(file);
            if let Some(file) = write(&self.0).as_mut() {
                file.follow()?;
            }
        }
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
    fn a_file_that_others_change_is_followed() {
        let dir = TempDir::new("followed-file");
        let (path, new) = (dir.join("f"), dir.join("new"));
        std::fs::write(&path, b"abc").unwrap();
        let backend = Mmap::new(MapMode::Read, INITIAL);
        let stream = backend.open(&path, Mode::Read).unwrap();
        let view = stream.view(0, 3).unwrap();
        let before = stream.identity();
        std::fs::write(&path, vec![7; 50_000]).unwrap();
        assert_eq!(stream.size(), Ok(50_000));
        assert_eq!(contents(stream.as_ref()), vec![7; 50_000]);
        // SAFETY: the pages stay, and the file still has these bytes.
        assert_eq!(unsafe { view.bytes() }, [7; 3]);
        std::fs::write(&path, b"xy").unwrap();
        assert!(stream.view(0, 3).is_none());
        assert_eq!(contents(stream.as_ref()), b"xy");
        std::fs::write(&new, b"another").unwrap();
        std::fs::rename(&new, &path).unwrap();
        let stream = backend.open(&path, Mode::Read).unwrap();
        assert_eq!(contents(stream.as_ref()), b"another");
        assert_ne!(stream.identity(), before);
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
