//! Directories of bcolz: what is wrong with them, mending, and other formats.

use crate::arguments::{note, path};
use crate::bcolz::{code, place, text};
use ferroblosc::bcolz::{self, Finding, Options};
use ferroblosc::bloscpack::Value;
use ferroblosc::blpk::Checksum;
use ferroblosc::convert::{self, Target};
use ferroblosc::{Error, Result};
use ferroblosc_capi_common::buffers;
use std::ffi::{c_char, c_int};

/// The number of faults that callers get.
fn count(found: &[Finding]) -> Result<c_int> {
    c_int::try_from(Finding::faults(found)).map_err(|_| Error::Data)
}

/// Gives a report to a caller who wants it.
///
/// # Safety
/// `report` is NULL or room for a pointer.
unsafe fn hand_over(value: &Value, report: *mut *mut c_char) -> Result<()> {
    if report.is_null() {
        return Ok(());
    }
    let json = buffers::c_string(&text(&value.to_spaced_json())?)?;
    // SAFETY: not NULL, and the caller promises room for a pointer.
    unsafe { report.write(json) };
    Ok(())
}

/// Looks at everything in the carray or ctable at `root`: all files, all chunks. Returns the number of faults, or an error
/// code when there is nothing to look at. What `report` points to, unless it is NULL, becomes the text of a JSON list for
/// the caller to free: objects with the "path", the "fault" in words, and whether it is only a "note", which is not
/// counted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_verify(root: *const c_char, report: *mut *mut c_char) -> c_int {
    boundary!(bcolz_verify, {
        // SAFETY: the caller gives a string.
        let root = unsafe { path(root) }?;
        let found = bcolz::verify(root, &Options::default()).map_err(code)?;
        let count = count(&found)?;
        // SAFETY: the caller gives room for a pointer, or NULL.
        unsafe { hand_over(&Finding::list(&found), report) }?;
        Ok(count)
    })
}

/// Mends what can be mended of the carray or ctable at `root`. No file is deleted: one that is replaced gets `.broken`
/// behind its name. Returns the number of faults that are left, or an error code. What `report` points to, unless it is
/// NULL, becomes the text of a JSON object for the caller to free: "mended" and "left" are lists as those of
/// bcolz_verify(), "lost" is one of objects with the "path" of an array and the rows from "start" to before "stop".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_repair(root: *const c_char, report: *mut *mut c_char) -> c_int {
    boundary!(bcolz_repair, {
        // SAFETY: the caller gives a string.
        let root = unsafe { path(root) }?;
        let repaired = bcolz::repair(root, &Options::default()).map_err(code)?;
        let count = count(&repaired.remaining)?;
        // SAFETY: the caller gives room for a pointer, or NULL.
        unsafe { hand_over(&repaired.to_value(), report) }?;
        Ok(count)
    })
}

fn converted(error: convert::Error) -> Error {
    note(&error, error.code())
}

/// Writes the carray at `root` into a `.npy` file. Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_to_npy(root: *const c_char, npy: *const c_char) -> c_int {
    boundary!(bcolz_to_npy, {
        // SAFETY: the caller gives two strings.
        let (root, npy) = unsafe { (path(root)?, path(npy)?) };
        convert::carray_to_npy(root, npy, &Options::default()).map_err(converted)?;
        Ok(0)
    })
}

/// Makes the carray of a `.npy` file at `root`. `mode` is "a" or "w". Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_from_npy(
    npy: *const c_char,
    root: *const c_char,
    mode: *const c_char,
) -> c_int {
    boundary!(bcolz_from_npy, {
        // SAFETY: the caller gives three strings.
        let (npy, (root, mode)) = unsafe { (path(npy)?, place(root, mode)?) };
        let (target, options) = (Target::default(), Options::default());
        convert::npy_to_carray(npy, root, &target, mode, &options).map_err(converted)?;
        Ok(0)
    })
}

/// Writes the carray at `root` into a Bloscpack container with Adler-32 checksums; its chunks are copied. Returns 0, or
/// an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_to_bloscpack(root: *const c_char, blp: *const c_char) -> c_int {
    boundary!(bcolz_to_bloscpack, {
        // SAFETY: the caller gives two strings.
        let (root, blp) = unsafe { (path(root)?, path(blp)?) };
        let options = Options::default();
        convert::carray_to_bloscpack(root, blp, Checksum::Adler32, &options).map_err(converted)?;
        Ok(0)
    })
}

/// Makes the carray of the array in a Bloscpack container at `root`; chunks of whole rows are copied. `mode` is "a" or
/// "w". Returns 0, or an error code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_from_bloscpack(
    blp: *const c_char,
    root: *const c_char,
    mode: *const c_char,
) -> c_int {
    boundary!(bcolz_from_bloscpack, {
        // SAFETY: the caller gives three strings.
        let (blp, (root, mode)) = unsafe { (path(blp)?, place(root, mode)?) };
        let (target, options) = (Target::default(), Options::default());
        convert::bloscpack_to_carray(blp, root, &target, mode, &options).map_err(converted)?;
        Ok(0)
    })
}

/// Writes the carray at `root` into the frame of an array of Blosc2, or each column of the ctable there into a frame
/// NAME.b2nd in the folder `output`, which is made. Attributes become variable-length metalayers. Returns 0, or an error
/// code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_to_b2nd(root: *const c_char, output: *const c_char) -> c_int {
    boundary!(bcolz_to_b2nd, {
        // SAFETY: the caller gives two strings.
        let (root, output) = unsafe { (path(root)?, path(output)?) };
        let options = Options::default();
        convert::bcolz_to_b2nd(root, output, &options).map_err(converted)?;
        Ok(0)
    })
}

/// Makes the carray of the frame of an array of Blosc2 at `root`, or the ctable of a folder of such frames. Metalayers in
/// MessagePack become attributes where JSON can say what is in them; returns the number of the others, or an error code.
/// `mode` is "a" or "w".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bcolz_from_b2nd(
    input: *const c_char,
    root: *const c_char,
    mode: *const c_char,
) -> c_int {
    boundary!(bcolz_from_b2nd, {
        // SAFETY: the caller gives three strings.
        let (input, (root, mode)) = unsafe { (path(input)?, place(root, mode)?) };
        let (target, options) = (Target::default(), Options::default());
        let left =
            convert::b2nd_to_bcolz(input, root, &target, mode, &options).map_err(converted)?;
        c_int::try_from(left).map_err(|_| Error::Data)
    })
}
