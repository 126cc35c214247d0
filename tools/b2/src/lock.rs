//! Locks of frames, on the file itself or on the index of a directory.

use crate::error::{self, Failure};
use crate::state::{INDEX, is_frame};
use ferroblosc::Error;
use ferroblosc::io::named::named;
use ferroblosc::os::files;
use ferroblosc_formats::convert;
use ferroblosc_tools_common::os;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Opens a frame for writing and locks it. `path` is `name` without links.
pub fn lock(name: &Path, path: &Path) -> Result<File, Failure> {
    let options = File::options().read(true).write(true).clone();
    let failed = |operation, error| Failure::from(named(error, Error::FileOpen, operation, name));
    loop {
        let (opened, locked) =
            lock_once(name, path, &options).map_err(|error| failed("open", error))?;
        match locked {
            // File systems without locks have only one writer at a time.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(failed("lock", error)),
            Ok(_) => {}
        }
        if is_current(&opened, path) {
            return Ok(opened);
        }
    }
}

/// Opens a frame for reading and locks it, if that is possible. Returns whether another program had
/// locked it.
pub fn lock_to_read(name: &Path) -> Result<(Option<File>, bool), Failure> {
    let failed = |error| named(error, Error::FileOpen, "open", name);
    let path = fs::canonicalize(name).map_err(failed)?;
    let mut has_waited = false;
    loop {
        match lock_once(name, &path, File::options().read(true)).map_err(failed)? {
            (opened, Ok(waited)) => {
                has_waited |= waited;
                if is_current(&opened, &path) {
                    return Ok((Some(opened), has_waited));
                }
                has_waited = true;
            }
            // Some file systems lock only files that are open for writing, others have no locks.
            (_, Err(_)) => return Ok((None, has_waited)),
        }
    }
}

/// Opens the file of a frame that its writers lock, and locks it. Returns whether another program
/// had locked it.
fn lock_once(
    name: &Path,
    path: &Path,
    options: &OpenOptions,
) -> std::io::Result<(File, std::io::Result<bool>)> {
    let opened = options.open(locked_file(path))?;
    let locked = os::try_lock(&opened).and_then(|is_locked| {
        if !is_locked {
            let shown = name.display();
            error::warn(&format!("{shown}: waiting for another program that changes it"));
            os::lock(&opened)?;
        }
        Ok(!is_locked)
    });
    Ok((opened, locked))
}

/// Returns the file that the writers of a frame lock: the frame, or the index of a directory.
pub fn locked_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(INDEX) } else { path.to_owned() }
}

/// Whether a locked file is still that of the frame. Another program may have replaced it.
fn is_current(opened: &File, path: &Path) -> bool {
    match (files::identity_of(opened), files::identity_at(&locked_file(path))) {
        (Ok(opened), Ok(now)) => opened == now,
        _ => false,
    }
}

/// Locks a frame against changes by another `b2`, if the path is a frame and can be locked.
pub fn lock_of_frame(path: &Path) -> Option<File> {
    let is_frame = convert::detect(path).is_ok_and(|found| is_frame(&found));
    if is_frame { lock_to_read(path).ok()?.0 } else { None }
}
