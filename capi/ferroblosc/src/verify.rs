//! Verification of super-chunks.

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

/// Reads a whole super-chunk and verifies it. Chunks with a checksum are compared with it, others
/// are decompressed.
///
/// - `urlpath`: the path of the file or directory.
/// - `offset`: the offset of the frame in the file, in bytes.
/// - `report`: receives the counts; may be NULL.
/// - `bad_chunks`: receives the indices of the first corrupt chunks; may be NULL if `room` is 0.
/// - `room`: the capacity of `bad_chunks` in items.
///
/// Returns the number of faults, or a negative error code if the super-chunk cannot be opened.
/// Faults are corrupt chunks, corrupt variable-length metalayers and a wrong fingerprint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_verify(
    urlpath: *const c_char,
    offset: i64,
    report: *mut ferroblosc_report,
    bad_chunks: *mut i64,
    room: i64,
) -> i64 {
    boundary!(ferroblosc_verify, {
        // SAFETY: the caller passes a path and a writable struct, or NULL.
        let path = unsafe {
            pointers::write_if_given(report, ferroblosc_report::default());
            path(urlpath)?
        };
        let offset = u64::try_from(offset).map_err(|_| Error::InvalidParam)?;
        let storage = if path.is_dir() { Storage::directory(path) } else { Storage::file(path) };
        let schunk = SChunk::open(storage.at(offset), DParams::default())?;
        // SAFETY: the caller passes writable outputs or NULL.
        unsafe { write_report(schunk, report, bad_chunks, room) }
    })
}

/// Reads a whole contiguous frame in memory and verifies it, with the rules of ferroblosc_verify().
///
/// - `cframe`: the frame.
/// - `size`: the size of the frame in bytes.
/// - `report`: receives the counts; may be NULL.
/// - `bad_chunks`: receives the indices of the first corrupt chunks; may be NULL if `room` is 0.
/// - `room`: the capacity of `bad_chunks` in items.
///
/// Returns the number of faults, or a negative error code if the frame cannot be opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferroblosc_verify_buffer(
    cframe: *const c_void,
    size: usize,
    report: *mut ferroblosc_report,
    bad_chunks: *mut i64,
    room: i64,
) -> i64 {
    boundary!(ferroblosc_verify_buffer, {
        // SAFETY: the caller passes `size` bytes and a writable struct, or NULL.
        let cframe = unsafe {
            pointers::write_if_given(report, ferroblosc_report::default());
            bytes(cframe, size)?
        };
        let schunk = SChunk::from_bytes(cframe, DParams::default())?;
        // SAFETY: the caller passes writable outputs or NULL.
        unsafe { write_report(schunk, report, bad_chunks, room) }
    })
}

/// Verifies a super-chunk and stores the results.
///
/// # Safety
/// `report` is NULL or writable; `bad_chunks` is NULL or writable for `room` items.
unsafe fn write_report(
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
    let bad = found.bad_chunks.iter().flat_map(|(numbers, _)| numbers.clone());
    for (index, nchunk) in bad.take(room).enumerate() {
        // SAFETY: not NULL, and the index is below `room`.
        unsafe { bad_chunks.add(index).write(nchunk) };
    }
    // SAFETY: the caller guarantees a writable struct or NULL.
    unsafe { pointers::write_if_given(report, to_c(&found)) };
    Ok(found.faults() as i64)
}

/// Converts a report to its C struct.
fn to_c(found: &Report) -> ferroblosc_report {
    ferroblosc_report {
        nchunks: found.nchunks,
        compared: found.compared,
        decompressed: found.decompressed,
        bad_chunks: found.count_bad_chunks(),
        bad_vlmetalayers: found.bad_vlmetalayers.len() as i64,
        fingerprint: match found.fingerprint {
            Fingerprint::None => FERROBLOSC_FINGERPRINT_NONE,
            Fingerprint::Intact => FERROBLOSC_FINGERPRINT_RIGHT,
            Fingerprint::Mismatch => FERROBLOSC_FINGERPRINT_WRONG,
        },
    }
}
