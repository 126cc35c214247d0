//! Paths as C strings.

use std::ffi::CString;
use std::io::Result;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Converts a path.
///
/// # Errors
/// `InvalidInput` for a path with NUL.
pub(super) fn c_path(path: &Path) -> Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
