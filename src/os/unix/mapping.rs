//! Mapped files: `mmap`, and changes of the sizes of mapped files.

use super::system::mapping as system;
use crate::os::Access;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr::{self, NonNull};

/// The number of a mapped file.
pub type Descriptor = RawFd;

/// Returns the number of an open file.
pub(crate) fn descriptor(file: &File) -> Descriptor {
    file.as_raw_fd()
}

/// Returns the protection flags for `mmap`.
pub(crate) fn protection(access: Access) -> i32 {
    match access {
        Access::Read => libc::PROT_READ,
        Access::Write | Access::Private => libc::PROT_READ | libc::PROT_WRITE,
    }
}

/// Whether protection flags permit writing.
pub(crate) fn is_writable(protection: i64) -> bool {
    protection & i64::from(libc::PROT_WRITE) != 0
}

/// Returns the mapping flags for `mmap`.
pub(crate) fn flags(access: Access) -> i32 {
    match access {
        Access::Read | Access::Write => libc::MAP_SHARED,
        Access::Private => libc::MAP_PRIVATE,
    }
}

/// Returns the length to map for a file of `file_size` bytes that may grow to `wanted` bytes.
pub(crate) fn len_to_map(file_size: usize, wanted: usize) -> usize {
    file_size.max(wanted).max(1)
}

/// Returns the length to map for a file that grew to `len` bytes: twice the length, so that a file
/// that grows in steps is rarely remapped. `None` if it exceeds the address space.
pub(crate) fn len_to_grow(_access: Access, len: usize) -> Option<usize> {
    len.checked_mul(2)
}

/// Maps `len` bytes, which start with those of the file.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn map(
    fd: Descriptor,
    access: Access,
    file_size: usize,
    len: usize,
) -> io::Result<NonNull<u8>> {
    match access {
        Access::Read | Access::Write => map_at(None, len, access, 0, fd),
        Access::Private => map_before_memory(fd, file_size, len),
    }
}

/// Unmaps `len` bytes.
///
/// # Errors
/// Returns any error of the operating system.
///
/// # Safety
/// The caller owns the pages, and nothing uses them any more.
pub(crate) unsafe fn unmap(start: NonNull<u8>, len: usize) -> io::Result<()> {
    // SAFETY: the caller's contract.
    match unsafe { libc::munmap(start.as_ptr().cast(), len) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Waits until the bytes written to the file are on the disk.
///
/// # Errors
/// Returns any error of the operating system.
///
/// # Safety
/// `len` bytes of the file are mapped at `start`.
pub(crate) unsafe fn sync(fd: Descriptor, start: NonNull<u8>, len: usize) -> io::Result<()> {
    // SAFETY: the pages are mapped; writing them out does not change memory.
    match unsafe { libc::msync(start.as_ptr().cast(), len, libc::MS_SYNC) } {
        0 => system::flush(fd),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Maps `wanted` bytes instead of `len`, possibly at another address. The first `used` bytes are
/// kept.
///
/// # Errors
/// Returns any error of the operating system; the old pages then stay mapped.
///
/// # Safety
/// `len` bytes of the file are mapped at `start`, and nothing relies on their address.
pub(crate) unsafe fn grow(
    fd: Descriptor,
    access: Access,
    start: NonNull<u8>,
    (len, used): (usize, usize),
    wanted: usize,
) -> io::Result<NonNull<u8>> {
    // SAFETY: the caller's contract.
    unsafe {
        match access {
            Access::Private => move_private(fd, start, (len, used), wanted),
            Access::Read | Access::Write => {
                traced(system::resize_shared(fd, protection(access), start, len, wanted))
            }
        }
    }
}

/// Shortens a mapped file to `file_size` bytes. Other systems change the address and the length of
/// the mapping.
///
/// # Errors
/// Returns any error of the operating system.
///
/// # Safety
/// None; the function of other systems has requirements.
pub(crate) unsafe fn shrink(
    fd: Descriptor,
    _mapping: &mut (NonNull<u8>, usize),
    file_size: usize,
) -> io::Result<()> {
    set_size_of_file(fd, file_size)
}

/// Moves a private mapping into one of `wanted` bytes: pages of the file are moved, the memory
/// after the file is copied.
///
/// # Safety
/// The same conditions as for [`grow`].
unsafe fn move_private(
    fd: Descriptor,
    start: NonNull<u8>,
    (len, used): (usize, usize),
    wanted: usize,
) -> io::Result<NonNull<u8>> {
    // One call cannot move both file pages and anonymous memory. A private mapping never changes
    // its file, so the size on disk determines the end of the file pages in the mapping.
    let of_file = pages(size_of_file(fd)?)?.min(len);
    let new = map_memory(None, wanted)?;
    // SAFETY: both ranges are owned by this function and long enough; nothing uses the pages of the
    // new one, which the moved ones replace, nor the old ones after they are unmapped.
    unsafe {
        let anonymous_len = used.saturating_sub(of_file);
        let (from, to) = (start.add(of_file), new.add(of_file));
        ptr::copy_nonoverlapping(from.as_ptr(), to.as_ptr(), anonymous_len);
        if of_file > 0 && !system::move_pages(start, new, of_file) {
            // Another program has changed the size of the file, or the system cannot move pages.
            // The call may have unmapped the target.
            if let Err(error) = map_memory(Some(new), of_file) {
                libc::munmap(new.as_ptr().cast(), wanted);
                return Err(error);
            }
            ptr::copy_nonoverlapping(start.as_ptr(), new.as_ptr(), of_file.min(used));
            libc::munmap(start.as_ptr().cast(), of_file);
        }
        if len > of_file {
            libc::munmap(from.as_ptr().cast(), len - of_file);
        }
    }
    Ok(new)
}

/// Converts the result of `mmap`.
fn mapped(start: *mut libc::c_void) -> io::Result<NonNull<u8>> {
    traced(match start {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        _ => NonNull::new(start.cast()).ok_or_else(too_large),
    })
}

/// Traces an error.
fn traced(result: io::Result<NonNull<u8>>) -> io::Result<NonNull<u8>> {
    result.inspect_err(|error| crate::trace_error!("Cannot map a file: {error}"))
}

/// Maps a file or, without one, anonymous memory; if `at` is given, over pages of the caller.
fn map_at(
    at: Option<NonNull<u8>>,
    len: usize,
    access: Access,
    with: i32,
    fd: RawFd,
) -> io::Result<NonNull<u8>> {
    let (at, fixed) = match at {
        Some(at) => (at.as_ptr(), libc::MAP_FIXED),
        None => (ptr::null_mut(), 0),
    };
    let flags = flags(access) | with | fixed;
    // SAFETY: replaced pages are owned by the callers in this file; no other pages are affected.
    mapped(unsafe { libc::mmap(at.cast(), len, protection(access), flags, fd, 0) })
}

/// Maps anonymous memory, which uses no pages until it is written.
fn map_memory(at: Option<NonNull<u8>>, len: usize) -> io::Result<NonNull<u8>> {
    let flags = libc::MAP_ANONYMOUS | system::NO_RESERVE;
    map_at(at, len, Access::Private, flags, -1)
}

/// Maps anonymous memory with a file over its start.
fn map_before_memory(fd: RawFd, file_size: usize, len: usize) -> io::Result<NonNull<u8>> {
    let start = map_memory(None, len)?;
    if file_size > 0
        && let Err(error) = map_at(Some(start), file_size, Access::Private, 0, fd)
    {
        // SAFETY: the pages were just mapped, and nothing refers to them yet.
        unsafe { libc::munmap(start.as_ptr().cast(), len) };
        return Err(error);
    }
    Ok(start)
}

/// Returns `len` rounded up to a multiple of the page size, in bytes.
fn pages(len: usize) -> io::Result<usize> {
    len.checked_next_multiple_of(page_size()?).ok_or_else(too_large)
}

/// Returns the size of a page in bytes.
fn page_size() -> io::Result<usize> {
    // SAFETY: sysconf only reads a constant of the system.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) });
    page.map_err(|_| too_large())
}

/// Returns the error for a size that exceeds the address space.
pub(crate) fn too_large() -> io::Error {
    io::Error::from_raw_os_error(libc::EFBIG)
}

/// Returns the error for a write to a read-only mapping.
pub(crate) fn read_only() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADF)
}

/// Returns the size of a file in bytes.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn size_of_file(fd: Descriptor) -> io::Result<usize> {
    size_and_holes(fd).map(|(size, _)| size)
}

/// Returns the size of a file in bytes, and whether parts of it have no disk space.
///
/// # Errors
/// Those of the system.
pub(crate) fn size_and_holes(fd: Descriptor) -> io::Result<(usize, bool)> {
    let found = borrowed(fd)?.metadata()?;
    let size = usize::try_from(found.len()).map_err(|_| too_large())?;
    Ok((size, found.blocks().saturating_mul(512) < found.len()))
}

/// Returns the device and the inode of a file.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn identity_of(fd: Descriptor) -> io::Result<(u64, u64)> {
    borrowed(fd)?.metadata().map(|found| (found.dev(), found.ino()))
}

