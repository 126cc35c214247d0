//! A file mapped into memory: the arithmetic and the system calls.
//!
//! A file that may grow is mapped with room to spare, and mapped again at twice its size when that is used
//! up:
//! ```text
//! file        |################|
//! mapping     |################:··················|
//!             0            file_size         mapping_size
//! ```
//! Three things would end the process with a bus error, which a write to a file never does, so they are
//! kept from happening. A full disk: room on it is reserved before the file's new pages are written. A
//! read-only mapping: it refuses to be written. A private mapping that outgrows its file: there is memory
//! behind the file's last page.
//!
//! Another handle or program may change the file's size. [`Mapping::follow`] notices that, and is called
//! before each operation: a longer file is mapped further, and bytes that were cut off are refused instead of
//! ending the process with a bus error. A file that is cut between this check and the access to its bytes
//! still does that; nothing can prevent it but a lock that both programs take.
//!
//! [`Mapping`] is a plain value, for whoever keeps the file open.

use super::backend::Identity;
use crate::{Error, Result};
use std::io;
use std::os::fd::RawFd;
use std::ptr::{self, NonNull};

/// What may be done with a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading it.
    Read,
    /// Writing it, and the file with it.
    Write,
    /// Writing it, but not the file.
    Private,
}

impl Access {
    /// The protection of the pages, in the terms of `mmap`.
    pub fn protection(self) -> i32 {
        match self {
            Access::Read => libc::PROT_READ,
            Access::Write | Access::Private => libc::PROT_READ | libc::PROT_WRITE,
        }
    }

    /// The kind of mapping, in the terms of `mmap`.
    pub fn flags(self) -> i32 {
        match self {
            Access::Read | Access::Write => libc::MAP_SHARED,
            Access::Private => libc::MAP_PRIVATE,
        }
    }
}

/// A mapped file, which stays mapped when this value goes.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// The first byte.
    pub start: NonNull<u8>,
    /// Bytes of the file; of a private mapping, bytes that it would have if it were written.
    pub file_size: usize,
    /// Bytes that are mapped, at least one and at least those of the file.
    pub mapping_size: usize,
    /// What may be done.
    pub access: Access,
    /// The open file.
    pub fd: RawFd,
    /// Bytes that the file had when it was mapped, of a private mapping.
    pub of_file: usize,
    /// Whether a private mapping was written to, so that it keeps what it shows.
    pub changed: bool,
}

/// Pages that a mapping has left, unmapped when this is dropped. Their bytes may be lent until then.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: pages belong to the process, not to a thread.
unsafe impl Send for Pages {}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages are ours, and who lent bytes of them keeps this value as long as the loan.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

impl Mapping {
    /// Maps a file whole, and at least `initial` bytes if it may grow.
    ///
    /// # Errors
    /// [`Error::FileOpen`] when it can't be mapped.
    pub fn new(fd: RawFd, access: Access, initial: usize) -> Result<Mapping> {
        let failed = |error| Error::FileOpen.during("map").os(error);
        let file_size = size_of_file(fd).map_err(failed)?;
        let mapping_size = match access {
            Access::Read => file_size,
            Access::Write | Access::Private => file_size.max(initial),
        };
        let mapping_size = mapping_size.max(1);
        let start = match access {
            Access::Read | Access::Write => map(None, mapping_size, access, 0, fd),
            Access::Private => map_before_memory(fd, file_size, mapping_size),
        };
        Ok(Mapping {
            start: start.map_err(failed)?,
            file_size,
            mapping_size,
            access,
            fd,
            of_file: file_size,
            changed: false,
        })
    }

    /// Whether the file has the size that it is known to have.
    pub fn is_current(&self) -> bool {
        match self.access {
            Access::Private if self.changed => true,
            Access::Private => size_of_file(self.fd).is_ok_and(|size| size == self.of_file),
            Access::Read | Access::Write => {
                size_of_file(self.fd).is_ok_and(|size| size == self.file_size)
            }
        }
    }

