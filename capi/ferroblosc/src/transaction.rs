//! Transactions of super-chunks and arrays.

use crate::extensions::{Extensions, Function, extensions};
use crate::last_error::forward;
use ferroblosc::Error;
use ferroblosc_capi_common::last_error;
use std::ffi::{c_int, c_void};

/// Calls a function of libblosc2. The call returns the code of that function and keeps its last
/// error.
///
/// # Safety
/// `pointer` is a valid argument of the function, or NULL.
unsafe fn call(
    pick: impl FnOnce(&Extensions) -> Function,
    pointer: *mut c_void,
) -> Result<c_int, Error> {
    let table = extensions().inspect_err(|error| {
        last_error::record(error.clone());
        forward();
    })?;
    last_error::clear();
    // SAFETY: guaranteed by the caller.
    Ok(unsafe { pick(table)(pointer) })
}

/// Begins a transaction of a super-chunk, or a nested one in its open transaction.
///
/// ferroblosc_commit() applies all changes at once: other handles, and readers after a crash, see
/// all of them or none. With locks, other handles wait until the end of the transaction.
///
/// Super-chunks in durable files and directories (FERROBLOSC_IO_DURABLE, FERROBLOSC_DURABLE)
/// support transactions. Appending many chunks in one transaction is much faster than without one.
/// Freeing the super-chunk rolls an open transaction back. A transaction belongs to the process
/// that began it: in a forked child, calls with this super-chunk fail until ferroblosc_rollback().
///
/// - `schunk`: the super-chunk, a `blosc2_schunk`.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM if the super-chunk has no
/// transactions or is not one of Ferroblosc's libblosc2; BLOSC2_ERROR_LOCK; or the code of a file
/// error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_begin(schunk: *mut c_void) -> c_int {
    boundary!(ferroblosc_begin, unrecorded, {
        // SAFETY: the caller passes a super-chunk or NULL.
        unsafe { call(|table| table.begin, schunk) }
    })
}

/// Commits the innermost transaction. Committing the outermost one applies all changes and writes
/// them to disk.
///
/// - `schunk`: the super-chunk, a `blosc2_schunk`.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM without a transaction. After
/// other errors all changes are rolled back, and the super-chunk remains usable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_commit(schunk: *mut c_void) -> c_int {
    boundary!(ferroblosc_commit, unrecorded, {
        // SAFETY: the caller passes a super-chunk or NULL.
        unsafe { call(|table| table.commit, schunk) }
    })
}

/// Rolls the innermost transaction back: the super-chunk returns to its state before the
/// transaction.
///
/// For a super-chunk inside a file (`offset` > 0), an inner rollback rolls everything back, and the
/// outer transactions cannot be committed.
///
/// - `schunk`: the super-chunk, a `blosc2_schunk`.
///
/// Returns 0, or a negative error code: BLOSC2_ERROR_INVALID_PARAM without a transaction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_rollback(schunk: *mut c_void) -> c_int {
    boundary!(ferroblosc_rollback, unrecorded, {
        // SAFETY: the caller passes a super-chunk or NULL.
        unsafe { call(|table| table.rollback, schunk) }
    })
}

/// Begins a transaction of an array, with the rules of ferroblosc_begin().
///
/// - `array`: the array, a `b2nd_array_t`.
///
/// Returns 0, or a negative error code of ferroblosc_begin().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_begin_array(array: *mut c_void) -> c_int {
    boundary!(ferroblosc_begin_array, unrecorded, {
        // SAFETY: the caller passes an array or NULL.
        unsafe { call(|table| table.begin_array, array) }
    })
}

/// Commits the innermost transaction of an array, with the rules of ferroblosc_commit(). On
/// failure, the struct has its previous shape.
///
/// - `array`: the array, a `b2nd_array_t`.
///
/// Returns 0, or a negative error code of ferroblosc_commit().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_commit_array(array: *mut c_void) -> c_int {
    boundary!(ferroblosc_commit_array, unrecorded, {
        // SAFETY: the caller passes an array or NULL.
        unsafe { call(|table| table.commit_array, array) }
    })
}

/// Rolls the innermost transaction of an array back, with the rules of ferroblosc_rollback(), and
/// restores the shape in the struct.
///
/// - `array`: the array, a `b2nd_array_t`.
///
/// Returns 0, or a negative error code of ferroblosc_rollback().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_rollback_array(array: *mut c_void) -> c_int {
    boundary!(ferroblosc_rollback_array, unrecorded, {
        // SAFETY: the caller passes an array or NULL.
        unsafe { call(|table| table.rollback_array, array) }
    })
}
