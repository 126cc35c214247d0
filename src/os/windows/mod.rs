//! Windows.

pub mod files;
pub(crate) mod futex;
#[cfg(feature = "mmap")]
pub(crate) mod mapping;
pub(crate) mod process;
pub(crate) mod thread;

/// Returns the path as UTF-16, terminated by NUL.
fn wide(path: &std::path::Path) -> std::io::Result<Vec<u16>> {
    use std::os::windows::ffi::OsStrExt;
    let mut wide: Vec<u16> = path.as_os_str().encode_wide().collect();
    if wide.contains(&0) {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    wide.push(0);
    Ok(wide)
}
