//! Pointers of C callers, checked and turned into Rust values.
//!
//! NULL and negative lengths are errors here ([`Error::InvalidParam`]) and never reach the core.
//! What a check cannot know (that the memory is really there) is the safety contract of each
//! function, and it is the same everywhere: *the caller of the exported function promised it*.

use ferroblosc::{Error, Result};
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The `size` bytes at `start`; NULL is an error unless `size` is 0.
///
/// # Safety
/// `start` is NULL or points to `size` readable bytes that nobody writes while `'a` lasts.
///
/// # Errors
/// [`Error::InvalidParam`]: `size` is negative, or `start` is NULL and `size` is not 0.
pub unsafe fn bytes<'a>(start: *const c_void, size: i32) -> Result<&'a [u8]> {
    let size = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
    match (start.is_null(), size) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::InvalidParam),
        // SAFETY: not NULL, and the caller promises `size` readable bytes.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(start.cast(), size) }),
    }
}

/// The `size` writable bytes at `start`; NULL is an error unless `size` is 0.
///
/// # Safety
/// `start` is NULL or points to `size` writable bytes that nobody else uses while `'a` lasts.
///
/// # Errors
/// [`Error::InvalidParam`]: `size` is negative, or `start` is NULL and `size` is not 0.
pub unsafe fn bytes_mut<'a>(start: *mut c_void, size: i32) -> Result<&'a mut [u8]> {
    let size = usize::try_from(size).map_err(|_| Error::InvalidParam)?;
    match (start.is_null(), size) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err(Error::InvalidParam),
        // SAFETY: not NULL, and the caller promises `size` writable bytes.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(start.cast(), size) }),
    }
}

/// What `pointer` points to.
///
/// # Safety
/// `pointer` is NULL or points to a valid `T` that nobody writes while `'a` lasts.
///
/// # Errors
/// [`Error::InvalidParam`]: `pointer` is NULL.
pub unsafe fn reference<'a, T>(pointer: *const T) -> Result<&'a T> {
    // SAFETY: the caller promises a valid `T` or NULL.
    unsafe { pointer.as_ref() }.ok_or(Error::InvalidParam)
}

/// What `pointer` points to, writable.
///
/// # Safety
/// `pointer` is NULL or points to a valid `T` that nobody else uses while `'a` lasts.
///
/// # Errors
/// [`Error::InvalidParam`]: `pointer` is NULL.
pub unsafe fn reference_mut<'a, T>(pointer: *mut T) -> Result<&'a mut T> {
    // SAFETY: the caller promises a valid `T` or NULL.
    unsafe { pointer.as_mut() }.ok_or(Error::InvalidParam)
}

/// Writes `value` to an output the caller may have left out.
///
/// # Safety
/// `output` is NULL or points to memory for a `T`, initialised or not.
pub unsafe fn write_if_given<T>(output: *mut T, value: T) {
    if !output.is_null() {
        // SAFETY: not NULL, and the caller promises room for a `T`.
        unsafe { output.write(value) }
    }
}

/// The NUL-terminated string at `text`, or `None` for NULL.
///
/// # Safety
/// `text` is NULL or points to a NUL-terminated string that nobody changes while `'a` lasts.
pub unsafe fn c_str<'a>(text: *const c_char) -> Option<&'a CStr> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not NULL, and the caller promises a NUL-terminated string.
    Some(unsafe { CStr::from_ptr(text) })
}

/// The path at `text`, or `None` for NULL.
///
/// # Safety
/// As for [`c_str`].
pub unsafe fn path<'a>(text: *const c_char) -> Option<&'a Path> {
    // SAFETY: promised by the caller.
    let text = unsafe { c_str(text) }?;
    Some(Path::new(OsStr::from_bytes(text.to_bytes())))
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
        // SAFETY: the sizes given never let a byte be read.
        unsafe {
            assert_eq!(bytes(null(), 1), Err(Error::InvalidParam));
            assert_eq!(bytes(some.as_ptr().cast(), -1), Err(Error::InvalidParam));
            assert_eq!(bytes_mut(null_mut(), 1), Err(Error::InvalidParam));
            assert_eq!(
                bytes_mut(some.as_mut_ptr().cast(), -1),
                Err(Error::InvalidParam)
            );
            assert_eq!(reference::<u8>(null()), Err(Error::InvalidParam));
            assert_eq!(reference_mut::<u8>(null_mut()), Err(Error::InvalidParam));
            assert_eq!(c_str(null()), None);
            assert_eq!(path(null()), None);
            write_if_given::<u8>(null_mut(), 1);
        }
    }

    #[test]
    fn pointers_become_what_they_point_to() {
        let mut some = [1u8, 2];
        // SAFETY: `some` has two bytes; the references end before the next one is made.
        unsafe {
            assert_eq!(bytes(some.as_ptr().cast(), 2), Ok(&[1u8, 2][..]));
            bytes_mut(some.as_mut_ptr().cast(), 2).unwrap()[1] = 5;
            write_if_given(some.as_mut_ptr(), 4);
            assert_eq!(c_str(c"zstd".as_ptr()), Some(c"zstd"));
            assert_eq!(path(c"/a/b".as_ptr()), Some(Path::new("/a/b")));
        }
        assert_eq!(some, [4, 5]);
    }
}