    /// Takes up the size that others have given the file, and maps what came behind the mapping; returns the
    /// old pages when the file is mapped elsewhere now. A private mapping that was written to stays as it is.
    ///
    /// # Errors
    /// [`Error::FileRead`] when the size can't be had or the file can't be mapped; nothing has changed then.
    ///
    /// # Safety
    /// The value describes a file that is mapped.
    pub unsafe fn follow(&mut self) -> Result<Option<Pages>> {
        if self.is_current() {
            return Ok(None);
        }
        let failed = |error| Error::FileRead.during("map again").os(error);
        let size = size_of_file(self.fd).map_err(failed)?;
        if self.access != Access::Private && size <= self.mapping_size {
            self.file_size = size;
            return Ok(None);
        }
        // Twice the size, so that a file that grows step by step is mapped seldom.
        let wanted = match size > self.mapping_size {
            true => size.checked_mul(2).ok_or_else(|| failed(too_large()))?,
            false => self.mapping_size,
        };
        let start = match self.access {
            Access::Read | Access::Write => map(None, wanted, self.access, 0, self.fd),
            Access::Private => map_before_memory(self.fd, size, wanted),
        };
        let old = Pages {
            start: self.start,
            len: self.mapping_size,
        };
        match start {
            Ok(start) => self.start = start,
            Err(error) => {
                // The old pages are still the mapping.
                std::mem::forget(old);
                return Err(failed(error));
            }
        }
        (self.file_size, self.of_file, self.mapping_size) = (size, size, wanted);
        Ok(Some(old))
    }

    /// Replaces a mapping by that of another file; returns the old pages.
    ///
    /// # Safety
    /// Both values describe files that are mapped.
    pub unsafe fn replace(&mut self, other: Mapping) -> Pages {
        let old = Pages {
            start: self.start,
            len: self.mapping_size,
        };
        *self = other;
        old
    }

    /// Whether it shows what no file has.
    pub fn is_private_and_changed(&self) -> bool {
        self.access == Access::Private && self.changed
    }

    /// Whether bytes of a private mapping are lost because its file was cut.
    fn is_cut(&self, from: usize, end: usize) -> bool {
        self.access == Access::Private
            && from < self.of_file
            && size_of_file(self.fd).map_or(true, |size| size < end.min(self.of_file))
    }

    /// Whether one of the `len` bytes at `start` is mapped. Only addresses are compared.
    pub fn has(&self, start: *const u8, len: usize) -> bool {
        let from = self.start.as_ptr().addr();
        let start = start.addr();
        start < from.saturating_add(self.mapping_size) && from < start.saturating_add(len)
    }

    /// The `len` bytes at `position`; none when the file hasn't so many.
    ///
    /// # Safety
    /// The value describes a file that is mapped.
    pub unsafe fn at(&self, position: u64, len: usize) -> Option<NonNull<u8>> {
        let position = usize::try_from(position).ok()?;
        let end = position.checked_add(len)?;
        let is_there = end <= self.file_size && !(len > 0 && self.is_cut(position, end));
        // SAFETY: the file's bytes are all mapped, and the position is within them.
        is_there.then(|| unsafe { self.start.add(position) })
    }

