//! Files mapped into memory as a backend.
//!
//! Reading a mapped file copies nothing: frames borrow bytes of the mapping.

use super::backend::{Backend, Identity, Mapped, Mode, Stream, View, WriteGranularity};
use super::filesystem::FileSystem;
use super::mapping::{Access, Mapping, Pages, descriptor, identity_of};
use super::reader::open_with_spare_descriptors;
use crate::{Error, ErrorKind, Result, kernels};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Default number of bytes that are mapped initially.
pub const DEFAULT_INITIAL_SIZE: usize = 1 << 30;

/// The mode in which a file is opened and mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapMode {
    /// `r`: reading; the file must exist.
    Read,
    /// `r+`: reading and writing; the file must exist.
    Update,
    /// `w+`: reading and writing; the file is created or truncated.
    Create,
    /// `c`: reading and writing; changes stay in memory; the file must exist.
    Private,
}

impl MapMode {
    /// Returns the permitted access to the mapping.
    #[doc(hidden)]
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

    /// Prints the line about a mapped file, if `BLOSC_INFO` is set. Programs for C-Blosc2 search
    /// for this text.
    #[doc(hidden)]
    pub fn write_info(self, path: &dyn std::fmt::Display, mapping: &Mapping) {
        crate::trace::write_info(format_args!(
            "Opened memory-mapped file {path} in mode {} with an mapping size of {} bytes.",
            self.name(),
            mapping.mapping_size
        ));
    }

    /// Opens a file to map it. Never waits for a FIFO, and rejects what is not a regular file.
    #[doc(hidden)]
    pub fn open(self, path: &Path) -> std::io::Result<File> {
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

/// One file, mapped into memory when it is first opened and until the backend is destroyed or
/// dropped.
///
/// The backend determines the mode in which the file is opened; requested modes are ignored. Sparse
/// frames are not supported. A file that others grow, truncate or replace is mapped again when it
/// is next opened or read.
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
    /// Pages of earlier mappings, whose bytes may be borrowed.
    old: Vec<Pages>,
    /// Keeps the mapping's descriptor open.
    file: File,
}

// SAFETY: any thread may use the mapped memory, and everything that changes it requires `&mut
// self`.
unsafe impl Send for MappedFile {}
// SAFETY: as above.
unsafe impl Sync for MappedFile {}

impl Mmap {
    /// Returns a backend that maps a file in this mode; a file that may grow is mapped with at
    /// least `initial` bytes, for instance [`DEFAULT_INITIAL_SIZE`].
    pub fn new(mode: MapMode, initial: usize) -> Mmap {
        Mmap { mode, initial, file: Arc::default() }
    }
}

impl Backend for Mmap {
    fn open(&self, path: &Path, _: Mode) -> Result<Box<dyn Stream>> {
        let mut file = write(&self.file);
        match &mut *file {
            Some(opened) if opened.path == path => {
                opened.remap_if_replaced(self.mode, self.initial);
            }
            Some(_) => {
                let error = Error::FileOpen.during("map").at(path);
                return Err(error.because("the backend maps another file"));
            }
            None => *file = Some(MappedFile::open(path, self.mode, self.initial)?),
        }
        Ok(Box::new(MappedStream(Arc::clone(&self.file))))
    }

    fn lends(&self, start: *const u8, len: usize) -> Option<bool> {
        let file = read(&self.file);
        let is_mapped = file.as_ref().is_some_and(|file| {
            file.mapping.has(start, len) || file.old.iter().any(|pages| pages.has(start, len))
        });
        Some(is_mapped)
    }

    fn mapped(&self) -> Mapped {
        if self.mode == MapMode::Private { Mapped::Private } else { Mapped::Shared }
    }

    fn destroy(&self) -> Result<()> {
        let file = write(&self.file).take().ok_or(Error::Failure)?;
        file.sync()
    }
}

impl MappedFile {
    fn open(path: &Path, mode: MapMode, initial: usize) -> Result<MappedFile> {
        let (file, mapping) = map_file(path, mode, initial)?;
        Ok(MappedFile { path: path.to_owned(), mapping, old: Vec::new(), file })
    }

