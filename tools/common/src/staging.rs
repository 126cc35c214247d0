//! Atomic creation of files and directories.
//!
//! A result is written in a staging directory next to its target and renamed to the target when it
//! is complete. A process-wide list holds all staging directories. A thread that waits for SIGINT,
//! SIGTERM and SIGHUP, or on Windows for Ctrl-C and the end of the console, removes them before the
//! program ends. Renaming holds the lock of that list, so the target is either complete or
//! unchanged.
//!
//! A result that replaces something is written to the disk before it is renamed, and its name after
//! that: after a crash of the system the target has the old content or the new one. For one that
//! replaces nothing, this is done only on request.
//!
//! SIGKILL and crashes leave the folder. It contains a marker file, and is locked while its program
//! uses it, so the next program that stages in the same directory recognises leftovers and removes
//! them. Directories with such a name but without the marker are kept.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferroblosc::io::named::named;
use ferroblosc::io::{FileSystem, beside, journal, temporary};
use ferroblosc::os::files;

use crate::identity::Identity;
use crate::os::{self, DirectoryLock};

/// The staging directories to remove on a signal.
static FOLDERS: Mutex<Vec<Staging>> = Mutex::new(Vec::new());
/// The directories that were already searched for leftovers.
static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
/// The name, in a staging directory, of the old target during its replacement. Used where the
/// system cannot exchange two paths atomically.
const REPLACED: &str = "replaced";
/// The name of the empty file that marks a staging folder. Other directories can have the name of
/// one. It is created when the folder is locked: a marked folder without a lock is not in use.
const MARKER: &str = ".ferroblosc-staging";
/// The number of the next folder of this process.
static COUNTER: AtomicU64 = AtomicU64::new(0);
/// The maximum length of the name of the target within the name of a staging directory, in bytes.
/// File systems support names of 255 bytes.
const MAX_NAME: usize = 200;
/// The maximum number of attempts to remove a staging directory in which files are still being
/// created.
const ATTEMPTS: usize = 100;

/// The function that is called before a signal ends the program.
static AT_SIGNAL: Mutex<Option<fn()>> = Mutex::new(None);

/// Sets a function that is called before a signal ends the program, such as one that restores the
/// terminal. Another thread calls it: it must not wait for the thread that sets it.
pub fn at_signal(function: fn()) {
    *AT_SIGNAL.lock().unwrap_or_else(PoisonError::into_inner) = Some(function);
}

/// A staging directory in use.
struct Staging {
    path: PathBuf,
    /// The lock of the directory; `None` on file systems without locks.
    lock: Option<DirectoryLock>,
}

impl Staging {
    /// Removes the directory, even if files are created in it at the same time.
    fn remove(self) {
        if let Some(lock) = self.lock {
            lock.remove_directory(&self.path);
        }
        for _ in 0..ATTEMPTS {
            match fs::remove_dir_all(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {}
                _ => return,
            }
        }
    }
}

fn folders() -> MutexGuard<'static, Vec<Staging>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs handlers for SIGINT, SIGTERM and SIGHUP, or those of the console on Windows, that
/// remove all staging directories, and the temporary files of frames and stores that are replaced.
/// Programs must call this function once, at their start.
///
/// # Errors
/// Errors of installing the handlers and of starting the thread.
pub fn clean_up_on_signals() -> io::Result<()> {
    temporary::record();
    os::before_interrupt(|| {
        // Locked until the process ends, so that no target is renamed and no directory is created.
        let mut folders = folders();
        folders.drain(..).for_each(Staging::remove);
        std::mem::forget(folders);
        let function = *AT_SIGNAL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = function {
            function();
        }
        // At the end, because another thread may report that its file was removed.
        temporary::remove_recorded(&FileSystem);
    })
}