    /// Writes `len` bytes from `position` on. Bytes handed out before may be elsewhere afterwards.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when the mapping may only be read or can't grow so far; nothing is written.
    ///
    /// # Safety
    /// The value describes a file that is mapped and that nobody else uses now; `bytes` is readable for
    /// `len` bytes, wherever it is.
    pub unsafe fn write(&mut self, position: u64, bytes: *const u8, len: usize) -> Result<()> {
        let failed = |error| Error::FileWrite.during("write to").os(error);
        if self.access == Access::Read {
            return Err(failed(read_only()));
        }
        if len == 0 {
            return Ok(());
        }
        if self.is_cut(0, usize::MAX) {
            return Err(Error::FileWrite);
        }
        self.changed = true;
        let position = usize::try_from(position).map_err(|_| failed(too_large()))?;
        let end = position
            .checked_add(len)
            .ok_or_else(|| failed(too_large()))?;
        let within = self.offset_of(bytes);
        if end > self.file_size {
            // SAFETY: the caller vouches for the value.
            unsafe { self.grow(end) }.map_err(failed)?;
        }
        // SAFETY: the file is mapped as far as `end` now; the caller vouches for `bytes`, which are where
        // they were unless they are part of the mapping.
        unsafe {
            let bytes = within.map_or(bytes, |offset| self.start.add(offset).as_ptr());
            ptr::copy(bytes, self.start.add(position).as_ptr(), len);
        }
        Ok(())
    }

    /// Makes the file `len` bytes long; what is added is zero.
    ///
    /// # Errors
    /// [`Error::FileTruncate`] when the mapping may only be read or can't grow so far.
    ///
    /// # Safety
    /// The value describes a file that is mapped and that nobody else uses now.
    pub unsafe fn truncate(&mut self, len: u64) -> Result<()> {
        let failed = |error| Error::FileTruncate.during("set the length of").os(error);
        if self.access == Access::Read {
            return Err(failed(read_only()));
        }
        let len = usize::try_from(len).map_err(|_| failed(too_large()))?;
        if len == self.file_size {
            return Ok(());
        }
        if self.is_cut(0, usize::MAX) {
            return Err(Error::FileTruncate);
        }
        self.changed = true;
        if len > self.file_size {
            // SAFETY: the caller vouches for the value.
            return unsafe { self.grow(len) }.map_err(failed);
        }
        if self.access == Access::Write {
            set_size_of_file(self.fd, len).map_err(failed)?;
        }
        self.file_size = len;
        Ok(())
    }

    /// Waits until what was written to the file is on the disk.
    ///
    /// # Errors
    /// [`Error::FileWrite`] when it can't be told.
    ///
    /// # Safety
    /// The value describes a file that is mapped.
    pub unsafe fn sync(&self) -> Result<()> {
        if self.access != Access::Write {
            return Ok(());
        }
        // SAFETY: the pages are mapped; writing them out changes nothing in memory.
        match unsafe { libc::msync(self.start.as_ptr().cast(), self.mapping_size, libc::MS_SYNC) } {
            0 => Ok(()),
            _ => Err(Error::FileWrite.during("write out").last_os()),
        }
    }

    /// Ends the mapping.
    ///
    /// # Errors
    /// [`Error::Failure`] when that can't be done.
    ///
    /// # Safety
    /// The value describes a file that is mapped and that nobody uses any more.
    pub unsafe fn unmap(self) -> Result<()> {
        // SAFETY: as the caller vouches, the pages are ours and unused.
        match unsafe { libc::munmap(self.start.as_ptr().cast(), self.mapping_size) } {
            0 => Ok(()),
            _ => Err(Error::Failure),
        }
    }

    /// Where in the mapping an address is.
    fn offset_of(&self, address: *const u8) -> Option<usize> {
        let offset = address.addr().checked_sub(self.start.addr().get())?;
        (offset < self.mapping_size).then_some(offset)
    }

    /// Makes a file longer that has fewer than `len` bytes, with its mapping; what is added is zero.
    ///
    /// # Safety
    /// As for [`Mapping::write`].
    unsafe fn grow(&mut self, len: usize) -> io::Result<()> {
        if self.access == Access::Write
            && let Err(error) = extend_file(self.fd, self.file_size, len)
        {
            self.shrink_file_back();
            return Err(error);
        }
        if len > self.mapping_size {
            let wanted = len.checked_mul(2).ok_or_else(too_large)?;
            // SAFETY: the caller vouches for the value.
            let moved = unsafe {
                match self.access {
                    Access::Private => self.move_private(wanted),
                    Access::Read | Access::Write => self.remap(wanted),
                }
            };
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
            // Bytes that were cut off before are still there.
            // SAFETY: `len` bytes are mapped, may be written, and are nobody else's.
            unsafe {
                let end = self.start.add(self.file_size).as_ptr();
                ptr::write_bytes(end, 0, len - self.file_size);
            }
        }
        self.file_size = len;
        Ok(())
    }

