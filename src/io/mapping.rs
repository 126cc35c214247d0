//! A file mapped into memory: sizes and offsets. `os::mapping` contains the system calls.
//!
//! On Unix, a file that may grow is mapped with spare address space, and remapped at twice its size
//! when that is used up:
//! ```text
//! file        |################|
//! mapping     |################:··················|
//!             0            file_size         mapping_size
//! ```
//! Three situations would end the process with SIGBUS or SIGSEGV and are prevented. A full disk:
//! disk space is reserved before new pages of the file, or holes in it, are written; file systems
//! that copy on write may need more. A read-only mapping: writes are rejected. A private mapping
//! that outgrows its file: anonymous memory follows the last page of the file.
//!
//! Other handles and programs may change the size of the file. [`Mapping::adapt_to_file_size`],
//! which is called before each operation, detects such a change: the added bytes of a longer file
//! are mapped, and access to truncated bytes fails instead of ending the process with SIGBUS.
//! A truncation between this check and the access still ends the process; only a lock that both
//! programs use can prevent it.
//!
//! [`Mapping`] is a plain value; its owner keeps the file open.

use super::backend::Identity;
use crate::os::mapping::{self, read_only, size_and_holes, size_of_file, too_large};
use crate::{Error, Result, kernels};
use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};

pub use crate::os::Access;
pub use crate::os::mapping::Descriptor;

impl Access {
    /// Returns the system's protection flags.
    pub fn protection(self) -> i32 {
        mapping::protection(self)
    }

    /// Whether protection flags permit writing.
    pub fn is_writable(protection: i64) -> bool {
        mapping::is_writable(protection)
    }

    /// Returns the system's mapping flags.
    pub fn flags(self) -> i32 {
        mapping::flags(self)
    }
}

/// Returns the descriptor of an open file.
pub fn descriptor(file: &File) -> Descriptor {
    mapping::descriptor(file)
}

/// A mapped file. Dropping this value does not unmap it.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// Address of the first byte.
    pub start: NonNull<u8>,
    /// The size of the file in bytes; for a private mapping the size it would have if it were
    /// written.
    pub file_size: usize,
    /// The number of mapped bytes, at least `file_size`.
    pub mapping_size: usize,
    /// Permitted access.
    pub access: Access,
    /// The open file.
    pub fd: Descriptor,
    /// For a private mapping, the size of the file in bytes when it was mapped.
    pub of_file: usize,
    /// Whether the file had holes, which use no disk space, when its size was last compared.
    pub has_holes: bool,
    /// Whether a private mapping was written to. It then does not follow changes of the file.
    pub changed: bool,
}

/// Old pages of a mapping, unmapped on drop. Their bytes may be borrowed until then.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: pages belong to the process, not to a thread.
unsafe impl Send for Pages {}

impl Pages {
    /// Whether the `len` bytes at `start` overlap the pages. Only addresses are compared.
    pub fn has(&self, start: *const u8, len: usize) -> bool {
        overlaps(self.start, self.len, start, len)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: this value owns the pages, and the lender of their bytes keeps it as long as they
        // are borrowed.
        let _ = unsafe { mapping::unmap(self.start, self.len) };
    }
}

/// Whether the `len` bytes at `start` overlap the `mapped_len` bytes at `mapped`.
fn overlaps(mapped: NonNull<u8>, mapped_len: usize, start: *const u8, len: usize) -> bool {
    let from = mapped.as_ptr().addr();
    let start = start.addr();
    start < from.saturating_add(mapped_len) && from < start.saturating_add(len)
}

impl Mapping {
    /// Maps a whole file, and at least `initial` bytes if it may grow.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when it cannot be mapped.
    pub fn new(fd: Descriptor, access: Access, initial: usize) -> Result<Mapping> {
        let failed = |error| Error::FileOpen.during("map").os(error);
        let (file_size, has_holes) = size_and_holes(fd).map_err(failed)?;
        let wanted = match access {
            Access::Read => file_size,
            Access::Write | Access::Private => file_size.max(initial),
        };
        let mapping_size = mapping::len_to_map(file_size, wanted);
        let start = mapping::map(fd, access, file_size, mapping_size);
        Ok(Mapping {
            start: start.map_err(failed)?,
            file_size,
            mapping_size,
            access,
            fd,
            of_file: file_size,
            has_holes,
            changed: false,
        })
    }