/// Whether a name has the form of [`Folder::new_in`]: `.NAME.PID-NUMBER.tmp`.
fn is_staging_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    let numbers = inner.and_then(|inner| inner.rsplit_once('.'));
    numbers
        .and_then(|(_, numbers)| numbers.split_once('-'))
        .is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Removes the staging folders of killed programs from a directory. Folders of other users, folders
/// without a marker, folders in use and folders that hold a replaced target are kept.
fn remove_leftovers(parent: &Path) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.get_or_insert_default().insert(parent.to_owned()) {
        return;
    }
    drop(swept);
    let names = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in names.filter(|entry| entry.file_name().to_str().is_some_and(is_staging_name)) {
        let path = entry.path();
        // Without file locks, folders in use cannot be recognised, and nothing is removed. The
        // marker is checked first, because the lock may create a file in the folder.
        if os::is_own(&path)
            && fs::symlink_metadata(path.join(MARKER)).is_ok_and(|found| found.is_file())
            && let Ok(Some(lock)) = DirectoryLock::of(&path)
            && fs::symlink_metadata(path.join(REPLACED)).is_err()
        {
            lock.remove_directory(&path);
        }
    }
}

/// Returns the start of a name, so that the name of its staging directory is not too long for file
/// systems.
fn shortened(name: &str) -> &str {
    let mut len = name.len().min(MAX_NAME);
    while !name.is_char_boundary(len) {
        len -= 1;
    }
    &name[..len]
}

/// A staging directory, removed on drop.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates a staging directory in `parent`.
    ///
    /// # Errors
    /// Errors of creating it.
    pub fn new_in(parent: &Path, name: &str) -> io::Result<Folder> {
        remove_leftovers(parent);
        let name = shortened(name);
        loop {
            // Relaxed: the number must only be unique.
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
            let mut folders = folders();
            // Other users cannot read an incomplete result.
            match os::create_private_directory(&path) {
                Ok(()) => match DirectoryLock::of(&path) {
                    // Another program removed it as a leftover before it was locked.
                    Ok(None) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    lock => {
                        let lock = lock.ok().flatten();
                        if lock.as_ref().is_some_and(|lock| !lock.is_at(&path)) {
                            continue;
                        }
                        // Without the marker, the folder is kept if the program is killed.
                        let _ = fs::File::create_new(path.join(MARKER));
                        folders.push(Staging { path: path.clone(), lock });
                        return Ok(Folder { path });
                    }
                },
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Creates a staging directory in the directory for temporary files.
    ///
    /// # Errors
    /// Errors of creating it.
    pub fn temporary(name: &str) -> io::Result<Folder> {
        Folder::new_in(&ferroblosc::os::temporary_directory(), name)
    }

    /// Returns the path of an entry of the staging directory.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let mut folders = folders();
        if let Some(at) = folders.iter().position(|known| known.path == self.path) {
            folders.swap_remove(at).remove();
        }
    }
}

/// Renames a file or directory, unless the new name exists. On file systems that cannot do this
/// atomically, the check is done before.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    if files::rename_new(from, to)? {
        return Ok(());
    }
    match fs::symlink_metadata(to) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Returns the directory of a path.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes the name of a file or directory to the disk. A symbolic link is followed.
///
/// # Errors
/// Errors of opening the directory of the name, and of writing.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    files::sync_directory(parent_of(&path))
}

/// Writes a file, or a directory with everything in it, to the disk. Links and special files are
/// skipped.
fn sync_tree(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            sync_tree(&entry?.path())?;
        }
    }
    if kind.is_dir() || kind.is_file() { os::sync(path) } else { Ok(()) }
}

/// A file or directory that is being created.
pub struct Staged {
    folder: Folder,
    staged: PathBuf,
    target: PathBuf,
    /// The requested path, for errors of writing to the disk.
    name: PathBuf,
    /// Whether the content is on the disk.
    is_synced: bool,
    /// Whether the result is on the disk after the commit, also if it replaces nothing.
    is_durable: bool,
    /// Whether the result has permissions of its own, instead of those of a replaced file.
    has_permissions: bool,
}

