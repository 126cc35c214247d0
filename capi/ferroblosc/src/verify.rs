//! Checks of super-chunks.

use crate::arguments::{bytes, path};
use crate::constants::{
    FERROBLOSC_FINGERPRINT_NONE, FERROBLOSC_FINGERPRINT_RIGHT, FERROBLOSC_FINGERPRINT_WRONG,
};
use crate::report::ferroblosc_report;
use ferroblosc::chunk::DParams;
use ferroblosc::schunk::verify::{Fingerprint, Report};
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::pointers;
use std::ffi::{c_char, c_void};

/// Reads all of the super-chunk in a file, from a byte on, or in a directory, and tells what is
/// broken. Chunks that have a checksum are compared with it, the others are decompressed.
///
/// Gives the number of faults, 0 when all is well: broken chunks and variable-length metalayers,
/// and one more for a wrong fingerprint. A negative error code means that it can't be opened. A
/// `report` is filled in unless it is NULL. The numbers of the first broken chunks go to
/// `bad_chunks`, up to `room` of them; it may be NULL if `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_verify(
    urlpath: *const c_char,
    offset: i64,
    report: *mut ferroblosc_report,
    bad_chunks: *mut i64,
    room: i64,
) -> i64 {
    boundary!(ferroblosc_verify, {
        // SAFETY: the caller gives a path, or NULL.
        let path = unsafe { path(urlpath) }?;
        let offset = u64::try_from(offset).map_err(|_| Error::InvalidParam)?;
        let storage = match path.is_dir() {
            true => Storage::directory(path),
            false => Storage::file(path),
        };
        let schunk = SChunk::open(storage.at(offset), DParams::default())?;
        // SAFETY: the caller gives places to write to, or NULL.
        unsafe { tell(schunk, report, bad_chunks, room) }
    })
}

/// Reads all of the contiguous frame in a buffer and tells what is broken, as ferroblosc_verify()
/// does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_verify_buffer(
    cframe: *const c_void,
    size: usize,
    report: *mut ferroblosc_report,
    bad_chunks: *mut i64,
    room: i64,
) -> i64 {
    boundary!(ferroblosc_verify_buffer, {
        // SAFETY: the caller gives so many bytes, or NULL.
        let cframe = unsafe { bytes(cframe, size) }?;
        let schunk = SChunk::from_bytes(cframe, DParams::default())?;
        // SAFETY: the caller gives places to write to, or NULL.
        unsafe { tell(schunk, report, bad_chunks, room) }
    })
}

/// Verifies a super-chunk, and tells the caller.
///
/// # Safety
/// `report` is NULL or has room for one, `bad_chunks` is NULL or has `room`.
unsafe fn tell(
    mut schunk: SChunk,
    report: *mut ferroblosc_report,
    bad_chunks: *mut i64,
    room: i64,
) -> Result<i64> {
    let room = usize::try_from(room).map_err(|_| Error::InvalidParam)?;
    if bad_chunks.is_null() && room > 0 {
        return Err(Error::InvalidParam);
    }
    let found = schunk.verify()?;
    for (place, &(nchunk, _)) in found.bad_chunks.iter().take(room).enumerate() {
        // SAFETY: the caller promises `room` places, of which this is one.
        unsafe { bad_chunks.add(place).write(nchunk) };
    }
    // SAFETY: the caller promises a place, or NULL.
    unsafe { pointers::write_if_given(report, in_c(&found)) };
    Ok(found.faults() as i64)
}

fn in_c(found: &Report) -> ferroblosc_report {
    ferroblosc_report {
        nchunks: found.nchunks,
        compared: found.compared,
        decompressed: found.decompressed,
        bad_chunks: found.bad_chunks.len() as i64,
        bad_vlmetalayers: found.bad_vlmetalayers.len() as i64,
        fingerprint: match found.fingerprint {
            Fingerprint::None => FERROBLOSC_FINGERPRINT_NONE,
            Fingerprint::Right => FERROBLOSC_FINGERPRINT_RIGHT,
            Fingerprint::Wrong => FERROBLOSC_FINGERPRINT_WRONG,
        },
    }
}