    /// Whether the file still has the known size.
    pub fn is_current(&self) -> bool {
        let mut mapping = *self;
        mapping.compare()
    }

    /// Whether the file still has the known size. Must precede a write, which needs to know whether
    /// the file has holes.
    pub fn compare(&mut self) -> bool {
        let known = match self.access {
            Access::Private if self.changed => return true,
            Access::Private => self.of_file,
            Access::Read | Access::Write => self.file_size,
        };
        size_and_holes(self.fd).is_ok_and(|(size, has_holes)| {
            self.has_holes = has_holes;
            size == known
        })
    }

    /// Adapts to a file size changed by other handles or programs and maps new bytes; returns the
    /// old pages if the file was mapped at another address. A private mapping that was written to
    /// stays unchanged.
    ///
    /// # Errors
    /// [`Error::FileRead`] when the size is not available or the file cannot be mapped; nothing has
    /// changed then.
    ///
    /// # Safety
    /// `self` describes a mapped file.
    pub unsafe fn adapt_to_file_size(&mut self) -> Result<Option<Pages>> {
        if self.compare() {
            return Ok(None);
        }
        let failed = |error| Error::FileRead.during("map again").os(error);
        let size = size_of_file(self.fd).map_err(failed)?;
        if self.access != Access::Private && size <= self.mapping_size {
            self.file_size = size;
            return Ok(None);
        }
        // Twice the size, so that a file that grows in steps is rarely remapped.
        let wanted = if size > self.mapping_size {
            size.checked_mul(2).ok_or_else(|| failed(too_large()))?
        } else {
            self.mapping_size
        };
        let wanted = mapping::len_to_map(size, wanted);
        let start = mapping::map(self.fd, self.access, size, wanted);
        let old = Pages { start: self.start, len: self.mapping_size };
        match start {
            Ok(start) => self.start = start,
            Err(error) => {
                // The old pages are still in use.
                std::mem::forget(old);
                return Err(failed(error));
            }
        }
        (self.file_size, self.of_file, self.mapping_size) = (size, size, wanted);
        Ok(Some(old))
    }

    /// Replaces a mapping with that of another file; returns the old pages.
    ///
    /// # Safety
    /// Both values describe mapped files.
    pub unsafe fn replace(&mut self, other: Mapping) -> Pages {
        let old = Pages { start: self.start, len: self.mapping_size };
        *self = other;
        old
    }

    /// Whether this is a private mapping with changes, which no file contains.
    pub fn is_private_and_changed(&self) -> bool {
        self.access == Access::Private && self.changed
    }

    /// Returns whether the file has holes; `None` if bytes of a private mapping are lost because
    /// its file was truncated.
    fn holes(&self, from: usize, end: usize) -> Option<bool> {
        match self.access {
            Access::Private if from < self.of_file => {
                let (size, has_holes) = size_and_holes(self.fd).ok()?;
                (size >= end.min(self.of_file)).then_some(has_holes)
            }
            Access::Private => Some(false),
            Access::Read | Access::Write => Some(self.has_holes),
        }
    }

    /// Whether the `len` bytes at `start` overlap the mapping. Only addresses are compared.
    pub fn has(&self, start: *const u8, len: usize) -> bool {
        overlaps(self.start, self.mapping_size, start, len)
    }

    /// Returns the address of the `len` bytes at `position`; `None` if they exceed the file.
    ///
    /// # Safety
    /// `self` describes a mapped file.
    pub unsafe fn at(&self, position: u64, len: usize) -> Option<NonNull<u8>> {
        let position = usize::try_from(position).ok()?;
        let end = position.checked_add(len)?;
        if end > self.file_size {
            return None;
        }
        // SAFETY: all bytes of the file are mapped, and the position is within them.
        let start = unsafe { self.start.add(position) };
        if len > 0 && self.holes(position, end)? {
            mapping::load_holes(self.fd, start, len).ok()?;
        }
        Some(start)
    }

