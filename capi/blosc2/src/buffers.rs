//! Buffers of a call, as C gives them: a pointer and a size that may make no sense.
//!
//! The sizes are judged by the core, which knows in which order callers expect errors; so here a
//! negative size stands for an empty buffer, which is too small for anything.

use ferroblosc::chunk::{BasicHeader, MAX_OVERHEAD, MIN_HEADER_LENGTH, Source};
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::pointers::{self, Apart, overlap};
use std::ffi::c_void;

/// A destination of a compression.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL.
///
/// # Safety
/// `dest` is NULL or writable for `destsize` bytes.
pub unsafe fn destination<'a>(dest: *mut c_void, destsize: i32) -> Result<&'a mut [u8]> {
    if dest.is_null() {
        return Err(Error::InvalidParam);
    }
    // SAFETY: promised by the caller.
    unsafe { pointers::bytes_mut(dest, destsize.max(0)) }
}

/// A source of a compression into `destsize` bytes; without bytes when it is NULL.
///
/// # Errors
/// For a negative size, the error that comes first: [`Error::MaxBufsizeExceeded`] when the
/// destination can't hold any chunk, [`Error::InvalidParam`] otherwise.
///
/// # Safety
/// `src` is NULL or readable for `srcsize` bytes.
pub unsafe fn source<'a>(src: *const c_void, srcsize: i32, destsize: usize) -> Result<Source<'a>> {
    match usize::try_from(srcsize) {
        Err(_) if destsize < MAX_OVERHEAD => Err(Error::MaxBufsizeExceeded),
        Err(_) => Err(Error::InvalidParam),
        Ok(size) if src.is_null() => Ok(Source::Absent(size)),
        // SAFETY: promised by the caller.
        Ok(_) => Ok(Source::Bytes(unsafe { pointers::bytes(src, srcsize) }?)),
    }
}

/// A chunk that is to be read.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL.
///
/// # Safety
/// `src` is NULL or readable for `srcsize` bytes.
pub unsafe fn whole_chunk<'a>(src: *const c_void, srcsize: i32) -> Result<&'a [u8]> {
    if src.is_null() {
        return Err(Error::InvalidParam);
    }
    // SAFETY: promised by the caller.
    unsafe { pointers::bytes(src, srcsize.max(0)) }
}

/// A chunk that is to be read into `dest`, copied if it overlaps that.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL; [`Error::MemoryAlloc`].
///
/// # Safety
/// `src` is NULL or readable for `srcsize` bytes, `dest` NULL or writable for `destsize` bytes.
pub unsafe fn chunk_apart(
    (src, srcsize): (*const c_void, i32),
    (dest, destsize): (*mut c_void, i32),
) -> Result<Apart> {
    if src.is_null() {
        return Err(Error::InvalidParam);
    }
    let len = usize::try_from(srcsize).unwrap_or(0);
    let mut room = usize::try_from(destsize).unwrap_or(0);
    if dest.is_null() {
        room = 0;
    }
    let mut changes = overlap((src.cast(), len), (dest.cast(), room));
    let mut used = len;
    if changes && len >= MIN_HEADER_LENGTH {
        // Sizes that callers give may be larger than what is there. What is used is as long as the header
        // says.
        // SAFETY: promised by the caller; nothing is written while the slice lives.
        let header = BasicHeader::parse(unsafe { whole_chunk(src, MIN_HEADER_LENGTH as i32) }?);
        if let Ok(header) = header {
            let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
            used = len.min(cbytes.max(MIN_HEADER_LENGTH));
            let written = room.min(usize::try_from(header.nbytes).unwrap_or(0));
            changes = overlap((src.cast(), used), (dest.cast(), written));
        }
        if !changes {
            // The sizes overlap, the bytes don't.
            used = len;
        }
    }
    // SAFETY: promised by the caller.
    unsafe { Apart::new(src.cast(), used, changes) }
}

/// The first bytes of a chunk, as many as every chunk has.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL.
///
/// # Safety
/// `src` is NULL or readable for 16 bytes.
pub unsafe fn header<'a>(src: *const c_void) -> Result<&'a [u8]> {
    // SAFETY: promised by the caller.
    unsafe { whole_chunk(src, MIN_HEADER_LENGTH as i32) }
}

/// A chunk of unknown size: as many bytes as its header says it has.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL; those of reading the header.
///
/// # Safety
/// `src` is NULL or a chunk, readable for the bytes its header says.
pub unsafe fn chunk_by_header<'a>(src: *const c_void) -> Result<&'a [u8]> {
    // SAFETY: a chunk has at least these bytes.
    let header = BasicHeader::parse(unsafe { header(src) }?)?;
    // SAFETY: promised by the caller.
    unsafe { whole_chunk(src, header.cbytes) }
}

/// A destination that may be NULL, as long as nothing is written to it.
pub struct MaybeNull<'a>(Option<&'a mut [u8]>);

/// A destination that may be NULL, as long as nothing is written to it.
///
/// # Safety
/// `dest` is NULL or writable for `destsize` bytes.
pub unsafe fn nullable_dest<'a>(dest: *mut c_void, destsize: i32) -> MaybeNull<'a> {
    // SAFETY: promised by the caller.
    MaybeNull(unsafe { destination(dest, destsize) }.ok())
}

impl MaybeNull<'_> {
    /// Lets `work` write to the destination.
    ///
    /// # Errors
    /// Those of `work`, but [`Error::InvalidParam`] when all it lacks is a destination.
    pub fn fill(self, work: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<usize> {
        match self.0 {
            Some(dest) => work(dest),
            None => work(&mut []).map_err(|error| match error.kind() {
                ErrorKind::WriteBuffer => error.recast(ErrorKind::InvalidParam),
                _ => error,
            }),
        }
    }
}
