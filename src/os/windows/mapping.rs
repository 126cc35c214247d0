//! Mapped files: `MapViewOfFile`, and changes of the sizes of mapped files.
//!
//! A view is never longer than its file, so a file that grows is mapped again, and a file cannot be
//! shortened while it is mapped. A private mapping that grows is copied to memory. An empty file
//! cannot be mapped; its mapping has no bytes, and a page of memory represents it.

use crate::os::Access;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::io::{AsRawHandle, RawHandle};
use std::ptr::{self, NonNull, null};
use windows_sys::Win32::Foundation::{CloseHandle, ERROR_ACCESS_DENIED, ERROR_FILE_TOO_LARGE};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_END_OF_FILE_INFO, FileEndOfFileInfo, FlushFileBuffers,
    GetFileInformationByHandle, GetFileSizeEx, SetFileInformationByHandle,
};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_ALL_ACCESS, FILE_MAP_COPY, FILE_MAP_READ, FlushViewOfFile,
    MEM_COMMIT, MEM_MAPPED, MEM_RELEASE, MEM_RESERVE, MEMORY_BASIC_INFORMATION,
    MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile, PAGE_READONLY, PAGE_READWRITE, PAGE_WRITECOPY,
    UnmapViewOfFile, VirtualAlloc, VirtualFree, VirtualQuery,
};

/// The handle of a mapped file.
pub type Descriptor = RawHandle;

/// Returns the handle of an open file.
pub(crate) fn descriptor(file: &File) -> Descriptor {
    file.as_raw_handle()
}

/// Returns the protection of the pages.
pub(crate) fn protection(access: Access) -> i32 {
    let protection = match access {
        Access::Read => PAGE_READONLY,
        Access::Write => PAGE_READWRITE,
        Access::Private => PAGE_WRITECOPY,
    };
    protection as i32
}

/// Whether the protection permits writing.
pub(crate) fn is_writable(protection: i64) -> bool {
    protection & i64::from(PAGE_READWRITE | PAGE_WRITECOPY) != 0
}

/// Returns the access flags for `MapViewOfFile`.
pub(crate) fn flags(access: Access) -> i32 {
    let flags = match access {
        Access::Read => FILE_MAP_READ,
        Access::Write => FILE_MAP_ALL_ACCESS,
        Access::Private => FILE_MAP_COPY,
    };
    flags as i32
}

/// Returns the length to map for a file of `file_size` bytes that may grow.
pub(crate) fn len_to_map(file_size: usize, _wanted: usize) -> usize {
    file_size
}

/// Returns the length to map for a file that grew to `len` bytes. `None` if it exceeds the address
/// space.
pub(crate) fn len_to_grow(access: Access, len: usize) -> Option<usize> {
    match access {
        Access::Read | Access::Write => Some(len),
        // Twice the length, so that a file that grows in steps is rarely copied.
        Access::Private => len.checked_mul(2),
    }
}

/// Maps a file of `file_size` bytes; `len` is not greater, unless the file is empty.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn map(
    file: Descriptor,
    access: Access,
    file_size: usize,
    len: usize,
) -> io::Result<NonNull<u8>> {
    let start = if file_size == 0 { allocate(1) } else { map_view(file, access, len) };
    start.inspect_err(|error| crate::trace_error!("Cannot map a file: {error}"))
}

fn map_view(file: Descriptor, access: Access, len: usize) -> io::Result<NonNull<u8>> {
    let (high, low) = ((len as u64 >> 32) as u32, len as u32);
    // SAFETY: the caller keeps the file open. The view keeps the section, so its handle is closed
    // once.
    unsafe {
        let section =
            CreateFileMappingW(file, null(), protection(access) as u32, high, low, null());
        if section.is_null() {
            return Err(io::Error::last_os_error());
        }
        let view = MapViewOfFile(section, flags(access) as u32, 0, 0, len);
        let view = NonNull::new(view.Value.cast()).ok_or_else(io::Error::last_os_error);
        CloseHandle(section);
        view
    }
}