/// Sets the size of a file in bytes.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn set_size_of_file(fd: Descriptor, len: usize) -> io::Result<()> {
    let len = i64::try_from(len).map_err(|_| too_large())?;
    borrowed(fd)?.set_len(len as u64)
}

/// Grows a file from `from` to `to` bytes and reserves disk space for the added bytes.
///
/// # Errors
/// Returns any error of the operating system; the file may have grown nevertheless.
pub(crate) fn extend_file(fd: Descriptor, from: usize, to: usize) -> io::Result<()> {
    let (Ok(start), Ok(len)) = (i64::try_from(from), i64::try_from(to - from)) else {
        return Err(too_large());
    };
    if system::reserve(fd, start, len)? { Ok(()) } else { set_size_of_file(fd, to) }
}

/// Reserves disk space for the pages of a file with the bytes from `from` to `to`, up to the end of
/// the file at `file_size`. File systems that copy on write, and some others, cannot.
///
/// # Errors
/// Those of the system.
pub(crate) fn fill_holes(
    fd: Descriptor,
    from: usize,
    to: usize,
    file_size: usize,
) -> io::Result<()> {
    let (from, to) = (from - from % page_size()?, pages(to)?.min(file_size));
    if from >= to {
        return Ok(());
    }
    let (Ok(start), Ok(len)) = (i64::try_from(from), i64::try_from(to - from)) else {
        return Err(too_large());
    };
    system::reserve_within(fd, start, len)
}

/// Loads the mapped pages of `len` bytes of a file with holes, if a hole that is read needs disk
/// space: reading would end the process with a bus error on a full disk.
///
/// # Errors
/// Those of the system.
pub(crate) fn load_holes(fd: Descriptor, start: NonNull<u8>, len: usize) -> io::Result<()> {
    let before = start.addr().get() % page_size()?;
    system::load_holes(fd, start.as_ptr().wrapping_sub(before), pages(before + len)?)
}

/// Returns the file of a number, which is not closed.
///
/// # Errors
/// Returns the error of the operating system for a negative number.
fn borrowed(fd: Descriptor) -> io::Result<ManuallyDrop<File>> {
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: the file is not closed when it is dropped. Of a number without a file, the calls
    // fail.
    Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(fd) }))
}
