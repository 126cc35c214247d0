//! Checked conversions of C pointers to Rust values.
//!
//! NULL and negative sizes are [`Error::InvalidParam`] and never reach the core. The validity of
//! the memory cannot be checked: it is the safety contract of each function here, guaranteed by the
//! caller of the exported function.

use crate::os;
use ferroblosc::chunk::MAX_BUFFERSIZE;
use ferroblosc::{Buffer, Error, Result};
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

/// Returns the `size` bytes at `start`, which may be NULL if `size` is 0.
///
/// # Safety
/// `start` is NULL or readable for `size` bytes that do not change during `'a`.
///
/// # Errors
/// [`Error::InvalidParam`] if `size` is negative, or `start` is NULL and `size` is not 0.
pub unsafe fn bytes<'a>(start: *const c_void, size: i32) -> Result<&'a [u8]> {
    let size = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
    match (start.is_null(), size) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::InvalidParam),
        // SAFETY: not NULL, and the caller guarantees `size` readable bytes.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(start.cast(), size) }),
    }
}

/// Returns the `size` writable bytes at `start`, which may be NULL if `size` is 0.
///
/// # Safety
/// `start` is NULL or writable for `size` bytes that nothing else accesses during `'a`.
///
/// # Errors
/// [`Error::InvalidParam`] if `size` is negative, or `start` is NULL and `size` is not 0.
pub unsafe fn bytes_mut<'a>(start: *mut c_void, size: i32) -> Result<&'a mut [u8]> {
    let size = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
    match (start.is_null(), size) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Error::InvalidParam),
        // SAFETY: not NULL, and the caller guarantees `size` writable bytes.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(start.cast(), size) }),
    }
}

/// Returns a reference to the value at `pointer`.
///
/// # Safety
/// `pointer` is NULL or points to a valid `T` that does not change during `'a`.
///
/// # Errors
/// [`Error::InvalidParam`] if `pointer` is NULL.
pub unsafe fn reference<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: the caller guarantees a valid `T` or NULL.
    unsafe { pointer.as_ref() }.ok_or(Error::InvalidParam)
}

/// Returns a mutable reference to the value at `pointer`.
///
/// # Safety
/// `pointer` is NULL or points to a valid `T` that nothing else accesses during `'a`.
///
/// # Errors
/// [`Error::InvalidParam`] if `pointer` is NULL.
pub unsafe fn reference_mut<'a, T>(pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: the caller guarantees a valid `T` or NULL.
    unsafe { pointer.as_mut() }.ok_or(Error::InvalidParam)
}

/// Writes `value` to an optional output; does nothing if it is NULL.
///
/// # Safety
/// `output` is NULL or points to memory for a `T`, initialised or not.
pub unsafe fn write_if_given<T>(output: *mut T, value: T) {
    if !output.is_null() {
        // SAFETY: not NULL, and the caller guarantees memory for a `T`.
        unsafe { output.write(value) }
    }
}

/// Whether two ranges of memory share a byte.
pub fn overlap(one: (*const u8, usize), other: (*const u8, usize)) -> bool {
    let end = |(start, len): (*const u8, usize)| start.addr().saturating_add(len);
    let is_empty = one.1 == 0 || other.1 == 0;
    !is_empty && one.0.addr() < end(other) && other.0.addr() < end(one)
}

/// Source bytes of a call that writes to other memory.
///
/// A slice must not contain bytes that change during the call; bytes that overlap the destination
/// are copied first.
#[derive(Debug)]
pub struct StableSource {
    start: *const u8,
    len: usize,
    /// Owns the bytes if they were copied.
    copy: Option<Buffer>,
}

impl StableSource {
    /// Creates a source of the `len` bytes at `start`, which are not copied.
    ///
    /// # Safety
    /// `start` is readable for `len` bytes, or `len` is 0. The bytes do not change while the value
    /// is in use.
    #[inline]
    pub unsafe fn borrowed(start: *const u8, len: usize) -> StableSource {
        StableSource { start, len, copy: None }
    }