    /// Writes `len` bytes from `position` on. Previously returned addresses may become invalid.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when the mapping is read-only or cannot grow enough; nothing is
    /// written.
    ///
    /// # Safety
    /// `self` describes a mapped file that nothing else uses during the call; `bytes` is readable
    /// for `len` bytes and may be in the mapping.
    pub unsafe fn write(&mut self, position: u64, bytes: *const u8, len: usize) -> Result<()> {
        let failed = |error| Error::FileWrite.during("write to").os(error);
        if self.access == Access::Read {
            return Err(failed(read_only()));
        }
        if len == 0 {
            return Ok(());
        }
        let has_holes = self.holes(0, usize::MAX).ok_or(Error::FileWrite)?;
        self.changed = true;
        let position = usize::try_from(position).map_err(|_| failed(too_large()))?;
        let end = position.checked_add(len).ok_or_else(|| failed(too_large()))?;
        let within = self.offset_of(bytes);
        if has_holes {
            // SAFETY: the caller guarantees the conditions on `self`.
            unsafe { self.prepare_holes(position, end) }.map_err(failed)?;
        }
        if end > self.file_size {
            // SAFETY: the caller guarantees the conditions on `self`.
            unsafe { self.grow(end) }.map_err(failed)?;
        }
        // SAFETY: the file is mapped up to `end` now; the caller guarantees `bytes`, which have not
        // moved unless they are in the mapping.
        unsafe {
            let bytes = within.map_or(bytes, |offset| self.start.add(offset).as_ptr());
            let to = self.start.add(position).as_ptr();
            if bytes.addr().abs_diff(to.addr()) >= len {
                kernels::copy::copy_nonoverlapping(bytes, to, len);
            } else {
                ptr::copy(bytes, to, len);
            }
        }
        Ok(())
    }

    /// Sets the size of the file to `len` bytes; added bytes are zero.
    ///
    /// # Errors
    /// [`Error::FileTruncate`] when the mapping is read-only or cannot grow enough.
    ///
    /// # Safety
    /// `self` describes a mapped file that nothing else uses during the call.
    pub unsafe fn truncate(&mut self, len: u64) -> Result<()> {
        let failed = |error| Error::FileTruncate.during("set the length of").os(error);
        if self.access == Access::Read {
            return Err(failed(read_only()));
        }
        let len = usize::try_from(len).map_err(|_| failed(too_large()))?;
        if len == self.file_size {
            return Ok(());
        }
        self.holes(0, usize::MAX).ok_or(Error::FileTruncate)?;
        self.changed = true;
        if len > self.file_size {
            // SAFETY: the caller guarantees the conditions on `self`.
            return unsafe { self.grow(len) }.map_err(failed);
        }
        let mut pages = (self.start, self.mapping_size);
        let shortened = if self.access == Access::Write {
            // SAFETY: the caller guarantees the conditions on `self`.
            unsafe { mapping::shrink(self.fd, &mut pages, len) }
        } else {
            Ok(())
        };
        (self.start, self.mapping_size) = pages;
        self.file_size = if shortened.is_ok() { len } else { self.file_size };
        self.file_size = self.file_size.min(self.mapping_size);
        shortened.map_err(failed)
    }

    /// Waits until the bytes written to the file are on the disk.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when this cannot be confirmed.
    ///
    /// # Safety
    /// `self` describes a mapped file.
    pub unsafe fn sync(&self) -> Result<()> {
        if self.access != Access::Write {
            return Ok(());
        }
        // SAFETY: the pages are mapped; writing them out does not change memory.
        unsafe { mapping::sync(self.fd, self.start, self.mapping_size) }
            .map_err(|error| Error::FileWrite.during("write out").os(error))
    }

    /// Unmaps the file.
    ///
    /// # Errors
    /// [`Error::Failure`] on failure.
    ///
    /// # Safety
    /// `self` describes a mapped file that is no longer used.
    pub unsafe fn unmap(self) -> Result<()> {
        // SAFETY: the caller guarantees that the pages are mapped by this value and unused.
        unsafe { mapping::unmap(self.start, self.mapping_size) }.map_err(|_| Error::Failure)
    }

