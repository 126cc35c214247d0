//! Memory that JavaScript fills, and the text of the last result.

use std::alloc::{Layout, alloc, dealloc};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferroblosc::Error;

/// The alignment of the memory that JavaScript fills.
const ALIGN: usize = 16;

/// The bytes of the last result with a variable size: a text or a list.
static RESULT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn result() -> MutexGuard<'static, Vec<u8>> {
    RESULT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores bytes that JavaScript reads with [`fb_result`] and [`fb_result_len`].
pub fn set_result(bytes: Vec<u8>) {
    *result() = bytes;
}

/// Stores the text of an error; returns its code.
#[cold]
pub fn failed(error: &Error) -> i32 {
    set_result(error.to_string().into_bytes());
    error.code()
}

/// Converts a result to a number: a size, which is less than 2 GiB, or the code of an error.
pub fn code(result: ferroblosc::Result<usize>) -> i32 {
    match result {
        Ok(len) => len as i32,
        Err(error) => failed(&error),
    }
}

/// Returns zeros.
///
/// # Errors
/// [`Error::MemoryAlloc`].
pub fn zeros(len: usize) -> ferroblosc::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| Error::MemoryAlloc.of_bytes(len))?;
    bytes.resize(len, 0);
    Ok(bytes)
}

/// Allocates `len` bytes; returns null if there is no memory, or `len` is 0.
#[unsafe(no_mangle)]
pub extern "C" fn fb_alloc(len: usize) -> *mut u8 {
    match Layout::from_size_align(len, ALIGN) {
        // SAFETY: the size is not 0.
        Ok(layout) if len > 0 => unsafe { alloc(layout) },
        _ => std::ptr::null_mut(),
    }
}

/// Frees memory.
///
/// # Safety
/// `start` is a result of [`fb_alloc`] for this length, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fb_free(start: *mut u8, len: usize) {
    if let (false, Ok(layout)) = (start.is_null(), Layout::from_size_align(len, ALIGN)) {
        // SAFETY: the caller's contract.
        unsafe { dealloc(start, layout) }
    }
}

/// Returns the address of the last result with a variable size.
#[unsafe(no_mangle)]
pub extern "C" fn fb_result() -> *const u8 {
    result().as_ptr()
}

/// Returns the length of the last result with a variable size.
#[unsafe(no_mangle)]
pub extern "C" fn fb_result_len() -> usize {
    result().len()
}
