//! Windows.

use super::special::Special;
use ferroblosc::os::files::{self, Content};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::windows::io::AsHandle;
use std::path::Path;
use std::time::Duration;

/// The exit status of a program that Ctrl-C ends, `STATUS_CONTROL_C_EXIT`.
const INTERRUPTED: i32 = 0xC000_013A_u32 as i32;

/// The file in a directory whose lock is that of the directory. Windows cannot lock directories.
const LOCK: &str = ".ferroblosc-lock";

/// The time between two attempts to lock a file.
const DELAY: Duration = Duration::from_millis(50);

/// Calls a function in another thread before Ctrl-C, Ctrl-Break, or the end of the console or of
/// the session ends the program.
///
/// # Errors
/// Errors of installing the handler and of starting the thread.
pub fn before_interrupt(clean_up: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut clean_up = Some(clean_up);
    let handler = move || {
        if let Some(clean_up) = clean_up.take() {
            clean_up();
        }
        std::process::exit(INTERRUPTED);
    };
    ctrlc::set_handler(handler).map_err(io::Error::other)
}

/// Locks a file against other programs that lock it, without waiting. Returns `false` if another
/// one has locked it.
///
/// # Errors
/// Errors of locking it; `Unsupported` on file systems without locks.
pub fn try_lock(file: &File) -> io::Result<bool> {
    files::claim(file)
}

/// Locks a file as [`try_lock`], and waits for other programs.
///
/// # Errors
/// The errors of [`try_lock`].
pub fn lock(file: &File) -> io::Result<()> {
    while !files::claim(file)? {
        std::thread::sleep(DELAY);
    }
    Ok(())
}

/// The lock of a directory.
pub struct DirectoryLock(File);

impl DirectoryLock {
    /// Locks a directory that is not a link. Returns `None` if another process holds the lock.
    ///
    /// # Errors
    /// Errors of opening and locking the file in it.
    pub fn of(path: &Path) -> io::Result<Option<DirectoryLock>> {
        if !fs::symlink_metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        let opened = options.open(path.join(LOCK))?;
        Ok(files::claim(&opened)?.then_some(DirectoryLock(opened)))
    }

    /// Whether the locked directory is still at `path`.
    pub fn is_at(&self, path: &Path) -> bool {
        match (files::identity_of(&self.0), files::identity_at(&path.join(LOCK))) {
            (Ok(opened), Ok(named)) => opened == named,
            _ => false,
        }
    }

    /// Removes the locked directory, with its content.
    pub fn remove_directory(self, path: &Path) {
        let removed = fs::remove_dir_all(path);
        // Some file systems keep the name of the lock until it is closed.
        drop(self);
        if removed.is_err() {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Creates a directory, with the permissions that its parent defines.
///
/// # Errors
/// Errors of creating it.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Returns `true`: access control lists replace owners.
pub fn is_own(_path: &Path) -> bool {
    true
}

/// Returns an error: the system cannot exchange two paths.
///
/// # Errors
/// `Unsupported`.
pub fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: new files have the permissions that their directory defines.
///
/// # Errors
/// None.
pub fn set_permissions_as(_result: &Path, _file: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Does nothing, like [`set_permissions_as`].
///
/// # Errors
/// None.
pub fn set_permissions_as_directory(_result: &Path, _directory: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Writes the content of a file, or the entries of a directory, to the disk.
///
/// # Errors
/// Errors of opening and writing.
pub fn sync(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return files::sync_directory(path);
    }
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Returns the kind of a special file: a device such as `NUL`, or a named pipe.
pub fn special(path: &Path) -> Option<Special> {
    const PIPES: &str = r"\\.\pipe\";
    let is_pipe = path.to_str().is_some_and(|path| {
        let start = path.get(..PIPES.len()).map(|start| start.replace('/', "\\"));
        start.is_some_and(|start| start.eq_ignore_ascii_case(PIPES))
    });
    if is_pipe {
        return Some(Special::Pipe);
    }
    // Opening an ordinary file for reading has no effect; directories cannot be opened so.
    match files::content_of(&File::open(path).ok()?).ok()? {
        Content::CharDevice => Some(Special::CharDevice),
        Content::Other => Some(Special::Pipe),
        Content::Data | Content::Directory => None,
    }
}

/// Returns standard input as a file, without a buffer.
///
/// # Errors
/// Errors of duplicating it.
pub fn stdin() -> io::Result<File> {
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// Writes bytes to standard output without its lock, which a stopped thread may hold.
pub fn write_to_stdout(bytes: &[u8]) {
    if let Ok(handle) = io::stdout().as_handle().try_clone_to_owned() {
        let _ = File::from(handle).write_all(bytes);
    }
}

/// Does nothing: in the raw mode of the console, Ctrl-C is a key.
///
/// # Errors
/// None.
pub fn keep_interrupt() -> io::Result<()> {
    Ok(())
}
