//! The process: its id, forks, the environment, the clock.

use super::system::environment;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Whether the name of an environment variable begins with `prefix`. One scan costs a tenth of
/// querying a variable.
pub(crate) fn has_variables(prefix: &[u8]) -> bool {
    // SAFETY: the list is terminated by null and each string by NUL, at which the comparison stops.
    // As with `getenv`, the environment must not be modified concurrently.
    unsafe {
        let mut entry = environment();
        while !entry.is_null() && !(*entry).is_null() {
            let text = (*entry).cast::<u8>();
            if (0..prefix.len()).all(|at| *text.add(at) == prefix[at]) {
                return true;
            }
            entry = entry.add(1);
        }
    }
    false
}

/// Returns the id of this process.
pub(crate) fn id() -> u32 {
    std::process::id()
}

/// Returns the id of the user of this process.
pub(crate) fn user() -> u32 {
    // SAFETY: the call has no preconditions.
    unsafe { libc::geteuid() }
}

/// Returns the number of files that the process may have open.
pub(crate) fn max_open_files() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call only writes to the struct it is passed.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } {
        0 => limit.rlim_cur as _,
        _ => 0,
    }
}

/// Whether the process ignores a signal, as programs that `nohup` starts ignore SIGHUP.
#[cfg(feature = "internals")]
pub fn is_ignored(signal: libc::c_int) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, the call only writes to the struct it is passed, which is valid
    // if it consists of zeros.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Registers a function that a forked child calls before `fork` returns; returns whether that
/// succeeded.
///
/// # Safety
/// The function stays loaded until the process ends, and may be called in a forked child, where
/// only the calling thread exists.
pub(crate) unsafe fn call_in_child(handler: unsafe extern "C" fn()) -> bool {
    // SAFETY: the caller's contract.
    (unsafe { libc::pthread_atfork(None, None, Some(handler)) }) == 0
}

/// Returns the time, if there is a clock.
pub(crate) fn now() -> Option<Instant> {
    Some(Instant::now())
}

/// Waits for a duration.
pub(crate) fn sleep(duration: Duration) {
    std::thread::sleep(duration);
}

/// Returns the directory of temporary files: that of the variable TMPDIR, or the default of the
/// system if the variable is unset or empty.
pub(crate) fn temporary_directory() -> PathBuf {
    if std::env::var_os("TMPDIR").is_some_and(|path| path.is_empty()) {
        // The standard library would return an empty path, which is the current directory.
        return "/tmp".into();
    }
    std::env::temp_dir()
}