    /// Maps the file at the path if it has replaced the mapped one. On failure the old mapping is
    /// kept.
    fn remap_if_replaced(&mut self, mode: MapMode, initial: usize) {
        let named = FileSystem.file_ops().and_then(|ops| ops.identify(&self.path));
        if named.is_none() || named == self.identity() || self.mapping.is_private_and_changed() {
            return;
        }
        let mode = match mode {
            MapMode::Create => MapMode::Update,
            other => other,
        };
        if let Ok((file, mapping)) = map_file(&self.path, mode, initial) {
            // SAFETY: both files are mapped; this value owns the new mapping from now on.
            self.old.push(unsafe { self.mapping.replace(mapping) });
            self.file = file;
        }
    }

    /// Adapts to a file size changed by others.
    fn adapt_to_file_size(&mut self) -> Result<()> {
        // SAFETY: the file is mapped as long as `self` exists.
        self.old.extend(unsafe { self.mapping.adapt_to_file_size() }?);
        Ok(())
    }

    fn identity(&self) -> Option<Identity> {
        identity_of(descriptor(&self.file))
    }

    fn sync(&self) -> Result<()> {
        // SAFETY: the file is mapped as long as `self` exists.
        unsafe { self.mapping.sync() }.map_err(|error| error.at(&self.path))
    }
}

/// Opens and maps a file. The mapping uses the descriptor until it is replaced or unmapped.
fn map_file(path: &Path, mode: MapMode, initial: usize) -> Result<(File, Mapping)> {
    let file = open_with_spare_descriptors(|| mode.open(path)).map_err(|error| {
        crate::trace_error!("Cannot open the file {}: {error}", path.display());
        Error::FileOpen.during("open").at(path).os(error)
    })?;
    let mapping = Mapping::new(descriptor(&file), mode.access(), initial);
    let mapping = mapping.map_err(|error| error.at(path))?;
    mode.write_info(&path.display(), &mapping);
    Ok((file, mapping))
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: bytes are borrowed at most until the backend ends. Streams cannot access the
        // file: this value was taken out of the state that they share, or is dropped with that
        // state.
        let unmapped = unsafe { self.mapping.unmap() };
        debug_assert_eq!(unmapped, Ok(()), "pages of our own");
    }
}

/// A stateless stream of an [`Mmap`].
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
            // SAFETY: the file is mapped as long as `file` is borrowed, and is only written to
            // through `&mut`.
            unsafe {
                let bytes = mapping.at(position, len).ok_or(Error::FileRead)?;
                kernels::copy::copy_nonoverlapping(bytes.as_ptr(), dest.as_mut_ptr(), len);
            }
        }
        Ok(len)
    }

    fn view(&self, position: u64, len: usize) -> Option<View> {
        let file = self.current().ok()?;
        // SAFETY: the pages stay mapped until the backend ends, even if the file is mapped
        // elsewhere by then, and their bytes stay until the next write or truncation.
        unsafe { Some(View::new(file.as_ref()?.mapping.at(position, len)?, len)) }
    }

    fn write_at(&self, position: u64, bytes: &[u8], _: WriteGranularity) -> Result<()> {
        let mut file = write(&self.0);
        let file = file.as_mut().ok_or(Error::FileWrite)?;
        file.adapt_to_file_size().map_err(|error| error.recast(ErrorKind::FileWrite))?;
        // SAFETY: the file is mapped, the lock excludes other threads, and no view outlives a
        // write.
        let written = unsafe { file.mapping.write(position, bytes.as_ptr(), bytes.len()) };
        written.map_err(|error| error.at(&file.path))
    }

    fn truncate(&self, len: u64) -> Result<()> {
        let mut file = write(&self.0);
        let file = file.as_mut().ok_or(Error::FileTruncate)?;
        file.adapt_to_file_size().map_err(|error| error.recast(ErrorKind::FileTruncate))?;
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
    /// Returns the file, mapped to its current size.
    fn current(&self) -> Result<RwLockReadGuard<'_, Option<MappedFile>>> {
        loop {
            let file = read(&self.0);
            if file.as_ref().is_none_or(|file| file.mapping.is_current()) {
                return Ok(file);
            }
            drop(file);
            if let Some(file) = write(&self.0).as_mut() {
                file.adapt_to_file_size()?;
            }
        }
    }
}

