//! Results that appear whole or not at all, whatever ends the program.
//!
//! A result is made in a folder of its own beside its name and moved there when it is complete. All such folders are
//! known to one list, which a thread that waits for SIGINT, SIGTERM and SIGHUP removes before the signal takes its usual effect.
//! Taking a name happens under the lock of that list: a result has its name, or is gone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferroblosc::io::journal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The folders that go when a signal comes.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
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

/// A folder that is removed when it is not needed any more.
pub struct Folder(PathBuf);

impl Folder {
    /// A new folder in another one.
    ///
    /// # Errors
    /// Whatever keeps it from being made.
    pub fn new_in(parent: &Path, name: &str) -> io::Result<Folder> {
        loop {
            // Relaxed: the number only has to be another one each time.
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
            let mut folders = folders();
            match fs::create_dir(&path) {
                Ok(()) => {
                    folders.push(path.clone());
                    return Ok(Folder(path));
                }
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
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let mut folders = folders();
        remove(&self.0);
        folders.retain(|known| *known != self.0);
    }
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
                    fs::rename(&self.target, self.folder.path("replaced"))?;
                }
                fs::rename(&self.made, &self.target)
            }
            Ok(_) => {
                let aside = self.folder.path("replaced");
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