/// Allocates pages of zeros.
fn allocate(len: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: the system chooses the address.
    let start = unsafe { VirtualAlloc(null(), len, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)
}

/// Unmaps a view, or frees the memory that represents it.
///
/// # Errors
/// Returns any error of the operating system.
///
/// # Safety
/// The caller owns the pages, and nothing uses them any more.
pub(crate) unsafe fn unmap(start: NonNull<u8>, _len: usize) -> io::Result<()> {
    let start = start.as_ptr().cast();
    // SAFETY: the caller's contract.
    let done = unsafe {
        if is_view(start) {
            UnmapViewOfFile(MEMORY_MAPPED_VIEW_ADDRESS { Value: start })
        } else {
            VirtualFree(start, 0, MEM_RELEASE)
        }
    };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether pages are a view of a file, and not memory.
fn is_view(start: *const std::ffi::c_void) -> bool {
    let mut found = MaybeUninit::<MEMORY_BASIC_INFORMATION>::uninit();
    // SAFETY: the call accepts all addresses, and fills the struct when it returns its size.
    unsafe {
        VirtualQuery(start, found.as_mut_ptr(), size_of::<MEMORY_BASIC_INFORMATION>()) != 0
            && found.assume_init().Type == MEM_MAPPED
    }
}

/// Waits until the bytes written to the file are on the disk.
///
/// # Errors
/// Returns any error of the operating system.
///
/// # Safety
/// The file is mapped at `start`.
pub(crate) unsafe fn sync(file: Descriptor, start: NonNull<u8>, _len: usize) -> io::Result<()> {
    let start = start.as_ptr().cast();
    // SAFETY: the pages are mapped; writing them out does not change memory. 0 means the whole
    // view.
    let done = unsafe {
        (!is_view(start) || FlushViewOfFile(start, 0) != 0) && FlushFileBuffers(file) != 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Maps `wanted` bytes instead of `len`, at another address. The first `used` bytes are kept.
///
/// # Errors
/// Returns any error of the operating system; the old pages then stay mapped.
///
/// # Safety
/// The file is mapped at `start`, and nothing relies on the address.
pub(crate) unsafe fn grow(
    file: Descriptor,
    access: Access,
    start: NonNull<u8>,
    (len, used): (usize, usize),
    wanted: usize,
) -> io::Result<NonNull<u8>> {
    let new = match access {
        Access::Read | Access::Write => map(file, access, wanted, wanted)?,
        Access::Private => {
            let new = allocate(wanted)?;
            // SAFETY: `used` bytes are mapped, and the new pages are longer and new.
            unsafe { ptr::copy_nonoverlapping(start.as_ptr(), new.as_ptr(), used) };
            new
        }
    };
    // SAFETY: the caller's contract. Pages that cannot be unmapped only use address space.
    let _ = unsafe { unmap(start, len) };
    Ok(new)
}

/// Shortens a mapped file to `file_size` bytes; stores the address and the length of the mapping.
/// If the file cannot be mapped again, the length is 0.
///
/// # Errors
/// Returns any error of the operating system, also if another view of the file exists.
///
/// # Safety
/// The file is mapped at the address, and nothing relies on it.
pub(crate) unsafe fn shrink(
    file: Descriptor,
    mapping: &mut (NonNull<u8>, usize),
    file_size: usize,
) -> io::Result<()> {
    let (start, len) = *mapping;
    // The memory that replaces the view if the file cannot be mapped again.
    let memory = allocate(1)?;
    // SAFETY: the caller owns the view, and this function owns the memory.
    unsafe {
        if let Err(error) = unmap(start, len) {
            let _ = unmap(memory, 1);
            return Err(error);
        }
        let shortened = set_size_of_file(file, file_size);
        let size = if shortened.is_ok() { file_size } else { len };
        let len = len_to_map(size, size);
        let mapped_again = map(file, Access::Write, size, len);
        match mapped_again {
            Ok(start) => {
                *mapping = (start, len);
                let _ = unmap(memory, 1);
                shortened
            }
            Err(error) => {
                *mapping = (memory, 0);
                shortened.and(Err(error))
            }
        }
    }
}

/// Returns the error for a size that exceeds the address space.
pub(crate) fn too_large() -> io::Error {
    io::Error::from_raw_os_error(ERROR_FILE_TOO_LARGE as i32)
}

/// Returns the error for a write to a read-only mapping.
pub(crate) fn read_only() -> io::Error {
    io::Error::from_raw_os_error(ERROR_ACCESS_DENIED as i32)
}

/// Returns the size of a file in bytes.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn size_of_file(file: Descriptor) -> io::Result<usize> {
    let mut size = 0;
    // SAFETY: the call writes the size.
    match unsafe { GetFileSizeEx(file, &mut size) } {
        0 => Err(io::Error::last_os_error()),
        _ => usize::try_from(size).map_err(|_| too_large()),
    }
}

/// Returns the size of a file in bytes, and `false`: files have holes only if a program asks for
/// them.
///
/// # Errors
/// Those of the system.
pub(crate) fn size_and_holes(file: Descriptor) -> io::Result<(usize, bool)> {
    size_of_file(file).map(|size| (size, false))
}

/// Does nothing.
///
/// # Errors
/// None; the function of other systems has errors.
pub(crate) fn fill_holes(
    _file: Descriptor,
    _from: usize,
    _to: usize,
    _file_size: usize,
) -> io::Result<()> {
    Ok(())
}

/// Does nothing.
///
/// # Errors
/// None; the function of other systems has errors.
pub(crate) fn load_holes(_file: Descriptor, _start: NonNull<u8>, _len: usize) -> io::Result<()> {
    Ok(())
}

fn information_of(file: Descriptor) -> io::Result<BY_HANDLE_FILE_INFORMATION> {
    let mut found = MaybeUninit::uninit();
    // SAFETY: the call fills the struct when it returns a value other than 0.
    unsafe {
        match GetFileInformationByHandle(file, found.as_mut_ptr()) {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(found.assume_init()),
        }
    }
}

/// Returns the serial number of the volume and the number of a file.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn identity_of(file: Descriptor) -> io::Result<(u64, u64)> {
    let found = information_of(file)?;
    let number = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
    Ok((found.dwVolumeSerialNumber.into(), number))
}

/// Sets the size of a file in bytes.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn set_size_of_file(file: Descriptor, len: usize) -> io::Result<()> {
    let len = i64::try_from(len).map_err(|_| too_large())?;
    let end = FILE_END_OF_FILE_INFO { EndOfFile: len };
    let size = size_of::<FILE_END_OF_FILE_INFO>() as u32;
    // SAFETY: the call reads a struct of this size.
    let set = unsafe {
        SetFileInformationByHandle(file, FileEndOfFileInfo, (&raw const end).cast(), size)
    };
    if set == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Grows a file from `from` to `to` bytes. The system reserves disk space for the added bytes.
///
/// # Errors
/// Returns any error of the operating system.
pub(crate) fn extend_file(file: Descriptor, _from: usize, to: usize) -> io::Result<()> {
    set_size_of_file(file, to)
}
