//! Files and directories that are renamed to their final name when they are complete.
//!
//! Temporary names are predictable, so that leftovers of a crash can be found and removed. For the
//! same reason any file may already be at such a name. A new file is only created with `O_CREAT |
//! O_EXCL`, which never opens an existing file or link, and its creator claims it until it has its
//! final name. An existing file is removed if it is a leftover of this user: a regular file with
//! one name that is not claimed. Otherwise the next number is tried. Errors name the target, not
//! the temporary file.

use super::backend::{Attributes, FileKind, FileOps, Identity, Stream};
use super::beside;
use crate::os::process;
use crate::{Error, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Suffix of temporary files and directories of frames.
pub const FRAME_SUFFIX: &str = ".b2tmp";
/// The number of names tried, each with the next number at its end.
const NAMES: usize = 16;
/// The length of the longest number with its hyphen.
const NUMBER_LEN: usize = 3;
/// The number of attempts for a name that another process has just released.
const ATTEMPTS: usize = 4;

/// Whether the program removes its temporary files when a signal ends it.
static IS_RECORDED: AtomicBool = AtomicBool::new(false);
/// The temporary files with [`FRAME_SUFFIX`] that were created since [`record`]. A file that was
/// renamed or removed has another identity than the one at its path.
static RECORDED: Mutex<Vec<(PathBuf, Option<Identity>)>> = Mutex::new(Vec::new());

fn recorded() -> MutexGuard<'static, Vec<(PathBuf, Option<Identity>)>> {
    RECORDED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records the temporary files with [`FRAME_SUFFIX`] of this process from now on, for
/// [`remove_recorded`]. This is for short-lived programs: a path is kept until the process ends.
#[cfg(feature = "internals")]
pub fn record() {
    // Relaxed: the list has a lock.
    IS_RECORDED.store(true, Ordering::Relaxed);
}

/// Removes the recorded files before a signal ends the program. Threads that create such a file
/// wait from now on.
#[cfg(feature = "internals")]
pub fn remove_recorded(ops: &dyn FileOps) {
    let files = recorded();
    for (path, identity) in &*files {
        if identity.is_some() && ops.identify(path) == *identity {
            // A file that cannot be removed only uses disk space.
            let _ = ops.remove(path);
        }
    }
    std::mem::forget(files);
}

/// Returns the path with a suffix, and with a number if it is not 0.
fn numbered(path: &Path, suffix: &str, number: usize) -> PathBuf {
    let mut name = beside::with_suffix(path, suffix, NUMBER_LEN).into_os_string();
    if number > 0 {
        name.push(format!("-{number}"));
    }
    PathBuf::from(name)
}

/// Replaces the path of a temporary file in an error by that of its target, also below a temporary
/// directory.
pub fn error_of_target(error: Error, temporary: &Path, target: &Path) -> Error {
    match error.path().and_then(|path| path.strip_prefix(temporary).ok()) {
        None => error,
        Some(rest) if rest.as_os_str().is_empty() => error.replacing_path(target),
        Some(rest) => {
            let path = target.join(rest);
            error.replacing_path(&path)
        }
    }
}

fn is_own(found: &Attributes, kind: FileKind) -> bool {
    found.kind == kind
        && (kind == FileKind::Directory || found.links == 1)
        && found.owner == process::user()
}

/// Creates a temporary file for `target`; only the owner has access to a private one. Returns its
/// path and the claimed file.
///
/// # Errors
/// [`Error::FileOpen`] when it cannot be created, or when all names are in use.
pub fn create(
    ops: &dyn FileOps,
    target: &Path,
    suffix: &str,
    private: bool,
) -> Result<(PathBuf, Box<dyn Stream>)> {
    for number in 0..NAMES {
        let path = numbered(target, suffix, number);
        for _ in 0..ATTEMPTS {
            if ops.attributes(&path).is_none() {
                // Relaxed: as above. Locked, so that no file is missing from the list.
                let is_recorded = suffix == FRAME_SUFFIX && IS_RECORDED.load(Ordering::Relaxed);
                let files = is_recorded.then(recorded);
                match ops.create_new(&path, private) {
                    Ok(stream) if is_ours_at(ops, &path, &*stream) => {
                        if let Some(mut files) = files {
                            files.push((path.clone(), stream.identity()));
                        }
                        return Ok((path, stream));
                    }
                    // Another process has removed it as a leftover, or claimed it first.
                    Ok(_) => continue,
                    Err(_) if ops.attributes(&path).is_some() => continue,
                    Err(error) => return Err(error_of_target(error, &path, target)),
                }
            }
            if !remove_leftover(ops, &path) {
                break;
            }
        }
    }
    Err(in_use(target, suffix))
}

/// Returns the error for a target whose temporary files exist already.
fn in_use(target: &Path, suffix: &str) -> Error {
    let first = numbered(target, suffix, 0);
    Error::FileOpen.at(target).because(format!(
        "the temporary file {} and its numbered variants exist already",
        first.display()
    ))
}

/// Claims a new file and checks that the path still names it. Without locks no other process
/// removes it, so a failed claim does not mean that another process has the file.
fn is_ours_at(ops: &dyn FileOps, path: &Path, stream: &dyn Stream) -> bool {
    stream.claim() != Ok(false) && ops.identify(path) == stream.identity()
}

/// Checks, directly before the file at `path` is renamed, that it is still the created one: without
/// locks another process may have mistaken it for a leftover.
///
/// # Errors
/// [`Error::FileOpen`] if it is not.
pub fn check(ops: &dyn FileOps, path: &Path, stream: &dyn Stream) -> Result<()> {
    check_identity(ops, path, stream.identity())
}

/// Checks the file at `path` like [`check`], by the identity of a stream that is closed.
///
/// # Errors
/// As [`check`].
pub fn check_identity(ops: &dyn FileOps, path: &Path, identity: Option<Identity>) -> Result<()> {
    if ops.identify(path) == identity {
        return Ok(());
    }
    Err(Error::FileOpen.at(path).because("another process has removed the temporary file"))
}

/// Removes the created file, unless another process has one at the path. A file that cannot be
/// removed only uses disk space.
pub fn discard(ops: &dyn FileOps, path: &Path, stream: &dyn Stream) {
    if check(ops, path, stream).is_ok() {
        let _ = ops.remove(path);
    }
}

/// Claims a file and checks that the path still names it.
fn is_claimed_at(ops: &dyn FileOps, path: &Path, stream: &dyn Stream) -> bool {
    stream.claim() == Ok(true) && ops.identify(path) == stream.identity()
}

/// Removes a leftover file of this user at a path; returns whether the path is free.
pub fn remove_leftover(ops: &dyn FileOps, path: &Path) -> bool {
    let Some(found) = ops.attributes(path) else {
        return true;
    };
    if !is_own(&found, FileKind::Regular) {
        return false;
    }
    let Ok(stream) = ops.open_unfollowed(path, false) else {
        return false;
    };
    is_claimed_at(ops, path, &*stream) && ops.remove(path).is_ok()
}

/// Removes the leftover files of this user with a suffix for `target`.
pub fn remove_leftovers(ops: &dyn FileOps, target: &Path, suffix: &str) {
    for number in 0..NAMES {
        let path = numbered(target, suffix, number);
        if ops.attributes(&path).is_none() {
            return;
        }
        remove_leftover(ops, &path);
    }
}

/// Creates a temporary directory for `target`, with the empty file `content` in it. A leftover of
/// this user, a directory with at most an unclaimed file `content` in it, is removed first. Returns
/// its path and the claimed file, which must be open until the directory has its final name.
///
/// # Errors
/// [`Error::FileOpen`] when it cannot be created, or when all names are in use.
pub fn create_directory(
    ops: &dyn FileOps,
    target: &Path,
    suffix: &str,
    content: &str,
) -> Result<(PathBuf, Box<dyn Stream>)> {
    for number in 0..NAMES {
        let path = numbered(target, suffix, number);
        let inside = path.join(content);
        for _ in 0..ATTEMPTS {
            if let Some(found) = ops.attributes(&path)
                && (!is_own(&found, FileKind::Directory)
                    || !remove_leftover(ops, &inside)
                    || ops.remove_directory(&path).is_err())
            {
                break;
            }
            match ops.make_directory(&path) {
                Ok(()) => {}
                // Another process created it first, and may have removed it again.
                Err(error)
                    if error.system_kind() == Some(ErrorKind::AlreadyExists)
                        || ops.attributes(&path).is_some() =>
                {
                    continue;
                }
                Err(error) => return Err(error_of_target(error, &path, target)),
            }
            match ops.create_new(&inside, false) {
                Ok(stream) if is_ours_at(ops, &inside, &*stream) => return Ok((path, stream)),
                // Another process has removed it as a leftover, or claimed it first.
                Ok(_) => {}
                Err(error)
                    if error.system_kind() == Some(ErrorKind::NotFound)
                        || ops.attributes(&inside).is_some() => {}
                Err(error) => {
                    let _ = ops.remove_directory(&path);
                    return Err(error_of_target(error, &path, target));
                }
            }
        }
    }
    Err(in_use(target, suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::testing::TempDir;
    use crate::io::{FileSystem, Identity, WriteGranularity};
    #[cfg(unix)]
    use std::os::unix::fs::symlink;

    #[test]
    fn files_of_other_processes_are_neither_renamed_nor_removed() {
        let dir = TempDir::new("taken");
        let (path, stream) = create(&WithoutLocks, &dir.join("f"), ".tmp", false).unwrap();
        check(&WithoutLocks, &path, &*stream).unwrap();
        // Another process mistakes the file for a leftover, and creates its own.
        assert!(std::fs::remove_file(&path).is_ok() && std::fs::write(&path, b"other").is_ok());
        let error = check(&WithoutLocks, &path, &*stream).unwrap_err();
        assert_eq!((error.path(), &error), (Some(&*path), &Error::FileOpen));
        discard(&WithoutLocks, &path, &*stream);
        assert_eq!(std::fs::read(&path).unwrap(), b"other");

        let (path, stream) = create(&WithoutLocks, &dir.join("g"), ".tmp", false).unwrap();
        discard(&WithoutLocks, &path, &*stream);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    fn name_of(dir: &TempDir) -> String {
        let (path, stream) = create(&FileSystem, &dir.join("f"), ".tmp", false).unwrap();
        stream.write_at(0, b"new", WriteGranularity::Whole).unwrap();
        std::fs::remove_file(&path).unwrap();
        path.file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// A file system without locks.
    struct WithoutLocks;

    /// A file of it.
    struct Unlocked(Box<dyn Stream>);

    impl Stream for Unlocked {
        fn size(&self) -> Result<u64> {
            self.0.size()
        }

        fn read_at(&self, position: u64, dest: &mut [u8]) -> Result<usize> {
            self.0.read_at(position, dest)
        }

        fn write_at(&self, position: u64, bytes: &[u8], whole: WriteGranularity) -> Result<()> {
            self.0.write_at(position, bytes, whole)
        }

        fn truncate(&self, len: u64) -> Result<()> {
            self.0.truncate(len)
        }

        fn claim(&self) -> Result<bool> {
            Err(Error::Lock.os(ErrorKind::Unsupported.into()))
        }

        fn identity(&self) -> Option<Identity> {
            self.0.identity()
        }

        fn close(self: Box<Self>) -> Result<()> {
            self.0.close()
        }
    }

    impl FileOps for WithoutLocks {
        fn identify(&self, path: &Path) -> Option<Identity> {
            FileSystem.identify(path)
        }

        fn attributes(&self, path: &Path) -> Option<Attributes> {
            FileSystem.attributes(path)
        }

        fn open_unfollowed(&self, path: &Path, writes: bool) -> Result<Box<dyn Stream>> {
            Ok(Box::new(Unlocked(FileSystem.open_unfollowed(path, writes)?)))
        }

        fn create_new(&self, path: &Path, private: bool) -> Result<Box<dyn Stream>> {
            Ok(Box::new(Unlocked(FileSystem.create_new(path, private)?)))
        }

        fn rename(&self, from: &Path, to: &Path) -> Result<()> {
            FileSystem.rename(from, to)
        }

        fn remove(&self, path: &Path) -> Result<()> {
            FileSystem.remove(path)
        }

        fn make_directory(&self, path: &Path) -> Result<()> {
            FileSystem.make_directory(path)
        }

        fn remove_directory(&self, path: &Path) -> Result<()> {
            FileSystem.remove_directory(path)
        }

        fn list(&self, directory: &Path) -> Result<Vec<std::ffi::OsString>> {
            FileSystem.list(directory)
        }

        fn sync_directory(&self, directory: &Path) -> Result<()> {
            FileSystem.sync_directory(directory)
        }
    }

    #[test]
    fn without_locks_temporary_files_are_created_and_never_removed_as_leftovers() {
        let dir = TempDir::new("without-locks");
        let target = dir.join("f");
        for number in 0..NAMES {
            let (path, _) = create(&WithoutLocks, &target, ".tmp", false).unwrap();
            assert_eq!(path, numbered(&target, ".tmp", number));
        }
        let error = create(&WithoutLocks, &target, ".tmp", false).map(drop).unwrap_err();
        assert_eq!(error.path(), Some(&*target));
        assert!(error.to_string().contains("exist already"), "{error}");
        let (path, _) = create_directory(&WithoutLocks, &dir.join("d"), ".tmp", "index").unwrap();
        assert!(path.join("index").exists());
    }

    #[test]
    fn names_of_the_maximum_length_have_temporary_files() {
        let dir = TempDir::new("long-names");
        let target = dir.join(&"n".repeat(255));
        let (path, _stream) = create(&FileSystem, &target, ".tmp", false).unwrap();
        let (other, _) = create(&FileSystem, &target, ".tmp", false).unwrap();
        assert_eq!(other, numbered(&target, ".tmp", 1));
        remove_leftovers(&FileSystem, &target, ".tmp");
        assert!(path.exists(), "it is in use");
        assert_eq!(numbered(&target, ".tmp", NAMES - 1).file_name().unwrap().len(), 255);
        create_directory(&FileSystem, &target, ".b2tmp", "index").unwrap();
    }

    #[test]
    fn errors_name_the_target() {
        let dir = TempDir::new("errors-of-targets");
        let target = dir.join("missing/f");
        let failed = create(&FileSystem, &target, ".tmp", false).map(drop).unwrap_err();
        assert_eq!(failed.path(), Some(&*target));
        let failed = create_directory(&FileSystem, &target, ".tmp", "index").map(drop).unwrap_err();
        assert_eq!(failed.path(), Some(&*target));
        let of = |path: &str| {
            let error = Error::FileWrite.at(path);
            error_of_target(error, Path::new("d.tmp"), Path::new("d")).path().unwrap().to_owned()
        };
        assert_eq!(of("d.tmp"), Path::new("d"));
        assert_eq!(of("d.tmp/index"), Path::new("d/index"));
        assert_eq!(of("d.tmp-1"), Path::new("d.tmp-1"));
    }

    #[test]
    fn a_leftover_is_removed_and_a_file_in_use_stays() {
        let dir = TempDir::new("leftover");
        std::fs::write(dir.join("f.tmp"), b"old").unwrap();
        let (path, stream) = create(&FileSystem, &dir.join("f"), ".tmp", false).unwrap();
        assert_eq!(path, dir.join("f.tmp"));
        assert_eq!(stream.size(), Ok(0));
        // Its creator has claimed it.
        let (other, _) = create(&FileSystem, &dir.join("f"), ".tmp", false).unwrap();
        assert_eq!(other, dir.join("f.tmp-1"));
        remove_leftovers(&FileSystem, &dir.join("f"), ".tmp");
        assert!(path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_planted_link_is_never_written_through() {
        let dir = TempDir::new("planted");
        let victim = dir.join("victim");
        std::fs::write(&victim, b"precious").unwrap();
        symlink(&victim, dir.join("f.tmp")).unwrap();
        symlink(dir.join("nothing"), dir.join("f.tmp-1")).unwrap();
        std::fs::hard_link(&victim, dir.join("f.tmp-2")).unwrap();
        std::fs::create_dir(dir.join("f.tmp-3")).unwrap();
        let fifo = dir.join("f.tmp-4");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        assert_eq!(name_of(&dir), "f.tmp-5");
        assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
        assert!(!dir.join("nothing").exists());
    }

    #[test]
    fn a_leftover_directory_is_removed_and_any_other_stays() {
        let dir = TempDir::new("left-directory");
        let make = || create_directory(&FileSystem, &dir.join("d"), ".tmp", "index").unwrap().0;
        std::fs::create_dir(dir.join("d.tmp")).unwrap();
        std::fs::write(dir.join("d.tmp/index"), b"old").unwrap();
        assert_eq!(make(), dir.join("d.tmp"));
        assert_eq!(std::fs::read(dir.join("d.tmp/index")).unwrap(), b"");
        std::fs::write(dir.join("d.tmp/mine"), b"precious").unwrap();
        std::fs::create_dir(dir.join("elsewhere")).unwrap();
        #[cfg(unix)]
        symlink(dir.join("elsewhere"), dir.join("d.tmp-1")).unwrap();
        #[cfg(not(unix))]
        std::fs::write(dir.join("d.tmp-1"), b"precious").unwrap();
        assert_eq!(make(), dir.join("d.tmp-2"));
        assert!(dir.join("d.tmp/mine").exists());
    }

    #[test]
    fn a_directory_in_use_is_not_a_leftover() {
        let dir = TempDir::new("directory-in-use");
        let make = || create_directory(&FileSystem, &dir.join("d"), ".tmp", "index").unwrap();
        let (path, stream) = make();
        assert_eq!(path, dir.join("d.tmp"));
        let (other, _) = make();
        assert_eq!(other, dir.join("d.tmp-1"));
        assert!(path.join("index").exists());
        drop(stream);
        let (again, _) = make();
        assert_eq!(again, path);
    }

    #[test]
    fn concurrent_creators_have_different_directories() {
        let dir = TempDir::new("directory-race");
        let target = dir.join("d");
        for _ in 0..200 {
            let made: Vec<_> = std::thread::scope(|scope| {
                let make = || create_directory(&FileSystem, &target, ".tmp", "index").unwrap();
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            for (path, stream) in &made {
                let found = FileSystem.identify(&path.join("index"));
                assert!(found.is_some() && found == stream.identity(), "{}", path.display());
            }
        }
    }
}
