//! Systems that cannot map files into memory: opening a mapped file fails.

use crate::os::Access;
use crate::os::files;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::ptr::NonNull;

/// The number of an open file.
pub type Descriptor = files::Descriptor;

/// Returns the number of an open file.
pub(crate) fn descriptor(file: &File) -> Descriptor {
    files::descriptor(file)
}

/// Returns 0: there are no protection flags.
pub(crate) fn protection(_access: Access) -> i32 {
    0
}

/// Returns `false`: there are no protection flags.
pub(crate) fn is_writable(_protection: i64) -> bool {
    false
}

/// Returns 0: there are no mapping flags.
pub(crate) fn flags(_access: Access) -> i32 {
    0
}

/// Returns the length to map for a file.
pub(crate) fn len_to_map(file_size: usize, wanted: usize) -> usize {
    file_size.max(wanted).max(1)
}

/// Returns the length to map for a file that grew to `len` bytes.
pub(crate) fn len_to_grow(_access: Access, len: usize) -> Option<usize> {
    Some(len)
}

/// Fails.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn map(_: Descriptor, _: Access, _: usize, _len: usize) -> Result<NonNull<u8>> {
    unsupported()
}

/// Fails: nothing is mapped.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
///
/// # Safety
/// None; the function of other systems has requirements.
pub(crate) unsafe fn unmap(_start: NonNull<u8>, _len: usize) -> Result<()> {
    unsupported()
}

/// Fails: nothing is mapped.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
///
/// # Safety
/// None; the function of other systems has requirements.
pub(crate) unsafe fn sync(_: Descriptor, _start: NonNull<u8>, _len: usize) -> Result<()> {
    unsupported()
}

/// Fails: nothing is mapped.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
///
/// # Safety
/// None; the function of other systems has requirements.
pub(crate) unsafe fn grow(
    _file: Descriptor,
    _access: Access,
    _start: NonNull<u8>,
    _len_and_used: (usize, usize),
    _wanted: usize,
) -> Result<NonNull<u8>> {
    unsupported()
}

/// Fails: nothing is mapped.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
///
/// # Safety
/// None; the function of other systems has requirements.
pub(crate) unsafe fn shrink(
    _file: Descriptor,
    _mapping: &mut (NonNull<u8>, usize),
    _file_size: usize,
) -> Result<()> {
    unsupported()
}

/// Returns the error for a size that exceeds the address space.
pub(crate) fn too_large() -> Error {
    ErrorKind::FileTooLarge.into()
}

/// Returns the error for a write to a read-only mapping.
pub(crate) fn read_only() -> Error {
    ErrorKind::PermissionDenied.into()
}

/// Fails, so that files are not mapped.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn size_of_file(_file: Descriptor) -> Result<usize> {
    unsupported()
}

/// Fails.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn size_and_holes(_file: Descriptor) -> Result<(usize, bool)> {
    unsupported()
}

/// Fails.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn fill_holes(_: Descriptor, _from: usize, _to: usize, _file_size: usize) -> Result<()> {
    unsupported()
}

/// Fails.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn load_holes(_file: Descriptor, _start: NonNull<u8>, _len: usize) -> Result<()> {
    unsupported()
}

/// Fails.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn identity_of(_file: Descriptor) -> Result<(u64, u64)> {
    unsupported()
}

/// Fails.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn set_size_of_file(_file: Descriptor, _len: usize) -> Result<()> {
    unsupported()
}

/// Fails.
///
/// # Errors
/// [`ErrorKind::Unsupported`].
pub(crate) fn extend_file(_file: Descriptor, _from: usize, _to: usize) -> Result<()> {
    unsupported()
}

fn unsupported<T>() -> Result<T> {
    Err(ErrorKind::Unsupported.into())
}
