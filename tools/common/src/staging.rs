//! Results that appear whole or not at all, whatever ends the program.
//!
//! A result is made in a folder of its own beside its name and moved there when it is complete. All such folders are
//! known to one list, which a thread that waits for SIGINT, SIGTERM and SIGHUP removes before the signal takes its usual effect.
//! Taking a name happens under the lock of that list: a result has its name, or is gone.
//!
//! SIGKILL and a crash leave the folder. Each folder is locked (`flock`) as long as its program uses it, so the next
//! program that makes a folder in the same directory recognises the ones that are left and removes them.

use std::collections::HashSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferroblosc::io::journal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The folders that go when a signal comes.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// The directories in which leftovers were looked for already.
static SWEPT: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
/// What a directory has in a folder while another one takes its name, where the two can't be exchanged at once.
const REPLACED: &str = "replaced";
/// Distinguishes the folders of a process.
static COUNTER: AtomicU64 = AtomicU64::new(0);
/// How often a folder is removed in which somebody is still making files.
const ATTEMPTS: usize = 100;

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the signals that end the program remove what is unfinished first. A program calls it once, at its start.
///
/// # Errors
/// Whatever keeps signals or a thread from being set up.
pub fn clean_up_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Held to the end, so that nothing takes a name or begins any more.
            let folders = folders();
            folders.iter().for_each(|folder| remove(folder));
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// Removes a folder, even when something is made in it meanwhile.
fn remove(folder: &Path) {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => return,
        }
    }
}