// The size of the file is changed last, so a panic leaves a valid mapping.
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
        writing.write_at(0, b"abcdef", WriteGranularity::Whole).unwrap();
        writing.write_at(1, b"BC", WriteGranularity::Whole).unwrap();
        writing.close().unwrap();
        assert_eq!(contents(reading.as_ref()), b"aBCdef");
        let view = reading.view(1, 2).unwrap();
        // SAFETY: nothing writes to the file meanwhile.
        assert_eq!(unsafe { view.bytes() }, b"BC");
        assert!(reading.view(5, 2).is_none());
        reading.truncate(3).unwrap();
        reading.sync().unwrap();
        assert_eq!(reading.read_at(9, &mut [0]), Ok(0));
        assert_eq!(std::fs::read(&path).unwrap(), b"aBC");
    }

    #[test]
    fn a_backend_maps_one_file_until_it_is_destroyed() {
        let dir = TempDir::new("one-file");
        let (path, other) = (dir.join("f"), dir.join("other"));
        std::fs::write(&path, b"1").unwrap();
        std::fs::write(&other, b"2").unwrap();
        let backend = Mmap::new(MapMode::Update, INITIAL);
        assert_eq!(backend.destroy(), Err(Error::Failure));
        let stream = backend.open(&path, Mode::Read).unwrap();
        assert_eq!(backend.open(&other, Mode::Read).err(), Some(Error::FileOpen));
        assert_eq!(backend.destroy(), Ok(()));
        assert_eq!(stream.size(), Err(Error::FileRead));
        assert_eq!(stream.read_at(0, &mut [0]), Err(Error::FileRead));
        assert_eq!(stream.write_at(0, b"x", WriteGranularity::Whole), Err(Error::FileWrite));
        assert_eq!(stream.truncate(0), Err(Error::FileTruncate));
        assert_eq!(stream.sync(), Err(Error::FileWrite));
        assert!(stream.view(0, 1).is_none());
        let stream = backend.open(&other, Mode::Read).unwrap();
        assert_eq!(contents(stream.as_ref()), b"2");
    }

    #[cfg(unix)]
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
        let bytes = unsafe { view.bytes() };
        assert_eq!(bytes, [7; 3]);
        assert!(backend.lends(bytes.as_ptr(), 3) == Some(true), "the file was remapped");
        std::fs::write(&path, b"xy").unwrap();
        assert!(stream.view(0, 3).is_none());
        assert_eq!(contents(stream.as_ref()), b"xy");
        std::fs::write(&new, b"another").unwrap();
        std::fs::rename(&new, &path).unwrap();
        let stream = backend.open(&path, Mode::Read).unwrap();
        assert_eq!(contents(stream.as_ref()), b"another");
        assert_ne!(stream.identity(), before);
    }

    #[cfg(unix)]
    #[test]
    fn a_changed_private_mapping_and_a_file_that_cannot_be_mapped_are_not_replaced() {
        let dir = TempDir::new("kept-mapping");
        let (path, new) = (dir.join("f"), dir.join("new"));
        let replace = || {
            std::fs::write(&new, b"another").unwrap();
            std::fs::rename(&new, &path).unwrap();
        };
        std::fs::write(&path, b"abc").unwrap();
        let private = Mmap::new(MapMode::Private, INITIAL);
        let stream = private.open(&path, Mode::Read).unwrap();
        stream.write_at(0, b"x", WriteGranularity::Whole).unwrap();
        stream.write_at(0, b"", WriteGranularity::Whole).unwrap();
        replace();
        assert_eq!(contents(&*private.open(&path, Mode::Read).unwrap()), b"xbc");

        let created = Mmap::new(MapMode::Create, INITIAL);
        let stream = created.open(&path, Mode::Read).unwrap();
        stream.write_at(0, b"new", WriteGranularity::Whole).unwrap();
        replace();
        // The other file is not emptied.
        assert_eq!(contents(&*created.open(&path, Mode::Read).unwrap()), b"another");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(contents(&*created.open(&path, Mode::Read).unwrap()), b"another");
        let bytes = [0];
        assert_eq!(created.lends(bytes.as_ptr(), 1), Some(false));
    }

    #[test]
    fn each_mode_opens_and_changes_files_as_documented() {
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
            let written = stream.write_at(0, b"x", WriteGranularity::Whole);
            assert_eq!(written.is_ok(), mode != MapMode::Read);
            assert_eq!(contents(stream.as_ref()), seen.as_bytes(), "{mode:?}");
            drop(backend);
            drop(stream);
            assert_eq!(std::fs::read(&path).unwrap(), left.as_bytes(), "{mode:?}");
        }
    }
}