    /// Creates a source of the `len` bytes at `start`, copied if `changes`.
    ///
    /// # Safety
    /// `start` is readable for `len` bytes, or `len` is 0. Unless `changes`, the bytes do not
    /// change while the value is in use.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`] without memory for a copy.
    pub unsafe fn new(start: *const u8, len: usize, changes: bool) -> Result<StableSource> {
        // SAFETY: guaranteed by the caller; a source that changes is replaced by its copy below.
        let mut source = unsafe { StableSource::borrowed(start, len) };
        if changes && len > 0 {
            // SAFETY: not empty; the caller guarantees the bytes, and nothing is written during the
            // copy.
            let bytes = unsafe { std::slice::from_raw_parts(start, len) };
            source.copy = Some(Buffer::copy_of(bytes)?);
        }
        Ok(source)
    }

    /// Creates a source of the `size` bytes at `src`, copied if they overlap the `destsize` bytes
    /// at `dest`. NULL and invalid sizes are accepted here, since the caller rejects them.
    ///
    /// # Safety
    /// `src` is NULL or readable for `size` bytes, which change only by writes of the call to
    /// `dest`.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`] without memory for a copy.
    pub unsafe fn from(
        (src, size): (*const c_void, i32),
        (dest, destsize): (*const c_void, i32),
    ) -> Result<StableSource> {
        let len = |pointer: *const c_void, size: i32| {
            if pointer.is_null() { 0 } else { usize::try_from(size).unwrap_or(0) }
        };
        let source = (src.cast::<u8>(), len(src, size));
        // The caller refuses larger sizes without reading the bytes, which may not exist.
        let changes =
            source.1 <= MAX_BUFFERSIZE && overlap(source, (dest.cast(), len(dest, destsize)));
        // SAFETY: guaranteed by the caller.
        unsafe { StableSource::new(source.0, source.1, changes) }
    }

    /// Whether the bytes were copied.
    pub fn is_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// Returns the address of the unchanging bytes.
    pub fn as_ptr(&self) -> *const u8 {
        self.copy.as_ref().map_or(self.start, |copy| copy.as_ptr())
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.copy {
            Some(copy) => copy,
            None if self.len == 0 => &[],
            // SAFETY: the caller of `new` guarantees readable bytes that do not change.
            None => unsafe { std::slice::from_raw_parts(self.start, self.len) },
        }
    }

    /// Converts the bytes to a buffer, copying them unless they are a copy already.
    ///
    /// # Errors
    /// [`Error::MemoryAlloc`] without memory for a copy.
    pub fn into_buffer(self) -> Result<Buffer> {
        match self.copy {
            Some(copy) => Ok(copy),
            None => Buffer::copy_of(self.bytes()),
        }
    }
}

/// Returns the NUL-terminated string at `text`, or `None` for NULL.
///
/// # Safety
/// `text` is NULL or points to a NUL-terminated string that does not change during `'a`.
pub unsafe fn c_str<'a>(text: *const c_char) -> Option<&'a CStr> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL, and the caller guarantees a NUL-terminated string.
    Some(unsafe { CStr::from_ptr(text) })
}