    /// Undoes what `grow` did to a file when not all of it worked.
    fn shrink_file_back(&self) {
        if self.access == Access::Write {
            // Should this fail too, the file ends in zeros that no frame counts as its own.
            let _ = set_size_of_file(self.fd, self.file_size);
        }
    }

    /// Maps `wanted` bytes of the file, wherever there is room.
    ///
    /// # Safety
    /// As for [`Mapping::write`].
    unsafe fn remap(&self, wanted: usize) -> io::Result<NonNull<u8>> {
        // SAFETY: the caller vouches that nobody relies on where the old pages are.
        let start = unsafe {
            libc::mremap(
                self.start.as_ptr().cast(),
                self.mapping_size,
                wanted,
                libc::MREMAP_MAYMOVE,
            )
        };
        mapped(start)
    }

    /// Moves a private mapping into one of `wanted` bytes: its file by moving pages, what it has behind
    /// the file by copying.
    ///
    /// # Safety
    /// As for [`Mapping::write`].
    unsafe fn move_private(&self, wanted: usize) -> io::Result<NonNull<u8>> {
        // One call can't move pages of the file and memory at once. Where the file's end in the mapping
        // follows from the size that it has on the disk, where nothing of ours changes it.
        let of_file = pages(size_of_file(self.fd)?)?.min(self.mapping_size);
        let new = map_memory(None, wanted)?;
        // SAFETY: both ranges are ours and long enough; the pages of the new one, which the moved ones
        // replace, are unused, and so are the old ones once they are unmapped.
        unsafe {
            let behind = self.file_size.saturating_sub(of_file);
            let (from, to) = (self.start.add(of_file), new.add(of_file));
            ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), behind);
            if of_file > 0 && !move_pages(self.start, new, of_file) {
                // Another program has changed the size of the file. The call may have unmapped the place.
                if let Err(error) = map_memory(Some(new), of_file) {
                    libc::munmap(new.as_ptr().cast(), wanted);
                    return Err(error);
                }
                let len = of_file.min(self.file_size);
                ptr::copy_nonoverlapping(self.start.as_ptr(), new.as_ptr(), len);
                libc::munmap(self.start.as_ptr().cast(), of_file);
            }
            if self.mapping_size > of_file {
                libc::munmap(from.as_ptr().cast(), self.mapping_size - of_file);
            }
        }
        Ok(new)
    }
}

/// Moves `len` bytes of pages over others; returns whether it could be done.
///
/// # Safety
/// Both ranges are the caller's, and nobody relies on either.
unsafe fn move_pages(from: NonNull<u8>, to: NonNull<u8>, len: usize) -> bool {
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: the caller vouches for the ranges.
    let moved = unsafe { libc::mremap(from.as_ptr().cast(), len, len, flags, to.as_ptr()) };
    moved != libc::MAP_FAILED
}

/// The result of a call that maps.
fn mapped(start: *mut libc::c_void) -> io::Result<NonNull<u8>> {
    if start == libc::MAP_FAILED {
        let error = io::Error::last_os_error();
        crate::trace_error!("Cannot map a file: {error}");
        return Err(error);
    }
    NonNull::new(start.cast()).ok_or_else(too_large)
}

