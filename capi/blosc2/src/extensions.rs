//! Functions of this library for `libferroblosc`. They are not exported as symbols, since this
//! library exports only the functions of C-Blosc2.
//!
//! blosc2_get_io_cb(FERROBLOSC_IO_DURABLE) returns the table, whose first field is a backend. In
//! C-Blosc2 that call returns NULL.

use crate::b2nd::{open, save};
use crate::bridge::array::CArray;
use crate::bridge::backends::FILESYSTEM;
use crate::bridge::schunk::{CSchunk, Purpose};
use crate::defaults;
use crate::schunk::{self, frames};
use crate::types::b2nd::b2nd_array_t;
use crate::types::io::{blosc2_io, blosc2_io_cb};
use crate::types::schunk::blosc2_schunk;
use ferroblosc::frame::Frame;
use ferroblosc::io::ids;
use ferroblosc::schunk::{State, transaction};
use ferroblosc::{Error, b2nd};
use ferroblosc_capi_common::boundary;
use ferroblosc_capi_common::{last_error as last, pointers};
use std::ffi::{c_char, c_int};

/// Identifies a table: "FERROBLO" as a little-endian integer.
pub const MAGIC: u64 = u64::from_le_bytes(*b"FERROBLO");

/// A function of a super-chunk.
type OfSchunk = unsafe extern "C" fn(*mut blosc2_schunk) -> c_int;
/// A function of an array.
type OfArray = unsafe extern "C" fn(*mut b2nd_array_t) -> c_int;

/// The table. New fields are only added at its end; `size`, in bytes, determines which fields
/// exist.
#[repr(C)]
pub struct Extensions {
    io: blosc2_io_cb,
    magic: u64,
    size: usize,
    begin: OfSchunk,
    commit: OfSchunk,
    rollback: OfSchunk,
    begin_array: OfArray,
    commit_array: OfArray,
    rollback_array: OfArray,
    /// Returns the text of the last error of this thread, or NULL.
    last_error: extern "C" fn() -> *const c_char,
    /// Returns the `errno` of the last error of this thread, or 0.
    last_errno: extern "C" fn() -> c_int,
    /// Sets the last error: a text, or NULL for success, and an `errno`.
    set_last_error: unsafe extern "C" fn(*const c_char, c_int),
    /// Opens the super-chunk in a file or directory at an offset, for reading only.
    open_read_only: unsafe extern "C" fn(*const c_char, i64, *mut *mut blosc2_schunk) -> c_int,
    /// Opens the super-chunk in a frame in memory, a block of `malloc`. The super-chunk owns the
    /// block if the call succeeds.
    adopt_frame: unsafe extern "C" fn(*mut u8, i64, *mut *mut blosc2_schunk) -> c_int,
    /// Creates the array of a super-chunk. The array owns the super-chunk if the call succeeds.
    array_of: unsafe extern "C" fn(*mut blosc2_schunk, *mut *mut b2nd_array_t) -> c_int,
    /// Frees a super-chunk.
    free_schunk: OfSchunk,
    /// Returns the frame of a super-chunk and whether the caller frees it.
    frame_of: unsafe extern "C" fn(*mut blosc2_schunk, *mut *mut u8, *mut bool) -> i64,
    /// Returns the frame of an array, its size, and whether the caller frees it.
    frame_of_array:
        unsafe extern "C" fn(*const b2nd_array_t, *mut *mut u8, *mut i64, *mut bool) -> c_int,
}

// SAFETY: the table is never written, and the name of its backend is static.
unsafe impl Sync for Extensions {}

static EXTENSIONS: Extensions = Extensions {
    io: blosc2_io_cb {
        id: ids::DURABLE,
        name: c"filesystem_durable".as_ptr().cast_mut(),
        ..FILESYSTEM
    },
    magic: MAGIC,
    size: size_of::<Extensions>(),
    begin,
    commit,
    rollback,
    begin_array,
    commit_array,
    rollback_array,
    last_error,
    last_errno,
    set_last_error,
    open_read_only,
    adopt_frame,
    array_of: open::b2nd_from_schunk,
    free_schunk: schunk::blosc2_schunk_free,
    frame_of: frames::blosc2_schunk_to_buffer,
    frame_of_array: save::b2nd_to_cframe,
};