/// Returns the path at `text`, or `None` for NULL.
///
/// # Errors
/// [`Error::InvalidParam`] on Windows for text that is not UTF-8. It must not be taken for NULL,
/// which often means memory.
///
/// # Safety
/// The same conditions as for [`c_str`].
pub unsafe fn path<'a>(text: *const c_char) -> Result<Option<&'a Path>> {
    // SAFETY: guaranteed by the caller.
    let text = unsafe { c_str(text) };
    let not_utf8 = || Error::InvalidParam.because("the path is not UTF-8");
    text.map(|text| os::path::of(text).ok_or_else(not_utf8)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::{null, null_mut};

    #[test]
    fn a_buffer_of_no_bytes_may_be_null() {
        // SAFETY: no byte is read.
        unsafe {
            assert_eq!(bytes(null(), 0), Ok(&[][..]));
            assert_eq!(bytes_mut(null_mut(), 0), Ok(&mut [][..]));
        }
    }

    #[test]
    fn null_with_a_size_and_negative_sizes_are_invalid() {
        let mut some = [1u8, 2];
        // SAFETY: no byte is read with these sizes.
        unsafe {
            assert_eq!(bytes(null(), 1), Err(Error::InvalidParam));
            assert_eq!(bytes(some.as_ptr().cast(), -1), Err(Error::InvalidParam));
            assert_eq!(bytes_mut(null_mut(), 1), Err(Error::InvalidParam));
            assert_eq!(bytes_mut(some.as_mut_ptr().cast(), -1), Err(Error::InvalidParam));
            assert_eq!(reference::<u8>(null()), Err(Error::InvalidParam));
            assert_eq!(reference_mut::<u8>(null_mut()), Err(Error::InvalidParam));
            assert_eq!(c_str(null()), None);
            assert_eq!(path(null()), Ok(None));
            write_if_given::<u8>(null_mut(), 1);
        }
    }

    #[test]
    fn ranges_overlap_when_they_share_a_byte() {
        let bytes = [0u8; 8];
        let range = |from: usize, to: usize| (bytes[from..to].as_ptr(), to - from);
        assert!(overlap(range(0, 4), range(3, 8)));
        assert!(overlap(range(3, 8), range(0, 4)));
        assert!(overlap(range(0, 8), range(2, 3)));
        assert!(!overlap(range(0, 4), range(4, 8)));
        assert!(!overlap(range(0, 8), range(4, 4)));
        assert!(!overlap((null(), 0), range(0, 8)));
    }

    #[test]
    fn a_source_is_copied_only_when_it_overlaps_the_destination() {
        let bytes: Vec<u8> = (0..8).collect();
        let at = |i: usize| -> *const c_void { bytes[i..].as_ptr().cast() };
        // SAFETY: the ranges are inside `bytes`, and nothing is written.
        unsafe {
            let apart = StableSource::from((at(0), 4), (at(4), 4)).unwrap();
            assert!(!apart.is_copy());
            assert_eq!(apart.bytes(), [0, 1, 2, 3]);
            let copied = StableSource::from((at(0), 4), (at(3), 4)).unwrap();
            assert!(copied.is_copy());
            assert_eq!(copied.bytes(), [0, 1, 2, 3]);
            for (src, size) in [(null(), 4), (at(0), 0), (at(0), -1)] {
                let nothing = StableSource::from((src, size), (at(0), 8)).unwrap();
                assert!(!nothing.is_copy());
                assert!(nothing.bytes().is_empty());
            }
        }
    }

    #[test]
    fn pointers_are_converted_to_references() {
        let mut some = [1u8, 2];
        // SAFETY: `some` has two bytes; each reference ends before the next one is created.
        unsafe {
            assert_eq!(bytes(some.as_ptr().cast(), 2), Ok(&[1u8, 2][..]));
            bytes_mut(some.as_mut_ptr().cast(), 2).unwrap()[1] = 5;
            write_if_given(some.as_mut_ptr(), 4);
            assert_eq!(c_str(c"zstd".as_ptr()), Some(c"zstd"));
            assert_eq!(path(c"/a/b".as_ptr()), Ok(Some(Path::new("/a/b"))));
            let of_code_page = path(c"caf\xe9".as_ptr());
            if cfg!(windows) {
                assert_eq!(of_code_page, Err(Error::InvalidParam));
            } else {
                assert_eq!(
                    of_code_page.map(|path| path.map(|path| path.as_os_str().len())),
                    Ok(Some(4))
                );
            }
        }
        assert_eq!(some, [4, 5]);
    }
}