/// Opens a directory, not a link to one, and locks it; none if another process has locked it.
fn claim(path: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match opened.try_lock() {
        Ok(()) => Ok(Some(opened)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether an open directory still has its name.
fn is_at(opened: &File, path: &Path) -> bool {
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (opened.metadata(), fs::symlink_metadata(path)) {
        (Ok(opened), Ok(named)) => identity(opened) == identity(named),
        _ => false,
    }
}

/// Whether a name is one that [`Folder::new_in`] makes: `.NAME.PID-NUMBER.tmp`.
fn is_of_folder(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let inner = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".tmp"));
    let numbers = inner.and_then(|inner| inner.rsplit_once('.'));
    numbers
        .and_then(|(_, numbers)| numbers.split_once('-'))
        .is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// Removes the folders in a directory that a killed program left. Those of other users, those in use and those that
/// hold something that was to be replaced stay.
fn sweep(parent: &Path) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.get_or_insert_default().insert(parent.to_owned()) {
        return;
    }
    drop(swept);
    let user = rustix::process::geteuid().as_raw();
    let names = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in names.filter(|entry| entry.file_name().to_str().is_some_and(is_of_folder)) {
        let path = entry.path();
        let is_ours = fs::symlink_metadata(&path).is_ok_and(|found| found.uid() == user);
        // File systems without locks can't tell what is in use: nothing is removed there.
        if is_ours
            && let Ok(Some(_claimed)) = claim(&path)
            && fs::symlink_metadata(path.join(REPLACED)).is_err()
        {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// A folder that is removed when it is not needed any more.
pub struct Folder {
    path: PathBuf,
    /// Keeps the folder locked; none on file systems without locks.
    _claimed: Option<File>,
}

impl Folder {
    /// A new folder in another one.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    pub fn new_in(parent: &Path, name: &str) -> io::Result<Folder> {
        sweep(parent);
        loop {
            // Relaxed: the number only has to be another one each time.
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
            let mut folders = folders();
            match fs::create_dir(&path) {
                Ok(()) => match claim(&path) {
                    // Another program took it for a leftover before it was locked.
                    Ok(None) => {}
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    claimed => {
                        let claimed = claimed.ok().flatten();
                        if claimed.as_ref().is_some_and(|file| !is_at(file, &path)) {
                            continue;
                        }
                        folders.push(path.clone());
                        return Ok(Folder {
                            path,
                            _claimed: claimed,
                        });
                    }
                },
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A new folder where the system keeps temporary files.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    pub fn temporary(name: &str) -> io::Result<Folder> {
        Folder::new_in(&std::env::temp_dir(), name)
    }

    /// The path of something in it.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let mut folders = folders();
        remove(&self.path);
        folders.retain(|known| *known != self.path);
    }
}

/// Gives each of two paths what the other one had, at once: whatever ends the program, neither is lost.
///
/// # Errors
/// Those of the system; some file systems can't do it.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// A file or a directory to be.
pub struct Staged {
    folder: Folder,
    made: PathBuf,
    target: PathBuf,
}

impl Staged {
    /// Begins what will be at `target`.
    ///
    /// # Errors
    /// Whatever keeps something from being made beside it.
    pub fn new(target: &Path) -> io::Result<Staged> {
        // A link stays, and what it leads to is replaced.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = Folder::new_in(parent, &name.to_string_lossy())?;
        Ok(Staged {
            made: folder.path(name),
            folder,
            target,
        })
    }

    /// Where it is to be made.
    pub fn path(&self) -> &Path {
        &self.made
    }

    /// Gives what was made its name; what had that name gets another one, with `.broken` behind it, which is returned.
    ///
    /// # Errors
    /// Whatever keeps either from getting its name; what had it still has it then.
    pub fn commit_beside(self) -> io::Result<PathBuf> {
        let held = folders();
        let mut number = 0;
        let kept = loop {
            let mut name = self.target.as_os_str().to_owned();
            name.push(".broken");
            if number > 0 {
                name.push(format!("-{number}"));
            }
            let kept = PathBuf::from(name);
            if fs::symlink_metadata(&kept).is_err() {
                break kept;
            }
            number += 1;
        };
        fs::rename(&self.target, &kept)?;
        fs::rename(&self.made, &self.target).inspect_err(|_| {
            // Better the old one than none.
            let _ = fs::rename(&kept, &self.target);
        })?;
        drop(held);
        journal::discard_all(&self.target);
        Ok(kept)
    }

    /// Gives what was made its name. What had that name is gone then, and so are its journals.
    ///
    /// # Errors
    /// Whatever keeps it from getting the name; what had it still has it then.
    pub fn commit(self) -> io::Result<()> {
        self.take_name()?;
        journal::discard_all(&self.target);
        Ok(())
    }

    fn take_name(&self) -> io::Result<()> {
        let _held = folders();
        let there = fs::symlink_metadata(&self.target);
        match there {
            Ok(there) if there.is_file() => {
                // Who may read and write it stays.
                if let Ok(made) = fs::metadata(&self.made)
                    && made.is_file()
                {
                    fs::set_permissions(&self.made, there.permissions())?;
                }
                if self.made.is_dir() {
                    if exchange(&self.made, &self.target).is_ok() {
                        return Ok(());
                    }
                    fs::rename(&self.target, self.folder.path(REPLACED))?;
                }
                fs::rename(&self.made, &self.target)
            }
            Ok(_) => {
                if exchange(&self.made, &self.target).is_ok() {
                    return Ok(());
                }
                let aside = self.folder.path(REPLACED);
                fs::rename(&self.target, &aside)?;
                fs::rename(&self.made, &self.target).inspect_err(|_| {
                    // Better the old one than none.
                    let _ = fs::rename(&aside, &self.target);
                })
            }
            Err(_) => fs::rename(&self.made, &self.target),
        }
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

    #[test]
    fn a_result_appears_when_it_is_committed_and_not_before() {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("result");
        let staged = Staged::new(&target).unwrap();
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
    fn folders_that_a_killed_program_left_are_removed_and_others_stay() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        let used = Folder::new_in(scratch.path(), "used").unwrap();
        for name in [
            ".left.1-0.tmp",
            ".only copy.1-0.tmp",
            ".left.x-0.tmp",
            ".left.1-0.tmp2",
        ] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("half"), b"half").unwrap();
        }
        fs::create_dir(path(".only copy.1-0.tmp").join(REPLACED)).unwrap();
        std::os::unix::fs::symlink(path(".left.x-0.tmp"), path(".link.1-0.tmp")).unwrap();
        // The directory was looked through when the first folder was made.
        *SWEPT.lock().unwrap() = None;
        drop(Folder::new_in(scratch.path(), "new").unwrap());
        let mut left = names(scratch.path());
        left.retain(|name| !used.path.ends_with(name));
        assert_eq!(
            left,
            [
                ".left.1-0.tmp2",
                ".left.x-0.tmp",
                ".link.1-0.tmp",
                ".only copy.1-0.tmp"
            ]
        );
        assert!(used.path.is_dir());
        assert!(path(".left.x-0.tmp").join("half").is_file());
    }

    #[test]
    fn what_had_the_name_is_kept_when_that_is_asked_for() {
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
        assert_eq!(
            names(scratch.path()),
            ["result", "result.broken", "result.broken-1"]
        );
        assert_eq!(
            fs::read(scratch.path().join("result.broken")).unwrap(),
            b"first"
        );
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
