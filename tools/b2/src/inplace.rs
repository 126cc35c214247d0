//! Changes of frames and arrays in place.
//!
//! Changes are durable (`docs/durability.md`): after an error or a crash the file has its old or
//! its new content. While a program changes a frame it holds a lock (`flock`) on the file, or on
//! the index of a directory, so that two programs change it one after the other. If the frame has a
//! lock file of Blosc2 (`.b2lock`), it is used too.

use crate::error::{Failure, Outcome};
use crate::io::STDIO;
use crate::lock::lock;
use crate::members;
use crate::plural::with_article;
use crate::state::{INDEX, is_frame};
use crate::store;
use ferroblosc::Error;
use ferroblosc::b2nd::Array;
use ferroblosc::chunk::DParams;
use ferroblosc::io::named::named;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::convert::{self, Detected};
use ferroblosc_tools_common::staging;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The suffix of the lock file of a file, and the name of that of a directory.
const LOCK: &str = ".b2lock";

/// Fails for a store and an object in a store.
fn refuse_store(path: &Path) -> Outcome {
    match store::target(path) {
        None => Ok(()),
        Some(target) if target.is_whole_store() => Err(members::is_a_store(&target).at(path)),
        Some(_) => Err(Failure::new("an object in a store is not changed in place")
            .with_hint("'b2 get' copies it to a file, and 'b2 put' stores a file")
            .at(path)),
    }
}

/// Detects the format of a file to change.
pub fn detect_for_change(path: &Path) -> Result<Detected, Failure> {
    if path == Path::new(STDIO) {
        return Err(Failure::usage("cannot change standard input"));
    }
    refuse_store(path)?;
    let found = convert::detect(path).map_err(|error| Failure::from(error).at(path))?;
    if found.is_legacy {
        return Err(Failure::new("a frame in an older layout cannot be changed")
            .with_hint("'b2 convert' rewrites it")
            .at(path));
    }
    Ok(found)
}

/// Detects the format of a frame or array. Other formats and frames without data are errors.
pub fn detect_frame(path: &Path) -> Result<Detected, Failure> {
    refuse_store(path)?;
    let found = convert::detect(path).map_err(|error| Failure::from(error).at(path))?;
    refuse_others(path, &found)?;
    let summary =
        convert::summarise(path, &found).map_err(|error| Failure::from(error).at(path))?;
    match summary.placeholder {
        Some(text) => Err(Failure::from(convert::Error::Placeholder(text)).at(path)),
        None => Ok(found),
    }
}

/// Fails for formats other than frames and arrays.
fn refuse_others(path: &Path, found: &Detected) -> Outcome {
    if is_frame(found) {
        return Ok(());
    }
    let title = with_article(found.format.title());
    Err(Failure::new(format!("{title} is neither a frame nor an array"))
        .with_hint("'b2 convert' writes frames and b2nd arrays")
        .at(path))
}

/// Returns the names of the other files in the directory of a frame. They are kept when the frame
/// is replaced. Directories cannot be kept, and are an error.
pub fn other_files(path: &Path, found: &Detected) -> Result<Vec<OsString>, Failure> {
    let failed = |error| named(error, Error::FileRead, "read", path);
    let mut files = Vec::new();
    if !found.is_directory {
        return Ok(files);
    }
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if convert::is_file_of_frame(&name) {
            continue;
        }
        if entry.file_type().map_err(failed)?.is_dir() {
            let text = format!(
                "{}: contains the directory '{}', which would be lost",
                path.display(),
                name.to_string_lossy()
            );
            return Err(Failure::new(text).with_hint("move it to another directory"));
        }
        files.push(name);
    }
    Ok(files)
}

/// Adds the other files in the directory of a frame to the directory that will replace it, and
/// syncs it. They are hard links, so that a lock file stays the same file.
pub fn keep_other_files(path: &Path, found: &Detected, target: &Path) -> Result<(), Failure> {
    let files = other_files(path, found)?;
    if files.is_empty() {
        return Ok(());
    }
    for name in files {
        let from = path.join(&name);
        fs::hard_link(&from, target.join(&name))
            .map_err(|error| named(error, Error::FileWrite, "keep", &from))?;
    }
    let synced = staging::sync_parent(&target.join(INDEX));
    Ok(synced.map_err(|error| named(error, Error::FileWrite, "write to", path))?)
}

/// A frame or array to change, locked against other changes.
pub struct FrameToChange {
    name: PathBuf,
    path: PathBuf,
    found: Detected,
    _lock: File,
}

impl FrameToChange {
    /// Locks a frame with data that the user may write. Waits until other programs have changed it.
    pub fn open(name: &Path) -> Result<FrameToChange, Failure> {
        let target = FrameToChange::open_any(name)?;
        detect_frame(name)?;
        Ok(target)
    }

    /// Locks a frame like [`FrameToChange::open`], also one without data, such as an expression.
    pub fn open_any(name: &Path) -> Result<FrameToChange, Failure> {
        refuse_others(name, &detect_for_change(name)?)?;
        // A link stays a link if the file is replaced.
        let path = fs::canonicalize(name);
        let path = path.map_err(|error| named(error, Error::FileOpen, "open", name))?;
        let lock = lock(name, &path)?;
        // Another program may have replaced the frame before it was locked.
        let found = detect_for_change(name)?;
        if !is_frame(&found) {
            return Err(Failure::new("was replaced by another program").at(name));
        }
        Ok(FrameToChange { name: name.to_owned(), path, found, _lock: lock })
    }

    /// Returns the path in messages.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Returns the path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the format.
    pub fn found(&self) -> &Detected {
        &self.found
    }

    /// Returns an error of this frame.
    pub fn error(&self, error: impl Into<Failure>) -> Failure {
        error.into().of_target(&self.path, &self.name).at(&self.name)
    }

    fn storage(&self) -> Storage {
        let (storage, lock_file) = if self.found.is_directory {
            (Storage::directory(&self.path), self.path.join(LOCK))
        } else {
            let mut name = self.path.as_os_str().to_owned();
            name.push(LOCK);
            (Storage::file(&self.path), PathBuf::from(name))
        };
        let storage = storage.durable();
        if lock_file.is_file() { storage.locking() } else { storage }
    }

    /// Opens the frame for durable changes.
    pub fn schunk(&self, nthreads: usize) -> Result<SChunk, Failure> {
        let params = DParams::default().threads(threads(nthreads));
        SChunk::open(self.storage(), params).map_err(|error| self.error(error))
    }

    /// Opens the array for durable changes.
    pub fn array(&self, nthreads: usize) -> Result<Array, Failure> {
        Array::from_schunk(self.schunk(nthreads)?).map_err(|error| self.error(error))
    }
}

/// Converts a number of threads.
pub fn threads(nthreads: usize) -> i16 {
    i16::try_from(nthreads.max(1)).unwrap_or(i16::MAX)
}
