//! bcolz directories: verification, repair and conversion.

use crate::arguments::{clear, note, path};
use crate::bcolz::{code, path_and_mode, text};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::buffers;
use ferroblosc_formats::bcolz::{self, Finding, Options};
use ferroblosc_formats::bloscpack::Value;
use ferroblosc_formats::blpk::Checksum;
use ferroblosc_formats::convert::{self, Target};
use std::ffi::{c_char, c_int};

/// Returns the number of faults in the return type of the C functions.
fn count(found: &[Finding]) -> Result<c_int> {
    c_int::try_from(Finding::faults(found)).map_err(|_| Error::Data)
}

/// Stores a report as JSON for the caller to free. Does nothing if `report` is NULL.
///
/// # Safety
/// `report` is NULL or writable for a pointer.
unsafe fn write_output(value: &Value, report: *mut *mut c_char) -> Result<()> {
    if report.is_null() {
        return Ok(());
    }
    let json = buffers::c_string(&text(&value.to_spaced_json())?)?;
    // SAFETY: not NULL, and the caller guarantees that a pointer can be written.
    unsafe { report.write(json) };
    Ok(())
}

/// Verifies all files and chunks of a carray or ctable.
///
/// - `root`: the directory.
/// - `report`: receives a JSON list, which the caller releases with free(), or NULL. Its items are
///   objects with the "path", the "fault" as text, and "note", which is true if the item does not
///   count as a fault.
///
/// Returns the number of faults, or a negative error code if there is no carray or ctable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_verify(root: *const c_char, report: *mut *mut c_char) -> c_int {
    boundary!(bcolz_verify, noted, {
        // SAFETY: the caller passes a string and a writable pointer, or NULL.
        let root = unsafe {
            clear(report);
            path(root)?
        };
        let found = bcolz::verify(root, &Options::default()).map_err(code)?;
        let count = count(&found)?;
        // SAFETY: the caller passes a writable pointer or NULL.
        unsafe { write_output(&Finding::list(&found), report) }?;
        Ok(count)
    })
}

/// Repairs a carray or ctable as far as possible. No file is deleted: `.broken` is appended to the
/// names of replaced files.
///
/// - `root`: the directory.
/// - `report`: receives a JSON object, which the caller releases with free(), or NULL. Its members
///   "mended" (repaired faults) and "left" (remaining faults) are lists like that of
///   bcolz_verify(); "lost" is a list of objects with the "path" of an array and the range of lost
///   rows from "start" to before "stop".
///
/// Returns the number of remaining faults, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_repair(root: *const c_char, report: *mut *mut c_char) -> c_int {
    boundary!(bcolz_repair, noted, {
        // SAFETY: the caller passes a string and a writable pointer, or NULL.
        let root = unsafe {
            clear(report);
            path(root)?
        };
        let repaired = bcolz::repair(root, &Options::default()).map_err(code)?;
        let count = count(&repaired.remaining)?;
        // SAFETY: the caller passes a writable pointer or NULL.
        unsafe { write_output(&repaired.to_value(), report) }?;
        Ok(count)
    })
}

/// Records the text of an error of a conversion and returns its code.
fn converted(error: convert::Error) -> Error {
    note(&error, error.code())
}

/// Writes a carray into a `.npy` file.
///
/// - `root`: the directory of the carray.
/// - `npy`: the path of the file.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_to_npy(root: *const c_char, npy: *const c_char) -> c_int {
    boundary!(bcolz_to_npy, noted, {
        // SAFETY: the caller passes two strings or NULL.
        let (root, npy) = unsafe { (path(root)?, path(npy)?) };
        convert::carray_to_npy(root, npy, &Options::default()).map_err(converted)?;
        Ok(0)
    })
}

/// Creates a carray from a `.npy` file.
///
/// - `npy`: the path of the file.
/// - `root`: the directory to create; its parent must exist.
/// - `mode`: "a" to fail if it exists, or "w" to replace an existing carray or ctable.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_from_npy(
    npy: *const c_char,
    root: *const c_char,
    mode: *const c_char,
) -> c_int {
    boundary!(bcolz_from_npy, noted, {
        // SAFETY: the caller passes three strings or NULL.
        let (npy, (root, mode)) = unsafe { (path(npy)?, path_and_mode(root, mode)?) };
        let (target, options) = (Target::default(), Options::default());
        convert::npy_to_carray(npy, root, &target, mode, &options).map_err(converted)?;
        Ok(0)
    })
}

/// Writes a carray into a Bloscpack container with Adler-32 checksums. Its chunks are copied
/// without recompression.
///
/// - `root`: the directory of the carray.
/// - `blp`: the path of the container.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_to_bloscpack(root: *const c_char, blp: *const c_char) -> c_int {
    boundary!(bcolz_to_bloscpack, noted, {
        // SAFETY: the caller passes two strings or NULL.
        let (root, blp) = unsafe { (path(root)?, path(blp)?) };
        let options = Options::default();
        convert::carray_to_bloscpack(root, blp, Checksum::Adler32, &options).map_err(converted)?;
        Ok(0)
    })
}

/// Creates a carray from the array in a Bloscpack container. Chunks of whole rows are copied
/// without recompression.
///
/// - `blp`: the path of the container.
/// - `root`: the directory to create; its parent must exist.
/// - `mode`: "a" to fail if it exists, or "w" to replace an existing carray or ctable.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_from_bloscpack(
    blp: *const c_char,
    root: *const c_char,
    mode: *const c_char,
) -> c_int {
    boundary!(bcolz_from_bloscpack, noted, {
        // SAFETY: the caller passes three strings or NULL.
        let (blp, (root, mode)) = unsafe { (path(blp)?, path_and_mode(root, mode)?) };
        let (target, options) = (Target::default(), Options::default());
        convert::bloscpack_to_carray(blp, root, &target, mode, &options).map_err(converted)?;
        Ok(0)
    })
}

/// Writes a carray into a frame with a b2nd array, or each column of a ctable into a frame
/// NAME.b2nd of a directory. Attributes become variable-length metalayers.
///
/// - `root`: the directory of the carray or ctable.
/// - `output`: the path of the frame, or of the directory to create.
///
/// Returns 0, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_to_b2nd(root: *const c_char, output: *const c_char) -> c_int {
    boundary!(bcolz_to_b2nd, noted, {
        // SAFETY: the caller passes two strings or NULL.
        let (root, output) = unsafe { (path(root)?, path(output)?) };
        let options = Options::default();
        convert::bcolz_to_b2nd(root, output, &options).map_err(converted)?;
        Ok(0)
    })
}

/// Creates a carray from a frame with a b2nd array, or a ctable from a directory of such frames.
/// MessagePack metalayers become attributes if JSON can represent them.
///
/// - `input`: the path of the frame or directory.
/// - `root`: the directory to create; its parent must exist.
/// - `mode`: "a" to fail if it exists, or "w" to replace an existing carray or ctable.
///
/// Returns the number of metalayers that were not converted, or a negative error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_from_b2nd(
    input: *const c_char,
    root: *const c_char,
    mode: *const c_char,
) -> c_int {
    boundary!(bcolz_from_b2nd, noted, {
        // SAFETY: the caller passes three strings or NULL.
        let (input, (root, mode)) = unsafe { (path(input)?, path_and_mode(root, mode)?) };
        let (target, options) = (Target::default(), Options::default());
        let left =
            convert::b2nd_to_bcolz(input, root, &target, mode, &options).map_err(converted)?;
        c_int::try_from(left).map_err(|_| Error::Data)
    })
}