    /// Returns the offset of an address in the mapping.
    fn offset_of(&self, address: *const u8) -> Option<usize> {
        let offset = address.addr().checked_sub(self.start.addr().get())?;
        (offset < self.mapping_size).then_some(offset)
    }

    /// Reserves disk space for the holes between two positions that are before the end of the file.
    ///
    /// # Safety
    /// `self` describes a mapped file.
    unsafe fn prepare_holes(&self, from: usize, to: usize) -> io::Result<()> {
        let to = to.min(self.file_size);
        if self.access == Access::Write {
            return mapping::fill_holes(self.fd, from, to, self.file_size);
        }
        // The first write to a page of a private mapping reads the page.
        let to = to.min(self.of_file);
        // SAFETY: `to` is at most the size of the file, which the caller guarantees to be mapped.
        let start = unsafe { self.start.add(from.min(to)) };
        mapping::load_holes(self.fd, start, to.saturating_sub(from))
    }

    /// Grows a file shorter than `len` bytes, and its mapping; added bytes are zero.
    ///
    /// # Safety
    /// The same conditions as for [`Mapping::write`].
    unsafe fn grow(&mut self, len: usize) -> io::Result<()> {
        if self.access == Access::Write
            && let Err(error) = mapping::extend_file(self.fd, self.file_size, len)
        {
            self.shrink_file_back();
            return Err(error);
        }
        if len > self.mapping_size {
            let wanted = mapping::len_to_grow(self.access, len).ok_or_else(too_large)?;
            let old = (self.mapping_size, self.file_size);
            // SAFETY: the caller guarantees that nothing relies on the address of the old pages.
            let moved = unsafe { mapping::grow(self.fd, self.access, self.start, old, wanted) };
            self.start = match moved {
                Ok(start) => start,
                Err(error) => {
                    self.shrink_file_back();
                    return Err(error);
                }
            };
            self.mapping_size = wanted;
        }
        if self.access == Access::Private {
            // Bytes that were cut off are still in memory.
            // SAFETY: `len` bytes are mapped and writable, and nothing else uses them.
            unsafe {
                let end = self.start.add(self.file_size).as_ptr();
                ptr::write_bytes(end, 0, len - self.file_size);
            }
        }
        self.file_size = len;
        Ok(())
    }

    /// Undoes the growth of the file after `grow` failed.
    fn shrink_file_back(&self) {
        if self.access == Access::Write {
            // If this fails, too, the file ends in zeros, which belong to no frame.
            let _ = mapping::set_size_of_file(self.fd, self.file_size);
        }
    }
}