/// Returns the table as a pointer to its first field, the backend.
pub(crate) fn table() -> *mut blosc2_io_cb {
    (&raw const EXTENSIONS).cast_mut().cast()
}

unsafe extern "C" fn begin(schunk: *mut blosc2_schunk) -> c_int {
    boundary!(ferroblosc_begin, {
        // SAFETY: the caller passes a super-chunk or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        transaction::begin(&mut *schunk).map(|()| 0)
    })
}

unsafe extern "C" fn commit(schunk: *mut blosc2_schunk) -> c_int {
    boundary!(ferroblosc_commit, {
        // SAFETY: the caller passes a super-chunk or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        transaction::commit(&mut *schunk).map(|()| 0)
    })
}

unsafe extern "C" fn rollback(schunk: *mut blosc2_schunk) -> c_int {
    boundary!(ferroblosc_rollback, {
        // SAFETY: the caller passes a super-chunk or NULL.
        let mut schunk = unsafe { CSchunk::enter(schunk, Purpose::Change) }?;
        transaction::rollback(&mut *schunk).map(|()| 0)
    })
}

unsafe extern "C" fn begin_array(array: *mut b2nd_array_t) -> c_int {
    boundary!(ferroblosc_begin_array, {
        // SAFETY: the caller passes an array or NULL.
        let mut array = unsafe { CArray::enter(array, Purpose::Change) }?;
        b2nd::transaction::begin(&mut *array).map(|()| 0)
    })
}

unsafe extern "C" fn commit_array(array: *mut b2nd_array_t) -> c_int {
    boundary!(ferroblosc_commit_array, {
        // SAFETY: the caller passes an array or NULL.
        let mut array = unsafe { CArray::enter(array, Purpose::Change) }?;
        b2nd::transaction::commit(&mut *array).map(|()| 0)
    })
}

unsafe extern "C" fn rollback_array(array: *mut b2nd_array_t) -> c_int {
    boundary!(ferroblosc_rollback_array, {
        // SAFETY: the caller passes an array or NULL.
        let mut array = unsafe { CArray::enter(array, Purpose::Change) }?;
        b2nd::transaction::rollback(&mut *array).map(|()| 0)
    })
}

unsafe extern "C" fn open_read_only(
    path: *const c_char,
    offset: i64,
    result: *mut *mut blosc2_schunk,
) -> c_int {
    boundary!(ferroblosc_open_read_only, {
        if result.is_null() {
            return Err(Error::InvalidParam);
        }
        let io = blosc2_io { id: ids::READ_ONLY, ..defaults::IO };
        // SAFETY: the caller passes a path or NULL; the output is not NULL.
        unsafe { result.write(schunk::open(path, offset, &raw const io)?) };
        Ok(0)
    })
}

unsafe extern "C" fn adopt_frame(
    frame: *mut u8,
    len: i64,
    result: *mut *mut blosc2_schunk,
) -> c_int {
    boundary!(ferroblosc_adopt_frame, {
        if result.is_null() {
            return Err(Error::InvalidParam);
        }
        // SAFETY: the caller passes a block of `malloc` with `len` bytes, which it does not free
        // after success; the output is not NULL.
        unsafe {
            let opened = frames::from_buffer(frame, len, false)?;
            let adopted = CSchunk::new(opened).and_then(|mut target| {
                match target.frame_mut().map(Frame::memory).transpose()?.flatten() {
                    Some(memory) => {
                        memory.set_keep(false);
                        Ok(())
                    }
                    None => Err(Error::InvalidHeader),
                }
            });
            if let Err(error) = adopted {
                // The caller still owns the block.
                let _ = schunk::free(opened);
                return Err(error);
            }
            result.write(opened);
        }
        Ok(0)
    })
}

extern "C" fn last_error() -> *const c_char {
    boundary!(ferroblosc_last_error, unrecorded, { Ok(last::text()) })
}

extern "C" fn last_errno() -> c_int {
    boundary!(ferroblosc_last_errno, unrecorded, { Ok(last::errno()) })
}

unsafe extern "C" fn set_last_error(text: *const c_char, errno: c_int) {
    boundary!(ferroblosc_set_last_error, unrecorded, {
        // SAFETY: the caller passes a NUL-terminated text or NULL.
        match unsafe { pointers::c_str(text) } {
            None => last::clear(),
            Some(text) => last::record_text(text, errno),
        }
        Ok(())
    });
}