impl Staged {
    /// Prepares the creation of the file or directory `name`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for a FIFO, a device or a socket, which would be lost;
    /// errors of creating the staging directory next to it.
    pub fn new(name: &Path) -> io::Result<Staged> {
        // A symbolic link is kept; the file it refers to is replaced.
        let target = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        if os::special(&target).is_some() {
            let why = "it is a FIFO, a device or a socket";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let last = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = Folder::new_in(parent_of(&target), &last.to_string_lossy())?;
        let staged = folder.path(last);
        Ok(Staged {
            folder,
            staged,
            target,
            name: name.to_owned(),
            is_synced: false,
            is_durable: false,
            has_permissions: false,
        })
    }

    /// Returns the path at which the caller creates the file or directory.
    pub fn path(&self) -> &Path {
        &self.staged
    }

    /// Lets the commit write the result to the disk, also if it replaces nothing.
    pub fn set_durable(&mut self) {
        self.is_durable = true;
    }

    /// Whether there is something at the path of the target.
    pub fn replaces(&self) -> bool {
        fs::symlink_metadata(&self.target).is_ok()
    }

    /// Renames the result to the target, and the old target to its name with `.broken` appended. The
    /// result gets the permissions of the old target. Returns the new path of the old target.
    ///
    /// # Errors
    /// Errors of writing to the disk and of renaming. The old target keeps its name then, unless the
    /// names could not be written to the disk.
    pub fn commit_beside(mut self) -> io::Result<PathBuf> {
        let old = fs::symlink_metadata(&self.target)?;
        self.sync()?;
        let held = folders();
        self.keep_permissions(&old)?;
        let mut number = 0;
        let kept = loop {
            let suffix = match number {
                0 => ".broken".to_owned(),
                number => format!(".broken-{number}"),
            };
            let kept = beside::with_suffix(&self.target, &suffix, 0);
            match self.replace_in_two_steps(&kept) {
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists
                        && fs::symlink_metadata(&kept).is_ok() =>
                {
                    number += 1;
                }
                replaced => break replaced.map(|()| kept)?,
            }
        };
        drop(held);
        journal::discard_all(&self.target);
        self.sync_name()?;
        Ok(kept)
    }

    /// Renames the result to the target. Removes the old target and its journals.
    ///
    /// # Errors
    /// Errors of writing to the disk and of renaming. The old target is kept then, unless the name
    /// could not be written to the disk.
    pub fn commit(mut self) -> io::Result<()> {
        let syncs = self.is_durable || self.replaces();
        if syncs {
            self.sync()?;
        }
        self.replace_target()?;
        journal::discard_all(&self.target);
        if syncs { self.sync_name() } else { Ok(()) }
    }

    /// Renames the result to the target, unless another program has replaced or changed it.
    /// `expected` describes the target before the result was made from it.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if the target differs, which is then kept; errors of writing
    /// to the disk and of renaming.
    pub fn commit_over(mut self, expected: &Identity) -> io::Result<()> {
        self.sync()?;
        let held = folders();
        let is_same =
            |path: &Path| Identity::at(path).is_ok_and(|found| found.has_content_of(expected));
        if !is_same(&self.target) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        match os::exchange(&self.staged, &self.target) {
            Ok(()) if is_same(&self.staged) => {}
            Ok(()) => {
                os::exchange(&self.staged, &self.target)?;
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            Err(_) => fs::rename(&self.staged, &self.target)?,
        }
        drop(held);
        journal::discard_all(&self.target);
        self.sync_name()
    }

    /// Renames the result to the target, which must not exist.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the target was created in the meantime; errors of
    /// renaming, and of writing to the disk.
    pub fn commit_new(mut self) -> io::Result<()> {
        if self.is_durable {
            self.sync()?;
        }
        let held = folders();
        rename_to_new(&self.staged, &self.target)?;
        drop(held);
        journal::discard_all(&self.target);
        if self.is_durable { self.sync_name() } else { Ok(()) }
    }

    /// Gives the result the permissions of a file, without its set-user-ID, set-group-ID and sticky
    /// bits, and its owner and group, if the system permits it. Without the group, the group has no
    /// rights. Those who can read the file can search the result, if it is a directory; the owner
    /// can always read the result. The commit then does not keep the permissions of a replaced
    /// file.
    ///
    /// # Errors
    /// Errors of setting the permissions.
    pub fn copy_permissions(&mut self, file: &fs::Metadata) -> io::Result<()> {
        os::set_permissions_as(&self.staged, file)?;
        self.has_permissions = true;
        Ok(())
    }

    /// Writes the content of the result to the disk, once: later commits do not repeat it.
    ///
    /// # Errors
    /// Errors of opening and writing, with the requested path.
    pub fn sync(&mut self) -> io::Result<()> {
        if !self.is_synced {
            sync_tree(&self.staged).map_err(|error| self.write_error(error))?;
            self.is_synced = true;
        }
        Ok(())
    }

    /// Writes the name of the target to the disk, if this process may read the directory and its file
    /// system can sync it.
    fn sync_name(&self) -> io::Result<()> {
        match files::sync_directory(parent_of(&self.target)) {
            Err(error) if !error.raw_os_error().is_some_and(files::is_sync_unsupported) => {
                Err(self.write_error(error))
            }
            _ => Ok(()),
        }
    }

    fn write_error(&self, error: io::Error) -> io::Error {
        named(error, ferroblosc::Error::FileWrite, "write to", &self.name)
    }

    fn replace_target(&self) -> io::Result<()> {
        let _held = folders();
        let Ok(old) = fs::symlink_metadata(&self.target) else {
            return fs::rename(&self.staged, &self.target);
        };
        self.keep_permissions(&old)?;
        if old.is_file() && !self.staged.is_dir() {
            return fs::rename(&self.staged, &self.target);
        }
        if os::exchange(&self.staged, &self.target).is_ok() {
            return Ok(());
        }
        self.replace_in_two_steps(&self.folder.path(REPLACED))
    }

    /// Gives the result the permissions and, if the system permits it, the owner of the old target,
    /// unless it has its own.
    fn keep_permissions(&self, old: &fs::Metadata) -> io::Result<()> {
        if self.has_permissions {
            return Ok(());
        }
        if old.is_dir() {
            os::set_permissions_as_directory(&self.staged, old)
        } else if !old.is_file() {
            // A link without a target is replaced.
            Ok(())
        } else if self.staged.is_dir() {
            os::set_permissions_as(&self.staged, old)
        } else {
            files::copy_permissions(&self.target, &self.staged)
        }
    }

    /// Renames the target to `old`, which must not exist, and the result to the target. On an error,
    /// the old target is moved back.
    fn replace_in_two_steps(&self, old: &Path) -> io::Result<()> {
        rename_to_new(&self.target, old)?;
        fs::rename(&self.staged, &self.target).inspect_err(|_| {
            let _ = fs::rename(old, &self.target);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        for path in [Path::new("/dev/null"), &socket, &link] {
            let kind = Staged::new(path).err().unwrap().kind();
            assert_eq!(kind, io::ErrorKind::InvalidInput, "{path:?}");
        }
    }

    #[test]
    fn a_result_appears_only_when_it_is_committed() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("result");
        let staged = Staged::new(&target).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(fs::metadata(&staged.folder.path).unwrap().mode() & 0o777, 0o700);
        }
        fs::write(staged.path(), b"half").unwrap();
        assert!(!target.exists());
        drop(staged);
        assert_eq!(names(scratch.path()), Vec::<String>::new());

        let staged = Staged::new(&target).unwrap();
        fs::write(staged.path(), b"whole").unwrap();
        staged.commit().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"whole");
        assert_eq!(names(scratch.path()), ["result"]);
    }

    #[test]
    fn folders_of_killed_programs_are_removed_and_others_are_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        let used = Folder::new_in(scratch.path(), "used").unwrap();
        for name in [".left.1-0.tmp", ".only copy.1-0.tmp", ".left.x-0.tmp", ".left.1-0.tmp2"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("half"), b"half").unwrap();
            fs::write(path(name).join(MARKER), b"").unwrap();
        }
        fs::create_dir(path(".only copy.1-0.tmp").join(REPLACED)).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(path(".left.x-0.tmp"), path(".link.1-0.tmp")).unwrap();
        // The directory was already searched when the first staging directory was created.
        *SWEPT.lock().unwrap() = None;
        drop(Folder::new_in(scratch.path(), "new").unwrap());
        let mut left = names(scratch.path());
        left.retain(|name| !used.path.ends_with(name));
        let mut expected = vec![".left.1-0.tmp2", ".left.x-0.tmp", ".only copy.1-0.tmp"];
        if cfg!(unix) {
            expected.insert(2, ".link.1-0.tmp");
        }
        assert_eq!(left, expected);
        assert!(used.path.is_dir());
        assert!(path(".left.x-0.tmp").join("half").is_file());
    }

    /// Programs and users give such names to directories of their own.
    #[test]
    fn directories_that_are_no_staging_folders_are_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("file");
        fs::write(&file, b"").unwrap();
        let (full, empty) = (".notes.2024-11.tmp", ".empty.1-0.tmp");
        fs::create_dir(scratch.path().join(full)).unwrap();
        fs::write(scratch.path().join(full).join("precious"), b"precious").unwrap();
        fs::create_dir(scratch.path().join(empty)).unwrap();
        // A directory or a link is no marker.
        let others = [".directory.1-0.tmp", ".link.1-0.tmp"];
        for name in others {
            fs::create_dir(scratch.path().join(name)).unwrap();
        }
        fs::create_dir(scratch.path().join(others[0]).join(MARKER)).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&file, scratch.path().join(others[1]).join(MARKER)).unwrap();
        let before = names(scratch.path());
        drop(Folder::new_in(scratch.path(), "new").unwrap());
        assert_eq!(names(scratch.path()), before);
        assert_eq!(names(&scratch.path().join(full)), ["precious"]);
        assert_eq!(names(&scratch.path().join(empty)), Vec::<String>::new());
    }

    #[test]
    fn folders_are_marked_and_their_lock_keeps_them() {
        let scratch = tempfile::tempdir().unwrap();
        let used = Folder::new_in(scratch.path(), "used").unwrap();
        assert!(used.path(MARKER).is_file());
        *SWEPT.lock().unwrap() = None;
        drop(Folder::new_in(scratch.path(), "new").unwrap());
        assert!(used.path(MARKER).is_file());
    }

    #[test]
    fn commit_beside_keeps_the_old_target() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("result");
        fs::write(&target, b"first").unwrap();
        for (round, kept) in ["result.broken", "result.broken-1"].iter().enumerate() {
            let staged = Staged::new(&target).unwrap();
            fs::write(staged.path(), [round as u8]).unwrap();
            let path = staged.commit_beside().unwrap();
            assert_eq!(path.file_name().unwrap(), *kept);
            assert_eq!(fs::read(&target).unwrap(), [round as u8]);
        }
        assert_eq!(names(scratch.path()), ["result", "result.broken", "result.broken-1"]);
        assert_eq!(fs::read(scratch.path().join("result.broken")).unwrap(), b"first");
        // Another program has created the file since its name was found to be free.
        let staged = Staged::new(&target).unwrap();
        fs::write(staged.path(), b"new").unwrap();
        let taken = scratch.path().join("result.broken");
        let error = staged.replace_in_two_steps(&taken).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(taken).unwrap(), b"first");
        assert_eq!(fs::read(&target).unwrap(), [1]);
    }

    #[cfg(unix)]
    #[test]
    fn the_permissions_of_a_replaced_target_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("result");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        for (was_directory, is_directory, before, after) in [
            (false, false, 0o600, 0o600),
            (false, false, 0o440, 0o440),
            (false, true, 0o640, 0o750),
            (true, true, 0o700, 0o700),
            (true, true, 0o550, 0o750),
            (true, false, 0o710, 0o600),
        ] {
            let create = |path: &Path, is_directory: bool| {
                if is_directory { fs::create_dir(path) } else { fs::write(path, b"content") }
            };
            for is_beside in [false, true] {
                create(&target, was_directory).unwrap();
                fs::set_permissions(&target, fs::Permissions::from_mode(before)).unwrap();
                let staged = Staged::new(&target).unwrap();
                create(staged.path(), is_directory).unwrap();
                if is_beside {
                    assert_eq!(mode(&staged.commit_beside().unwrap()), before);
                } else {
                    staged.commit().unwrap();
                }
                assert_eq!(target.is_dir(), is_directory);
                assert_eq!(mode(&target), after, "{was_directory} {is_directory} {before:o}");
                for name in names(scratch.path()) {
                    let path = scratch.path().join(name);
                    let removed =
                        if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
                    removed.unwrap();
                }
            }
        }
    }

    #[test]
    fn a_target_that_was_created_in_the_meantime_is_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("result");
        let staged = Staged::new(&target).unwrap();
        fs::write(staged.path(), b"new").unwrap();
        fs::write(&target, b"other").unwrap();
        let error = staged.commit_new().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&target).unwrap(), b"other");
        assert_eq!(names(scratch.path()), ["result"]);
        fs::remove_file(&target).unwrap();
        let mut staged = Staged::new(&target).unwrap();
        fs::create_dir(staged.path()).unwrap();
        fs::write(staged.path().join("inside"), b"new").unwrap();
        staged.sync().unwrap();
        staged.commit_new().unwrap();
        sync_parent(&target).unwrap();
        assert_eq!(fs::read(target.join("inside")).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn only_files_and_directories_are_synced() {
        let scratch = tempfile::tempdir().unwrap();
        let mut staged = Staged::new(&scratch.path().join("result")).unwrap();
        assert!(staged.sync().is_err(), "there is nothing to sync");
        fs::create_dir_all(staged.path().join("a/b")).unwrap();
        fs::write(staged.path().join("a/b/file"), b"data").unwrap();
        // Opening a FIFO waits for its other end.
        let fifo = staged.path().join("a/fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        std::os::unix::fs::symlink("missing", staged.path().join("a/link")).unwrap();
        staged.sync().unwrap();
        staged.commit_new().unwrap();
    }

    #[test]
    fn without_an_exchange_a_failed_replacement_keeps_the_old_target() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("result");
        fs::write(&target, b"old").unwrap();
        let staged = Staged::new(&target).unwrap();
        // Nothing was created at the staged path, so the second step fails.
        let old = staged.folder.path(REPLACED);
        staged.replace_in_two_steps(&old).unwrap_err();
        drop(staged);
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(names(scratch.path()), ["result"]);
    }

    #[test]
    fn files_and_directories_replace_each_other() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("result");
        for round in 0..4 {
            let staged = Staged::new(&target).unwrap();
            match round % 2 {
                0 => fs::write(staged.path(), [round]).unwrap(),
                _ => {
                    fs::create_dir(staged.path()).unwrap();
                    fs::write(staged.path().join("inside"), [round]).unwrap();
                }
            }
            staged.commit().unwrap();
            assert_eq!(target.is_dir(), round % 2 == 1);
            assert_eq!(names(scratch.path()), ["result"]);
        }
    }
}
