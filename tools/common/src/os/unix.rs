//! Systems with the functions of POSIX.

use super::special::Special;
use ferroblosc::os::{files, is_ignored};
use rustix::fs::{Mode, OFlags};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::sync::Arc;

/// The value of a special character that does not exist.
const DISABLED: u8 = 0;

/// Calls a function in another thread before SIGINT, SIGTERM or SIGHUP ends the program. Signals
/// that the program ignores since its start do not end it: `nohup` and background jobs of scripts
/// rely on that. SIGXFSZ does not end the program: writing more than `ulimit -f` permits is an
/// error.
///
/// # Errors
/// Errors of installing the handlers and of starting the thread.
pub fn before_interrupt(clean_up: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
    let mut signals = Signals::new(handled)?;
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            clean_up();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// Locks a file against other programs that lock it, without waiting. Returns `false` if another
/// one has locked it.
///
/// # Errors
/// Errors of locking it; `Unsupported` on file systems without locks.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Locks a file as [`try_lock`], and waits for other programs.
///
/// # Errors
/// The errors of [`try_lock`].
pub fn lock(file: &File) -> io::Result<()> {
    file.lock()
}

/// The lock of a directory.
pub struct DirectoryLock(File);

impl DirectoryLock {
    /// Opens and locks a directory, without following a link. Returns `None` if another process
    /// holds the lock.
    ///
    /// # Errors
    /// Errors of opening and locking it.
    pub fn of(path: &Path) -> io::Result<Option<DirectoryLock>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        Ok(try_lock(&opened)?.then_some(DirectoryLock(opened)))
    }

    /// Whether the locked directory is still at `path`.
    pub fn is_at(&self, path: &Path) -> bool {
        let identity = |found: Metadata| (found.dev(), found.ino());
        match (self.0.metadata(), fs::symlink_metadata(path)) {
            (Ok(opened), Ok(named)) => identity(opened) == identity(named),
            _ => false,
        }
    }

    /// Removes the locked directory, with its content.
    pub fn remove_directory(self, path: &Path) {
        let _ = fs::remove_dir_all(path);
    }
}

/// Creates a directory that other users cannot read.
///
/// # Errors
/// Errors of creating it.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Whether the file or directory at a path belongs to the user of the program.
pub fn is_own(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|found| found.uid() == user)
}

/// Exchanges two paths atomically.
///
/// # Errors
/// Errors of the system call, which some file systems do not support.
#[cfg(not(target_os = "freebsd"))]
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Returns an error: the system cannot exchange two paths.
///
/// # Errors
/// Always.
#[cfg(target_os = "freebsd")]
pub fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives a new file or directory the permissions of a file, without its set-user-ID, set-group-ID
/// and sticky bits, and its owner and group, if the system permits it. Without the group, the group
/// has no rights. Those who can read the file can search the directory; the owner can always read
/// the result.
///
/// # Errors
/// Errors of setting the permissions.
pub fn set_permissions_as(result: &Path, file: &Metadata) -> io::Result<()> {
    let mode = file.mode() & 0o777 | 0o400;
    if !result.is_dir() {
        return set_permissions(result, file, mode);
    }
    for entry in fs::read_dir(result)? {
        set_permissions(&entry?.path(), file, mode)?;
    }
    // A directory without write permission cannot be renamed to another directory.
    set_permissions(result, file, mode | (mode & 0o444) >> 2 | 0o700)
}

/// Gives a new file or directory the permissions of a directory, as [`set_permissions_as`]. The
/// entries of the result keep theirs. The owner can always change the result.
///
/// # Errors
/// Errors of setting the permissions.
pub fn set_permissions_as_directory(result: &Path, directory: &Metadata) -> io::Result<()> {
    let mode = if result.is_dir() {
        directory.mode() & 0o777 | 0o700
    } else {
        directory.mode() & 0o666 | 0o600
    };
    set_permissions(result, directory, mode)
}

/// Sets the mode of a file or directory, and its owner and group to those of another one.
fn set_permissions(path: &Path, owned: &Metadata, mode: u32) -> io::Result<()> {
    let has_group = chown(path, None, Some(owned.gid())).is_ok();
    // Only privileged programs can change the owner.
    let _ = chown(path, Some(owned.uid()), None);
    let mode = if has_group { mode } else { mode & !0o070 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Writes the content of a file, or the entries of a directory, to the disk.
///
/// # Errors
/// Errors of opening and writing.
pub fn sync(path: &Path) -> io::Result<()> {
    let opened = File::open(path)?;
    files::synced(&opened, opened.sync_all())
}

/// Returns the kind of a special file.
pub fn special(path: &Path) -> Option<Special> {
    let kind = fs::metadata(path).ok()?.file_type();
    if kind.is_fifo() {
        Some(Special::Pipe)
    } else if kind.is_char_device() {
        Some(Special::CharDevice)
    } else if kind.is_block_device() || kind.is_socket() {
        Some(Special::Unsuitable)
    } else {
        None
    }
}

/// Returns standard input as a file, without a buffer.
///
/// # Errors
/// Errors of duplicating it.
pub fn stdin() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Writes bytes to standard output without its lock, which a stopped thread may hold.
pub fn write_to_stdout(mut bytes: &[u8]) {
    while let Ok(count @ 1..) = rustix::io::write(io::stdout(), bytes) {
        bytes = &bytes[count..];
    }
}

/// Lets Ctrl-C send SIGINT in the raw mode of the terminal. Ctrl-\ and Ctrl-Z send nothing, because
/// the modes would stay changed.
///
/// # Errors
/// Errors of reading and setting the modes.
pub fn keep_interrupt() -> io::Result<()> {
    let mut modes = tcgetattr(io::stdin())?;
    modes.local_modes |= LocalModes::ISIG;
    modes.special_codes[SpecialCodeIndex::VQUIT] = DISABLED;
    modes.special_codes[SpecialCodeIndex::VSUSP] = DISABLED;
    Ok(tcsetattr(io::stdin(), OptionalActions::Now, &modes)?)
}