/// Returns the identity of an open file.
pub fn identity_of(fd: Descriptor) -> Option<Identity> {
    let (device, inode) = mapping::identity_of(fd).ok()?;
    Some(Identity { device, inode })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::TempDir;
    use std::fs::{File, OpenOptions};
    use std::path::Path;

    /// A mapped file for a test.
    struct Mapped {
        mapping: Mapping,
        file: File,
    }

    impl Mapped {
        fn new(file: File, access: Access, initial: usize) -> Mapped {
            let mapping = Mapping::new(descriptor(&file), access, initial).unwrap();
            Mapped { mapping, file }
        }

        fn open(path: &Path, access: Access, initial: usize) -> Mapped {
            let write = access == Access::Write;
            let file = OpenOptions::new().read(true).write(write).open(path);
            Mapped::new(file.unwrap(), access, initial)
        }

        fn write(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
            // SAFETY: the file is mapped, and only this test uses it.
            unsafe { self.mapping.write(position, bytes.as_ptr(), bytes.len()) }
        }

        fn truncate(&mut self, len: u64) -> Result<()> {
            // SAFETY: as above.
            unsafe { self.mapping.truncate(len) }
        }

        fn bytes(&self) -> Vec<u8> {
            let Mapping { start, file_size, .. } = self.mapping;
            // SAFETY: the bytes of the file are mapped.
            unsafe { std::slice::from_raw_parts(start.as_ptr(), file_size) }.to_vec()
        }

        fn sizes(&self) -> (usize, usize) {
            (self.mapping.file_size, self.mapping.mapping_size)
        }

        fn on_disk(&self) -> u64 {
            self.file.metadata().unwrap().len()
        }
    }

    impl Drop for Mapped {
        fn drop(&mut self) {
            // SAFETY: the test keeps no address of the mapping.
            unsafe { self.mapping.unmap() }.unwrap();
        }
    }

    /// Returns the length of a mapping on Unix, or on Windows, where it is not longer than the
    /// file.
    fn spare(unix: usize, windows: usize) -> usize {
        if cfg!(windows) { windows } else { unix }
    }

    fn file_of(dir: &TempDir, len: usize) -> (std::path::PathBuf, Vec<u8>) {
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let path = dir.join("f");
        std::fs::write(&path, &bytes).unwrap();
        (path, bytes)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn holes_get_disk_space_before_they_are_written() {
        const PAGE: usize = 65_536;
        let dir = TempDir::new("holes");
        let (path, _) = file_of(&dir, 0);
        File::options().write(true).open(&path).unwrap().set_len(4 * PAGE as u64).unwrap();
        let mut mapped = Mapped::open(&path, Access::Write, 1);
        assert!(mapped.mapping.has_holes);
        // SAFETY: the file is mapped.
        unsafe { mapped.mapping.prepare_holes(PAGE + 1, 2 * PAGE + 1) }.unwrap();
        assert_eq!(mapped.bytes(), vec![0; 4 * PAGE]);
        let reserved = std::os::unix::fs::MetadataExt::blocks(&mapped.file.metadata().unwrap());
        // Some file systems cannot reserve space.
        assert!(reserved == 0 || reserved * 512 > PAGE as u64, "{reserved}");
        mapped.write(0, &[1; 4 * PAGE]).unwrap();
        assert!(mapped.mapping.compare());
        assert_eq!(mapped.bytes(), vec![1; 4 * PAGE]);
    }

    #[test]
    fn a_file_that_outgrows_its_mapping_is_remapped_at_twice_its_size() {
        let dir = TempDir::new("growing");
        let (path, mut bytes) = file_of(&dir, 132);
        let mut mapped = Mapped::open(&path, Access::Write, 1000);
        assert_eq!(mapped.sizes(), (132, spare(1000, 132)));
        mapped.write(132, &[7; 3997]).unwrap();
        assert_eq!(mapped.sizes(), (4129, spare(8258, 4129)));
        mapped.write(10, b"abc").unwrap();
        bytes.resize(4129, 7);
        bytes[10..13].copy_from_slice(b"abc");
        assert_eq!(mapped.bytes(), bytes);
        // SAFETY: the file is mapped.
        unsafe { mapped.mapping.sync() }.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn writing_past_the_end_leaves_zeros_before() {
        for access in [Access::Write, Access::Private] {
            let dir = TempDir::new("gaps");
            let (path, mut bytes) = file_of(&dir, 5000);
            let mut mapped = Mapped::open(&path, access, 20_000);
            mapped.truncate(4000).unwrap();
            mapped.write(15_000, b"end").unwrap();
            bytes.truncate(4000);
            bytes.resize(15_000, 0);
            bytes.extend(b"end");
            let mapped_len = match access {
                Access::Private => spare(20_000, 30_006),
                _ => spare(20_000, 15_003),
            };
            assert_eq!(mapped.sizes(), (15_003, mapped_len));
            assert_eq!(mapped.bytes(), bytes);
            assert_eq!(mapped.on_disk(), if access == Access::Private { 5000 } else { 15_003 });
        }
    }

    #[test]
    fn a_private_mapping_grows_beyond_its_file_without_changing_it() {
        for len in [0, 5000, 8192] {
            let dir = TempDir::new("private");
            let (path, mut bytes) = file_of(&dir, len);
            let before = bytes.clone();
            let mut mapped = Mapped::open(&path, Access::Private, 1000);
            for round in 0..6 {
                let more = vec![round; 10_000];
                mapped.write(bytes.len() as u64, &more).unwrap();
                bytes.extend(more);
                mapped.write(3, b"xyz").unwrap();
                bytes[3..6].copy_from_slice(b"xyz");
                assert_eq!(mapped.bytes(), bytes);
            }
            mapped.truncate(200_000).unwrap();
            bytes.resize(200_000, 0);
            assert_eq!(mapped.bytes(), bytes);
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_private_mapping_grows_although_its_file_grew() {
        let dir = TempDir::new("private-grown");
        let (path, mut bytes) = file_of(&dir, 5000);
        let mut mapped = Mapped::open(&path, Access::Private, 60_000);
        mapped.write(5000, &[9; 50_000]).unwrap();
        bytes.resize(55_000, 9);
        let other = OpenOptions::new().write(true).open(&path).unwrap();
        other.set_len(50_000).unwrap();
        mapped.write(55_000, &[8; 10_000]).unwrap();
        bytes.resize(65_000, 8);
        assert_eq!(mapped.bytes(), bytes);
    }

    #[cfg(unix)]
    #[test]
    fn a_mapping_follows_a_file_that_others_grow_and_truncate() {
        for access in [Access::Read, Access::Write, Access::Private] {
            let dir = TempDir::new("followed");
            let (path, mut bytes) = file_of(&dir, 5000);
            let mut mapped = Mapped::open(&path, access, 0);
            let lent = mapped.mapping.start;
            let mut old = Vec::new();
            for len in [6000, 8192, 100_000, 100_001, 7000, 300_000, 0, 5000] {
                bytes.resize(len, len as u8);
                std::fs::write(&path, &bytes).unwrap();
                assert!(!mapped.mapping.is_current());
                // SAFETY: the file is mapped.
                old.extend(unsafe { mapped.mapping.adapt_to_file_size() }.unwrap());
                assert!(mapped.mapping.is_current());
                assert_eq!(mapped.bytes(), bytes, "{access:?} {len}");
            }
            // SAFETY: the first pages are kept, and the file has a first byte again.
            unsafe { lent.read() };
        }
    }

    /// On Windows the size of a file that is mapped may only grow.
    #[cfg(windows)]
    #[test]
    fn a_mapping_follows_a_file_that_others_grow() {
        for access in [Access::Read, Access::Write, Access::Private] {
            let dir = TempDir::new("followed");
            let (path, mut bytes) = file_of(&dir, 5000);
            let mut mapped = Mapped::open(&path, access, 0);
            let lent = mapped.mapping.start;
            let mut old = Vec::new();
            for len in [6000, 8192, 100_000, 100_001, 300_000] {
                let more = vec![len as u8; len - bytes.len()];
                let mut other = OpenOptions::new().append(true).open(&path).unwrap();
                std::io::Write::write_all(&mut other, &more).unwrap();
                bytes.extend(more);
                assert!(!mapped.mapping.is_current());
                // SAFETY: the file is mapped.
                old.extend(unsafe { mapped.mapping.adapt_to_file_size() }.unwrap());
                assert!(mapped.mapping.is_current());
                assert_eq!(mapped.bytes(), bytes, "{access:?} {len}");
            }
            // SAFETY: the first pages are kept.
            unsafe { lent.read() };
        }
    }

    /// A second mapping keeps the file from being shortened; nothing changes then.
    #[cfg(windows)]
    #[test]
    fn a_file_with_two_mappings_is_not_shortened() {
        let dir = TempDir::new("two");
        let (path, bytes) = file_of(&dir, 50_000);
        let mut mapped = Mapped::open(&path, Access::Write, 0);
        let other = Mapped::open(&path, Access::Read, 0);
        assert_eq!(mapped.truncate(100), Err(Error::FileTruncate));
        assert_eq!(mapped.bytes(), bytes);
        drop(other);
        mapped.truncate(100).unwrap();
        assert_eq!(mapped.bytes(), bytes[..100]);
        assert_eq!(mapped.on_disk(), 100);
    }

    #[cfg(unix)]
    #[test]
    fn truncated_bytes_are_rejected_although_they_are_mapped() {
        let dir = TempDir::new("cut");
        let (path, bytes) = file_of(&dir, 50_000);
        let mut mapped = Mapped::open(&path, Access::Private, 0);
        mapped.write(49_000, b"mine").unwrap();
        let other = OpenOptions::new().write(true).open(&path).unwrap();
        other.set_len(8192).unwrap();
        // SAFETY: the file is mapped.
        unsafe {
            assert!(mapped.mapping.adapt_to_file_size().unwrap().is_none());
            assert!(mapped.mapping.at(0, 8193).is_none());
            assert!(mapped.mapping.at(30_000, 1).is_none());
            let there = mapped.mapping.at(0, 8192).unwrap();
            let there = std::slice::from_raw_parts(there.as_ptr(), 8192);
            assert_eq!(there, &bytes[..8192]);
        }
        assert_eq!(mapped.write(0, b"x"), Err(Error::FileWrite));
        assert_eq!(mapped.truncate(60_000), Err(Error::FileTruncate));
    }

    #[test]
    fn row_f27_a_read_only_mapping_rejects_writes() {
        let dir = TempDir::new("read-only");
        let (path, bytes) = file_of(&dir, 5000);
        let mut mapped = Mapped::open(&path, Access::Read, 1 << 20);
        assert_eq!(mapped.sizes(), (5000, 5000));
        for position in [0, 4999, 5000] {
            assert_eq!(mapped.write(position, b"x"), Err(Error::FileWrite));
        }
        for len in [10, 5000, 6000] {
            assert_eq!(mapped.truncate(len), Err(Error::FileTruncate));
        }
        assert_eq!(mapped.bytes(), bytes);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn only_bytes_of_the_file_are_accessible() {
        let dir = TempDir::new("bounds");
        let (path, _) = file_of(&dir, 100);
        let mapped = Mapped::open(&path, Access::Write, 4096);
        for (position, len, there) in [
            (0, 100, true),
            (100, 0, true),
            (99, 1, true),
            (0, 101, false),
            (101, 0, false),
            (u64::MAX, 1, false),
            (50, usize::MAX, false),
        ] {
            // SAFETY: the file is mapped.
            let found = unsafe { mapped.mapping.at(position, len) };
            assert_eq!(found.is_some(), there, "{position} {len}");
        }
    }

    #[test]
    fn an_empty_file_is_mapped_too() {
        let dir = TempDir::new("empty");
        let (path, _) = file_of(&dir, 0);
        for access in [Access::Read, Access::Write, Access::Private] {
            assert_eq!(Mapped::open(&path, access, 0).sizes(), (0, spare(1, 0)));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_grow_stays_unchanged() {
        use std::os::fd::{AsRawFd, FromRawFd};
        // SAFETY: the name is NUL-terminated, and nothing else owns the descriptor.
        let file = unsafe {
            File::from_raw_fd(libc::memfd_create(c"f".as_ptr(), libc::MFD_ALLOW_SEALING))
        };
        file.set_len(100).unwrap();
        // SAFETY: the call accesses no memory.
        let sealed = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_GROW) };
        assert_eq!(sealed, 0);
        let mut mapped = Mapped::new(file, Access::Write, 4096);
        assert_eq!(mapped.write(99, b"xy"), Err(Error::FileWrite));
        assert_eq!(mapped.truncate(101), Err(Error::FileTruncate));
        assert_eq!(mapped.write(u64::MAX, b"xy"), Err(Error::FileWrite));
        assert_eq!(mapped.bytes(), [0; 100]);
        assert_eq!((mapped.sizes(), mapped.on_disk()), ((100, 4096), 100));
        mapped.write(98, b"xy").unwrap();
    }

    #[test]
    fn bytes_of_the_mapping_can_be_written_elsewhere_in_it() {
        for access in [Access::Write, Access::Private] {
            let dir = TempDir::new("overlap");
            let (path, bytes) = file_of(&dir, 100);
            let mut mapped = Mapped::open(&path, access, 100);
            // SAFETY: the file is mapped, and the bytes are in the mapping.
            unsafe {
                let from = mapped.mapping.at(0, 90).unwrap();
                mapped.mapping.write(10, from.as_ptr(), 90).unwrap();
                let from = mapped.mapping.at(20, 70).unwrap();
                mapped.mapping.write(50_000, from.as_ptr(), 70).unwrap();
            }
            let all = mapped.bytes();
            assert_eq!(all[..100], [&bytes[..10], &bytes[..90]].concat());
            assert_eq!(all[50_000..], bytes[10..80]);
        }
    }
}
