//! Transactions of super-chunks and arrays.

use crate::extensions::{Extensions, Function, extensions};
use crate::last_error::forward;
use ferroblosc::Error;
use ferroblosc_capi_common::last_error;
use std::ffi::{c_int, c_void};

/// Calls a function of libblosc2, whose code and error become those of the call.
///
/// # Safety
/// The pointer is what the function takes, or NULL.
unsafe fn call(
    pick: impl FnOnce(&Extensions) -> Function,
    pointer: *mut c_void,
) -> Result<c_int, Error> {
    let table = extensions().inspect_err(|error| {
        last_error::record(error.clone());
        forward();
    })?;
    last_error::clear();
    // SAFETY: promised by the caller.
    Ok(unsafe { pick(table)(pointer) })
}

/// Begins a transaction of a `blosc2_schunk`, or one within its open transaction. All changes until
/// ferroblosc_commit() become one: other handles, and whoever opens the super-chunk after a crash,
/// find all of them or none. With locks, others wait until the end of the transaction.
///
/// Super-chunks in durable files and directories have transactions (FERROBLOSC_IO_DURABLE,
/// FERROBLOSC_DURABLE); appending many chunks in one is much faster than one by one. Freeing the
/// super-chunk rolls an open transaction back. A transaction belongs to the process that began it: in
/// a forked child, calls with this super-chunk fail until ferroblosc_rollback().
///
/// Gives 0; BLOSC2_ERROR_INVALID_PARAM for super-chunks that have no transactions, and when the
/// super-chunk is not one of Ferroblosc's libblosc2; BLOSC2_ERROR_LOCK and the errors of files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_begin(schunk: *mut c_void) -> c_int {
    boundary!(ferroblosc_begin, unrecorded, {
        // SAFETY: the caller gives a super-chunk, or NULL.
        unsafe { call(|table| table.begin, schunk) }
    })
}

/// Commits the last transaction that was begun; with the first one, all changes become part of the
/// super-chunk, and have reached the disk.
///
/// Gives 0; BLOSC2_ERROR_INVALID_PARAM without a transaction; other errors when the commit failed: all
/// changes are rolled back then, and the super-chunk can be used on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_commit(schunk: *mut c_void) -> c_int {
    boundary!(ferroblosc_commit, unrecorded, {
        // SAFETY: the caller gives a super-chunk, or NULL.
        unsafe { call(|table| table.commit, schunk) }
    })
}

/// Rolls the last transaction that was begun back: the super-chunk is as it was then. Of a super-chunk
/// within a file (`offset` > 0), an inner rollback rolls everything back, and the outer transactions
/// can't be committed any more.
///
/// Gives 0; BLOSC2_ERROR_INVALID_PARAM without a transaction.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_rollback(schunk: *mut c_void) -> c_int {
    boundary!(ferroblosc_rollback, unrecorded, {
        // SAFETY: the caller gives a super-chunk, or NULL.
        unsafe { call(|table| table.rollback, schunk) }
    })
}

/// Begins a transaction of a `b2nd_array_t`, as ferroblosc_begin() does of its super-chunk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_begin_array(array: *mut c_void) -> c_int {
    boundary!(ferroblosc_begin_array, unrecorded, {
        // SAFETY: the caller gives an array, or NULL.
        unsafe { call(|table| table.begin_array, array) }
    })
}

/// Commits the last transaction that was begun, as ferroblosc_commit() does. If that fails, the struct
/// has the old shape again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_commit_array(array: *mut c_void) -> c_int {
    boundary!(ferroblosc_commit_array, unrecorded, {
        // SAFETY: the caller gives an array, or NULL.
        unsafe { call(|table| table.commit_array, array) }
    })
}

/// Rolls the last transaction that was begun back, as ferroblosc_rollback() does, and restores the shape
/// in the struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_rollback_array(array: *mut c_void) -> c_int {
    boundary!(ferroblosc_rollback_array, unrecorded, {
        // SAFETY: the caller gives an array, or NULL.
        unsafe { call(|table| table.rollback_array, array) }
    })
}
