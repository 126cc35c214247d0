//! Changes of frames and arrays in place.
//!
//! Changes are durable (`docs/durability.md`): after an error or a crash the file has its old or its
//! new content. While a program changes a frame it holds a lock (`flock`) on the file, or on the
//! index of a directory, so that two programs change it one after the other. If the frame has a lock
//! file of Blosc2 (`.b2lock`), it is used too.

use crate::error::{self, Failure, Outcome};
use crate::io::STDIO;
use crate::members;
use crate::state::{INDEX, is_frame};
use crate::store;
use crate::words::with_article;
use ferroblosc::Error;
use ferroblosc::b2nd::Array;
use ferroblosc::chunk::DParams;
use ferroblosc::io::named::named;
use ferroblosc::os::files;
use ferroblosc::schunk::{SChunk, Storage};
use ferroblosc_formats::convert::{self, Detected};
use ferroblosc_tools_common::{os, staging};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The suffix of the lock file of a file, and the name of that of a directory.
const LOCK: &str = ".b2lock";
/// The suffixes of the files that the library writes next to a file during a change.
const TEMPORARY: [&str; 2] = [".b2journal", ".b2tmp"];

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

/// Whether a file in the directory of a frame is written by the library, and not kept when the frame
/// is replaced.
fn is_of_frame(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let is_chunk = name
        .strip_suffix(b".chunk")
        .is_some_and(|stem| stem.len() == 8 && stem.iter().all(u8::is_ascii_hexdigit));
    is_chunk
        || name == INDEX.as_bytes()
        || TEMPORARY.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
}

/// Returns the names of the other files in the directory of a frame. They are kept when the frame is
/// replaced. Directories cannot be kept, and are an error.
pub fn other_files(path: &Path, found: &Detected) -> Result<Vec<OsString>, Failure> {
    let failed = |error| named(error, Error::FileRead, "read", path);
    let mut files = Vec::new();
    if !found.is_directory {
        return Ok(files);
    }
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if is_of_frame(&name) {
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

/// Adds the other files in the directory of a frame to the directory that will replace it, and syncs
/// it. They are hard links, so that a lock file stays the same file.
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

/// Opens a frame for writing and locks it. `path` is `name` without links.
fn lock(name: &Path, path: &Path) -> Result<File, Failure> {
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

fn locked_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(INDEX) } else { path.to_owned() }
}

/// Whether a locked file is still that of the frame. Another program may have replaced it.
fn is_current(opened: &File, path: &Path) -> bool {
    match (files::identity_of(opened), files::identity_at(&locked_file(path))) {
        (Ok(opened), Ok(now)) => opened == now,
        _ => false,
    }
}
