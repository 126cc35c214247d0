//! Buffers of C calls as slices.
//!
//! The core checks the sizes, since it defines the order of the errors. A negative size is
//! therefore converted to an empty buffer, which is too small for anything.

use ferroblosc::chunk::header::is_lazy;
use ferroblosc::chunk::{
    BasicHeader, EXTENDED_HEADER_LENGTH, MAX_OVERHEAD, MIN_HEADER_LENGTH, Source,
};
use ferroblosc::{Error, ErrorKind, Result};
use ferroblosc_capi_common::pointers::{self, StableSource, overlap};
use std::ffi::{c_int, c_void};

/// Returns the destination of a compression.
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
    // SAFETY: guaranteed by the caller.
    unsafe { pointers::bytes_mut(dest, destsize.max(0)) }
}

/// Returns the source of a compression into `destsize` bytes, [`Source::Absent`] for NULL.
///
/// # Errors
/// For a negative size: [`Error::MaxBufsizeExceeded`] if the destination is too small for any
/// chunk, otherwise [`Error::InvalidParam`].
///
/// # Safety
/// `src` is NULL or readable for `srcsize` bytes.
pub unsafe fn source<'a>(src: *const c_void, srcsize: i32, destsize: usize) -> Result<Source<'a>> {
    match usize::try_from(srcsize) {
        Err(_) if destsize < MAX_OVERHEAD => Err(Error::MaxBufsizeExceeded),
        Err(_) => Err(Error::InvalidParam),
        Ok(size) if src.is_null() => Ok(Source::Absent(size)),
        // SAFETY: guaranteed by the caller.
        Ok(_) => Ok(Source::Bytes(unsafe { pointers::bytes(src, srcsize) }?)),
    }
}

/// Returns a chunk to read.
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
    // SAFETY: guaranteed by the caller.
    unsafe { pointers::bytes(src, srcsize.max(0)) }
}

/// Returns a chunk to decompress into `dest`, copied if it overlaps `dest`.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL; [`Error::MemoryAlloc`].
///
/// # Safety
/// `src` is NULL or readable for `srcsize` bytes; `dest` is NULL or writable for `destsize` bytes.
#[inline]
unsafe fn stable_chunk(
    (src, srcsize): (*const c_void, i32),
    (dest, destsize): (*mut c_void, i32),
) -> Result<StableSource> {
    if src.is_null() {
        return Err(Error::InvalidParam);
    }
    let len = usize::try_from(srcsize).unwrap_or(0);
    let mut capacity = usize::try_from(destsize).unwrap_or(0);
    if dest.is_null() {
        capacity = 0;
    }
    if !overlap((src.cast(), len), (dest.cast(), capacity)) {
        // SAFETY: the caller guarantees `len` readable bytes. They do not overlap `dest`, the only
        // memory that the call writes to.
        return Ok(unsafe { StableSource::borrowed(src.cast(), len) });
    }
    // SAFETY: guaranteed by the caller.
    unsafe { overlapping_chunk((src, len), (dest, capacity)) }
}

/// Runs `work` with a chunk and the destination of its data, which may be NULL if nothing is
/// written to it.
///
/// # Errors
/// The errors of [`stable_chunk`] and `work`, but [`Error::InvalidParam`] if the destination is
/// NULL and too small.
///
/// # Safety
/// The same conditions as for [`stable_chunk`].
#[inline]
pub unsafe fn read_chunk(
    src: (*const c_void, i32),
    dest: (*mut c_void, i32),
    work: impl FnOnce(&[u8], &mut [u8]) -> Result<usize>,
) -> Result<c_int> {
    // SAFETY: guaranteed by the caller.
    let (chunk, dest) = unsafe { (stable_chunk(src, dest)?, destination(dest.0, dest.1)) };
    let size = match dest {
        Ok(dest) => work(chunk.bytes(), dest),
        Err(_) => work(chunk.bytes(), &mut []).map_err(|error| match error.kind() {
            ErrorKind::WriteBuffer => error.recast(ErrorKind::InvalidParam),
            _ => error,
        }),
    };
    Ok(size? as c_int)
}

/// Runs `work` with the source and the destination of a compression.
///
/// # Errors
/// The errors of [`source`], [`destination`] and `work`.
///
/// # Safety
/// `src` is NULL or readable for `srcsize` bytes; `dest` is NULL or writable for `destsize` bytes.
#[inline]
pub unsafe fn compress_buffer(
    src: (*const c_void, i32),
    dest: (*mut c_void, i32),
    work: impl FnOnce(Source<'_>, &mut [u8]) -> Result<usize>,
) -> Result<c_int> {
    // SAFETY: guaranteed by the caller.
    let (apart, dest) = unsafe {
        let apart = StableSource::from(src, (dest.0, dest.1))?;
        (apart, destination(dest.0, dest.1)?)
    };
    // SAFETY: guaranteed by the caller; the bytes do not overlap `dest`.
    let source = unsafe { source(apart.as_ptr().cast(), src.1, dest.len()) }?;
    Ok(work(source, dest)? as c_int)
}

/// Returns a chunk whose buffer overlaps the destination, copied if the chunk itself overlaps it.
///
/// # Safety
/// `src` is readable for `len` bytes; `dest` is writable for `capacity` bytes.
#[cold]
unsafe fn overlapping_chunk(
    (src, len): (*const c_void, usize),
    (dest, capacity): (*mut c_void, usize),
) -> Result<StableSource> {
    let mut used = len;
    if len >= MIN_HEADER_LENGTH {
        let front = len.min(EXTENDED_HEADER_LENGTH) as i32;
        // SAFETY: guaranteed by the caller; nothing is written while the slice is in use.
        let front = unsafe { whole_chunk(src, front) }?;
        // `len` may exceed the size of the chunk, which is in the header; that of a lazy chunk is
        // the size of the chunk that it stands for.
        if let Ok(header) = BasicHeader::parse(front)
            && !is_lazy(front)
        {
            let cbytes = usize::try_from(header.cbytes).unwrap_or(0);
            used = len.min(cbytes.max(MIN_HEADER_LENGTH));
        }
    }
    let changes = overlap((src.cast(), used), (dest.cast(), capacity));
    // SAFETY: guaranteed by the caller; without a copy the bytes do not overlap `dest`, the only
    // memory that the call writes to.
    unsafe { StableSource::new(src.cast(), used, changes) }
}

/// Returns the first [`MIN_HEADER_LENGTH`] bytes of a chunk.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL.
///
/// # Safety
/// `src` is NULL or readable for 16 bytes.
pub unsafe fn header<'a>(src: *const c_void) -> Result<&'a [u8]> {
    // SAFETY: guaranteed by the caller.
    unsafe { whole_chunk(src, MIN_HEADER_LENGTH as i32) }
}

/// Returns a chunk of unknown size; its size is read from its header.
///
/// # Errors
/// [`Error::InvalidParam`] for NULL; the errors of reading the header.
///
/// # Safety
/// `src` is NULL or a chunk, readable for the size in its header.
pub unsafe fn chunk_by_header<'a>(src: *const c_void) -> Result<&'a [u8]> {
    // SAFETY: a chunk has at least these bytes.
    let header = BasicHeader::parse(unsafe { header(src) }?)?;
    // SAFETY: guaranteed by the caller.
    unsafe { whole_chunk(src, header.cbytes) }
}