/// Maps a file or, without one, memory; `at` pages of our own if they are given.
fn map(
    at: Option<NonNull<u8>>,
    len: usize,
    access: Access,
    flags: i32,
    fd: RawFd,
) -> io::Result<NonNull<u8>> {
    let (at, fixed) = match at {
        Some(at) => (at.as_ptr(), libc::MAP_FIXED),
        None => (ptr::null_mut(), 0),
    };
    // SAFETY: pages that are replaced are our own, as this file's callers see to; others aren't touched.
    mapped(unsafe {
        libc::mmap(
            at.cast(),
            len,
            access.protection(),
            access.flags() | flags | fixed,
            fd,
            0,
        )
    })
}

/// Maps memory, which costs nothing until it is written.
fn map_memory(at: Option<NonNull<u8>>, len: usize) -> io::Result<NonNull<u8>> {
    let flags = libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    map(at, len, Access::Private, flags, -1)
}

/// Maps memory with a file over its start.
fn map_before_memory(fd: RawFd, file_size: usize, len: usize) -> io::Result<NonNull<u8>> {
    let start = map_memory(None, len)?;
    if file_size > 0
        && let Err(error) = map(Some(start), file_size, Access::Private, 0, fd)
    {
        // SAFETY: nobody knows of the pages yet.
        unsafe { libc::munmap(start.as_ptr().cast(), len) };
        return Err(error);
    }
    Ok(start)
}

/// Bytes of the pages that hold `len` bytes.
fn pages(len: usize) -> io::Result<usize> {
    // SAFETY: sysconf only reads a constant of the system.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) });
    let page = page.map_err(|_| too_large())?;
    len.checked_next_multiple_of(page).ok_or_else(too_large)
}

/// Returns the error for a size that the address space does not have.
fn too_large() -> io::Error {
    io::Error::from_raw_os_error(libc::EFBIG)
}

/// Returns the error for a mapping that may only be read.
fn read_only() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADF)
}

fn size_of_file(fd: RawFd) -> io::Result<usize> {
    usize::try_from(status_of(fd)?.st_size).map_err(|_| too_large())
}

