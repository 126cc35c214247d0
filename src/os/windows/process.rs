//! The process: its id, the clock, the environment. Windows has no forks.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use windows_sys::Win32::System::Environment::{FreeEnvironmentStringsW, GetEnvironmentStringsW};

/// Whether the name of an environment variable begins with `prefix`, in any case.
pub(crate) fn has_variables(prefix: &[u8]) -> bool {
    // SAFETY: the call has no preconditions.
    let block = unsafe { GetEnvironmentStringsW() };
    if block.is_null() {
        // The variables may be there; the caller queries each of them.
        return true;
    }
    // SAFETY: the block contains strings that are terminated by NUL, and ends with an empty string.
    // A comparison stops at the first difference, so at the latest at a NUL. The block is owned by
    // this function and freed once.
    unsafe {
        let mut entry = block.cast_const();
        let mut found = false;
        while !found && *entry != 0 {
            found = (0..prefix.len()).all(|at| {
                let unit = *entry.add(at);
                u8::try_from(unit).is_ok_and(|byte| byte.eq_ignore_ascii_case(&prefix[at]))
            });
            while *entry != 0 {
                entry = entry.add(1);
            }
            entry = entry.add(1);
        }
        FreeEnvironmentStringsW(block);
        found
    }
}

/// Returns the id of this process.
pub(crate) fn id() -> u32 {
    std::process::id()
}

/// Returns 0, which is also the owner of all files: access control lists replace owners.
pub(crate) fn user() -> u32 {
    0
}

/// Returns the number of handles that a process may have.
pub(crate) fn max_open_files() -> u64 {
    1 << 24
}

/// Returns `true`: there are no forks.
///
/// # Safety
/// None; the function of other systems has requirements.
pub(crate) unsafe fn call_in_child(_handler: unsafe extern "C" fn()) -> bool {
    true
}

/// Returns the time.
pub(crate) fn now() -> Option<Instant> {
    Some(Instant::now())
}

/// Waits for a duration.
pub(crate) fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// Returns the directory of temporary files.
pub(crate) fn temporary_directory() -> PathBuf {
    std::env::temp_dir()
}
