//! The state of files, to detect changes by other programs.

use crate::error::Failure;
use ferroblosc::Error;
use ferroblosc::io::named::named;
use ferroblosc_formats::convert::{Detected, Format};
use ferroblosc_tools_common::identity::Identity;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The index of a frame that is a directory.
pub const INDEX: &str = "chunks.b2frame";

/// Whether a file is a frame or an array.
pub fn is_frame(found: &Detected) -> bool {
    matches!(found.format, Format::Frame | Format::B2nd)
}

/// The state of a file, or of the files of a directory.
#[derive(PartialEq)]
pub struct FileState(Vec<(PathBuf, Identity)>);

impl FileState {
    /// Returns the state of files. Those that other programs have removed are left out.
    fn of(mut paths: Vec<PathBuf>) -> std::io::Result<FileState> {
        paths.sort();
        let mut files = Vec::new();
        for path in paths {
            match Identity::of_target(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                file => files.push((path, file?)),
            }
        }
        Ok(FileState(files))
    }

    /// Whether no file was changed in the last `duration`.
    pub fn is_older_than(&self, duration: Duration) -> bool {
        self.0.iter().all(|(_, file)| file.is_older_than(duration))
    }
}

/// Returns the state of a file or of the files of a directory, to detect changes by other programs.
pub fn state_of(path: &Path, found: &Detected) -> Result<FileState, Failure> {
    if !found.is_directory || !is_frame(found) {
        return state_of_all(path);
    }
    // Other files, such as that of a lock, are not data.
    let is_data = |name: &OsStr| name.as_encoded_bytes().ends_with(b".chunk") || name == INDEX;
    let state = files_in(path).and_then(|mut files| {
        files.retain(|path| path.file_name().is_some_and(is_data));
        FileState::of(files)
    });
    Ok(state.map_err(|error| named(error, Error::FileRead, "read", path))?)
}

/// Returns the state of a file, or of all files in a directory tree.
pub fn state_of_all(path: &Path) -> Result<FileState, Failure> {
    let read = || -> std::io::Result<_> {
        let path = fs::canonicalize(path)?;
        if !fs::metadata(&path)?.is_dir() {
            return FileState::of(vec![path]);
        }
        let mut files = Vec::new();
        let mut pending = vec![path];
        while let Some(path) = pending.pop() {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => pending.extend(files_in(&path)?),
                _ => files.push(path),
            }
        }
        FileState::of(files)
    };
    Ok(read().map_err(|error| named(error, Error::FileRead, "read", path))?)
}

fn files_in(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    match fs::read_dir(path) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        // Another program has removed it.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