fn status_of(fd: RawFd) -> io::Result<libc::stat> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the call fills the struct when it returns 0.
    unsafe {
        match libc::fstat(fd, found.as_mut_ptr()) {
            0 => Ok(found.assume_init()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Which file a descriptor stands for.
pub fn identity_of(fd: RawFd) -> Option<Identity> {
    let found = status_of(fd).ok()?;
    Some(Identity {
        device: found.st_dev,
        inode: found.st_ino,
    })
}

fn set_size_of_file(fd: RawFd, len: usize) -> io::Result<()> {
    let len = libc::off_t::try_from(len).map_err(|_| too_large())?;
    // SAFETY: the call involves no memory.
    until_not_interrupted(|| unsafe { libc::ftruncate(fd, len) })
}

/// Makes a file `to` bytes long, with room on the disk for what is added to its `from` bytes.
fn extend_file(fd: RawFd, from: usize, to: usize) -> io::Result<()> {
    let (Ok(start), Ok(len)) = (
        libc::off_t::try_from(from),
        libc::off_t::try_from(to - from),
    ) else {
        return Err(too_large());
    };
    // SAFETY: the call involves no memory.
    match until_not_interrupted(|| unsafe { libc::fallocate(fd, 0, start, len) }) {
        // Some file systems can't reserve space.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {
            set_size_of_file(fd, to)
        }
        result => result,
    }
}

fn until_not_interrupted(call: impl Fn() -> i32) -> io::Result<()> {
    loop {
        if call() == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::TempDir;
    use std::fs::{File, OpenOptions};
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::path::Path;

    /// A mapped file, and no more than a test.
    struct Mapped {
        mapping: Mapping,
        file: File,
    }

    impl Mapped {
        fn new(file: File, access: Access, initial: usize) -> Mapped {
            let mapping = Mapping::new(file.as_raw_fd(), access, initial).unwrap();
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
            let Mapping {
                start, file_size, ..
            } = self.mapping;
            // SAFETY: the file's bytes are mapped.
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
            // SAFETY: nothing of the mapping was kept.
            unsafe { self.mapping.unmap() }.unwrap();
        }
    }

    fn file_of(dir: &TempDir, len: usize) -> (std::path::PathBuf, Vec<u8>) {
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let path = dir.join("f");
        std::fs::write(&path, &bytes).unwrap();
        (path, bytes)
    }

    #[test]
    fn a_file_that_outgrows_its_mapping_is_mapped_at_twice_its_size() {
        let dir = TempDir::new("growing");
        let (path, mut bytes) = file_of(&dir, 132);
        let mut mapped = Mapped::open(&path, Access::Write, 1000);
        assert_eq!(mapped.sizes(), (132, 1000));
        mapped.write(132, &[7; 3997]).unwrap();
        assert_eq!(mapped.sizes(), (4129, 8258));
        mapped.write(10, b"abc").unwrap();
        bytes.resize(4129, 7);
        bytes[10..13].copy_from_slice(b"abc");
        assert_eq!(mapped.bytes(), bytes);
        // SAFETY: the file is mapped.
        unsafe { mapped.mapping.sync() }.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn what_is_written_behind_the_end_leaves_zeros_before_it() {
        for access in [Access::Write, Access::Private] {
            let dir = TempDir::new("gaps");
            let (path, mut bytes) = file_of(&dir, 5000);
            let mut mapped = Mapped::open(&path, access, 20_000);
            mapped.truncate(4000).unwrap();
            mapped.write(15_000, b"end").unwrap();
            bytes.truncate(4000);
            bytes.resize(15_000, 0);
            bytes.extend(b"end");
            assert_eq!(mapped.sizes(), (15_003, 20_000));
            assert_eq!(mapped.bytes(), bytes);
            assert_eq!(
                mapped.on_disk(),
                if access == Access::Private {
                    5000
                } else {
                    15_003
                }
            );
        }
    }

    #[test]
    fn a_private_mapping_grows_beyond_its_file_and_leaves_it_alone() {
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

    #[test]
    fn a_mapping_follows_a_file_that_others_make_longer_and_shorter() {
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
                old.extend(unsafe { mapped.mapping.follow() }.unwrap());
                assert!(mapped.mapping.is_current());
                assert_eq!(mapped.bytes(), bytes, "{access:?} {len}");
            }
            // SAFETY: the first pages are kept, and the file has a first byte again.
            unsafe { lent.read() };
        }
    }

    #[test]
    fn what_was_cut_off_is_refused_although_it_is_mapped() {
        let dir = TempDir::new("cut");
        let (path, bytes) = file_of(&dir, 50_000);
        let mut mapped = Mapped::open(&path, Access::Private, 0);
        mapped.write(49_000, b"mine").unwrap();
        let other = OpenOptions::new().write(true).open(&path).unwrap();
        other.set_len(8192).unwrap();
        // SAFETY: the file is mapped.
        unsafe {
            assert!(mapped.mapping.follow().unwrap().is_none());
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
    fn row_f27_a_read_only_mapping_refuses_to_be_written() {
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
    fn only_bytes_of_the_file_are_handed_out() {
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
            assert_eq!(Mapped::open(&path, access, 0).sizes(), (0, 1));
        }
    }

    #[test]
    fn a_file_that_cannot_grow_stays_as_it_is() {
        // SAFETY: the name is a text, and the descriptor nobody else's.
        let file = unsafe {
            File::from_raw_fd(libc::memfd_create(c"f".as_ptr(), libc::MFD_ALLOW_SEALING))
        };
        file.set_len(100).unwrap();
        // SAFETY: the call involves no memory.
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
    fn a_part_of_the_file_can_be_written_elsewhere_in_it() {
        for access in [Access::Write, Access::Private] {
            let dir = TempDir::new("overlap");
            let (path, bytes) = file_of(&dir, 100);
            let mut mapped = Mapped::open(&path, access, 100);
            // SAFETY: the file is mapped, and the bytes are its own.
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
