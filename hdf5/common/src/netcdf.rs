//! The netCDF-C functions called while a variable of a Zarr array is created.
//!
//! As with HDF5, a process may load several copies, and identifiers of files and variables are
//! valid only in the calling one.

use crate::library::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

/// A function that every libnetcdf exports.
const MARK: &CStr = c"nc_inq_vartype";

/// `nc_inq_vartype`.
type InquireVariable =
    unsafe extern "C" fn(file: c_int, variable: c_int, kind: *mut c_int) -> c_int;
/// `nc_inq_type`.
type InquireType =
    unsafe extern "C" fn(file: c_int, kind: c_int, name: *mut c_char, size: *mut usize) -> c_int;

/// Returns the item size of a variable in bytes, if the libnetcdf that contains the address
/// `caller` exports its functions and has the variable.
pub fn itemsize(file: c_int, variable: c_int, caller: *const c_void) -> Option<usize> {
    let library = Library::of_caller_with(caller, MARK)?;
    let (mut kind, mut size) = (0, 0);
    // SAFETY: the types are those of the functions, and the outputs have the types that they write.
    let status = unsafe {
        let of_variable: InquireVariable = library.function(MARK)?;
        let of_type: InquireType = library.function(c"nc_inq_type")?;
        match of_variable(file, variable, &raw mut kind) {
            0 => of_type(file, kind, null_mut(), &raw mut size),
            error => error,
        }
    };
    (status == 0 && size > 0).then_some(size)
}
